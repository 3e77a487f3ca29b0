package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// pit is the recorded environment of a Stack north, with drill and crane behind it, all in one partition.
const pit = "../../testdata/vectors/h-inspection/"

// bundleFixture is an engine on a clone of a recorded repository.
type bundleFixture struct {
	*Engine
	remote string
	driver *tearDowns
}

// tearDowns is a terraform driver that remembers what it tore down.
type tearDowns struct {
	mu    sync.Mutex
	units []string
}

func (*tearDowns) Kind() string { return "Terraform" }

func (d *tearDowns) Destroy(_ context.Context, u driver.Unit) (*document.Node, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.units = append(d.units, u.QualifiedName)
	return document.NewMap(document.F("resourceUid", document.NewString(u.UID))), nil
}

func openBundle(t *testing.T, bundle string) *bundleFixture {
	t.Helper()
	dir := t.TempDir()
	f := &bundleFixture{remote: filepath.Join(dir, "remote.git"), driver: &tearDowns{}}
	clone, temp := filepath.Join(dir, "clone"), filepath.Join(dir, "temp")
	f.git(t, "clone", "--quiet", "--mirror", pit+bundle, f.remote)
	f.git(t, "clone", "--quiet", "--branch", "main", f.remote, clone)
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), Config{Repository: clone, Directory: clone, Temp: temp, Drivers: driver.NewRegistry(f.driver),
		Now: func() time.Time { return time.Unix(1796009304, 0).UTC() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	f.Engine = e
	return f
}

func (f *bundleFixture) git(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *bundleFixture) files(t *testing.T, ref string) string {
	t.Helper()
	return f.git(t, "--git-dir", f.remote, "ls-tree", "-r", "--name-only", ref)
}

// The marks of a Stack and its Units are those that the reference recorded, byte for byte.
func TestDeleteStackMarksWhatItOwns(t *testing.T) {
	t.Parallel()
	f, want := openBundle(t, "stack-chain.bundle"), openBundle(t, "stack-deleting.bundle")
	request := DeleteRequest{Target: Target{Environment: "pit"}, Kind: "Stack", Name: "north", UID: "d1-fd09e18c7084b52671224fedeedb9532"}
	out, err := f.Delete(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if out.Publication.Status != "published" || out.Publication.Revision != f.git(t, "--git-dir", f.remote, "rev-parse", "gitopsctr/desired/pit") {
		t.Errorf("publication %+v", out.Publication)
	}
	format := "--format=%T %s"
	wantHead := want.git(t, "--git-dir", want.remote, "log", "-1", format, "gitopsctr/desired/pit")
	if diff := cmp.Diff(wantHead, f.git(t, "--git-dir", f.remote, "log", "-1", format, "gitopsctr/desired/pit")); diff != "" {
		t.Errorf("tree and subject (-want +got):\n%s", diff)
	}
	if out, err = f.Delete(t.Context(), request); err != nil || out.Publication.Revision != "" {
		t.Errorf("marked already: got %+v, %v", out.Publication, err)
	}
	for name, r := range map[string]DeleteRequest{
		"belongs to the Stack north":                      {Name: "north/crane", UID: "d1-0545c41279db79090bb38767e6f4a407"},
		"has the UID d1-fd09e18c7084b52671224fedeedb9532": {Kind: "Stack", Name: "north", UID: "d1-other"},
		"has no StackTemplate \"north\"":                  {Kind: "StackTemplate", Name: "north", UID: "d1-other"},
	} {
		r.Target = request.Target
		if _, err := f.Delete(t.Context(), r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q, got %v", name, err)
		}
	}
}

// A deleting Stack goes with its last Unit, and its StackTemplate with it; consumers before producers.
func TestConvergeFinalizesAStack(t *testing.T) {
	t.Parallel()
	f := openBundle(t, "stack-deleting.bundle")
	template := DeleteRequest{Target: Target{Environment: "pit"}, Kind: "StackTemplate", Name: "digger", UID: "d1-00d606100d411f501229cf8028ef1047"}
	if _, err := f.Delete(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	out, err := f.Converge(t.Context(), ConvergeRequest{ApplyRequest: ApplyRequest{Target: template.Target, Partition: "quarry"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"north/crane", "north/drill"}, f.driver.units); diff != "" {
		t.Errorf("torn down (-want +got):\n%s", diff)
	}
	if out.Run.Result != report.RunClean || !*out.Reconciled {
		t.Errorf("result %s, reconciled %v", out.Run.Result, *out.Reconciled)
	}
	wantFiles := `.gitopsctr/incarnations/resources/gitopsctr.io/v1/Stack/north/d1-fd09e18c7084b52671224fedeedb9532.json
.gitopsctr/incarnations/resources/gitopsctr.io/v1/StackTemplate/digger/d1-00d606100d411f501229cf8028ef1047.json
.gitopsctr/incarnations/resources/unit.gitopsctr.io/v1/Terraform/north/crane/d1-0545c41279db79090bb38767e6f4a407.json
.gitopsctr/incarnations/resources/unit.gitopsctr.io/v1/Terraform/north/drill/d1-9b5993b35423c717171df288bc2141ea.json
.gitopsctr/projection-contexts/9b22caee9f7fbec70ffe7456921079a2df18e977df3c922626b4368445f7f619.json`
	if diff := cmp.Diff(wantFiles, f.files(t, "gitopsctr/desired/pit")); diff != "" {
		t.Errorf("desired files (-want +got):\n%s", diff)
	}
	wantEvidence := ".gitopsctr/teardowns/units/north/crane/d1-0545c41279db79090bb38767e6f4a407.1.json\n.gitopsctr/teardowns/units/north/drill/d1-9b5993b35423c717171df288bc2141ea.1.json"
	if diff := cmp.Diff(wantEvidence, f.files(t, "gitopsctr/observed/pit")); diff != "" {
		t.Errorf("observed files (-want +got):\n%s", diff)
	}
	subjects := f.git(t, "--git-dir", f.remote, "log", "-3", "--format=%s", "gitopsctr/desired/pit")
	if diff := cmp.Diff("Finalize deletion of Unit north/drill\nFinalize deletion of Unit north/crane\nMark StackTemplate digger for deletion", subjects); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	tombstone := f.git(t, "--git-dir", f.remote, "show", "gitopsctr/desired/pit:.gitopsctr/incarnations/resources/unit.gitopsctr.io/v1/Terraform/north/drill/d1-9b5993b35423c717171df288bc2141ea.json")
	if !regexp.MustCompile(`"partition": "quarry"`).MatchString(tombstone) {
		t.Errorf("the tombstone of a Stack's Unit has the Stack's partition, got\n%s", tombstone)
	}
}

// A StackTemplate that is marked when no Stack uses it any more has no Unit to go with; the next convergence finalizes it.
func TestConvergeFinalizesAnUnusedTemplate(t *testing.T) {
	t.Parallel()
	f := openBundle(t, "stack-deleting.bundle")
	target := Target{Environment: "pit"}
	converge := ConvergeRequest{ApplyRequest: ApplyRequest{Target: target}}
	if _, err := f.Converge(t.Context(), converge); err != nil {
		t.Fatal(err)
	}
	if got := f.files(t, "gitopsctr/desired/pit"); !strings.Contains(got, "stack-templates/digger.yaml") || strings.Contains(got, "stacks/north.yaml") {
		t.Fatalf("want the Stack gone and its StackTemplate kept, got\n%s", got)
	}
	if _, err := f.Delete(t.Context(), DeleteRequest{Target: target, Kind: "StackTemplate", Name: "digger", UID: "d1-00d606100d411f501229cf8028ef1047"}); err != nil {
		t.Fatal(err)
	}
	out, err := f.Converge(t.Context(), converge)
	if err != nil || !*out.Reconciled {
		t.Errorf("want something done, got %v, %v", *out.Reconciled, err)
	}
	subject := f.git(t, "--git-dir", f.remote, "log", "-1", "--format=%s", "gitopsctr/desired/pit")
	if subject != "Finalize deletion of StackTemplate digger" || strings.Contains(f.files(t, "gitopsctr/desired/pit"), "stack-templates/") {
		t.Errorf("head %q, files\n%s", subject, f.files(t, "gitopsctr/desired/pit"))
	}
}
