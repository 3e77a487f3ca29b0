package gitstate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

const vectors = "../../testdata/vectors/f-promotion"

func readVector(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func at(seconds int64) func() time.Time {
	return func() time.Time { return time.Unix(seconds, 987654321).UTC() }
}

func TestTreeVector(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	tree, err := s.BuildTree(nil, edits(map[string]string{"a/b/x": "hi\n", "run": "#!\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := "e189a0c915bdc797dd9281c0a07414a719a625c1", tree.ID(); want != got {
		t.Errorf("tree: want %s, got %s", want, got)
	}
}

// The initialisation commit and the candidate commit on top of it, byte for byte as the reference wrote them.
func TestCommitVectors(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	initial := open(t, gitstate.Options{RemoteURL: bareRemote(t), Now: at(1796009304)})
	tree, err := initial.BuildTree(nil, edits(map[string]string{
		"environment.yaml": readVector(t, "promotion-candidate/init-environment.yaml"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := "905c3145a45c564b5af5c472be5c5181fe315db2", tree.ID(); want != got {
		t.Errorf("tree: want %s, got %s", want, got)
	}
	for _, message := range []string{"Initialize desired staging state", "Initialize desired staging state\n\n"} {
		c, err := initial.Commit(ctx, tree, nil, message)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := "0f79196d10da98bb5df182880eabafa41d4fbf71", c.Revision(); want != got {
			t.Errorf("initial commit: want %s, got %s", want, got)
		}
	}

	files := map[string]string{}
	root := filepath.Join(vectors, "promotion-candidate", "tree")
	err = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if os.IsNotExist(err) {
		t.Fatal("the vector's tree is not in this checkout")
	} else if err != nil {
		t.Fatal(err)
	}
	candidate := open(t, gitstate.Options{RemoteURL: bareRemote(t), Now: at(1796009310)})
	tree, err = candidate.BuildTree(nil, edits(files))
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Commit(ctx, tree, []string{"0f79196d10da98bb5df182880eabafa41d4fbf71"},
		"Promote dev to staging from 09ec65d8dba33c953d6e1436a8a9a3da166981c1")
	if err != nil {
		t.Fatal(err)
	}
	if want, got := "70c0363aee6a8dbd7febf33a7a0ad9cb0eee7f66", c.Revision(); want != got {
		t.Errorf("candidate: want %s, got %s", want, got)
	}
}

func TestCommitIsWhatGitReads(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	zone := time.FixedZone("", -(3*3600 + 30*60))
	s := open(t, gitstate.Options{
		RemoteURL: remote,
		Identity:  gitstate.Identity{Name: "Bad <Name>\n", Email: "bot@example.com"},
		Now:       func() time.Time { return time.Unix(1700000000, 5).In(zone) },
	})
	r := publish(t, s, "gitopsctr/observed/dev", "Observe app\n\nBody: é", map[string]string{"units/app.yaml": "x\n"})
	want := "tree " + r.After.TreeID() + "\nauthor Bad Name <bot@example.com> 1700000000 -0330\n" +
		"committer Bad Name <bot@example.com> 1700000000 -0330\n\nObserve app\n\nBody: é"
	if diff := cmp.Diff(want, git(t, remote, "cat-file", "commit", "gitopsctr/observed/dev")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	git(t, remote, "fsck", "--strict", "--full")
}

func TestBuildTree(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a/b/c": "1", "a/d": "2", "e": "3", "a-x": "4"}
	blob := "0cfbf08886fca9a91cb753ec8734c84fcbe52c9f" // "2\n"
	for name, c := range map[string]struct {
		edits   []gitstate.Edit
		want    map[string]string
		wantErr string
	}{
		"replace": {
			edits: []gitstate.Edit{{Path: "a/d", Content: []byte("new")}},
			want:  map[string]string{"a/b/c": "1", "a/d": "new", "e": "3", "a-x": "4"},
		},
		"add in a new directory": {
			edits: []gitstate.Edit{{Path: "x/y/z", Content: []byte("n")}},
			want:  map[string]string{"a/b/c": "1", "a/d": "2", "e": "3", "a-x": "4", "x/y/z": "n"},
		},
		"empty file": {
			edits: []gitstate.Edit{{Path: "e"}},
			want:  map[string]string{"a/b/c": "1", "a/d": "2", "e": "", "a-x": "4"},
		},
		"delete the last file of a directory": {
			edits: []gitstate.Edit{{Path: "a/b/c", Delete: true}},
			want:  map[string]string{"a/d": "2", "e": "3", "a-x": "4"},
		},
		"delete a directory and write into it": {
			edits: []gitstate.Edit{{Path: "a", Delete: true}, {Path: "a/n", Content: []byte("5")}},
			want:  map[string]string{"a/n": "5", "e": "3", "a-x": "4"},
		},
		"delete what does not exist": {
			edits: []gitstate.Edit{{Path: "no", Delete: true}, {Path: "e/x", Delete: true}, {Path: "a/no/x", Delete: true}},
			want:  base,
		},
		"file becomes directory": {
			edits: []gitstate.Edit{{Path: "e", Delete: true}, {Path: "e/f", Content: []byte("6")}},
			want:  map[string]string{"a/b/c": "1", "a/d": "2", "e/f": "6", "a-x": "4"},
		},
		"unknown blob":               {edits: []gitstate.Edit{{Path: "e", Blob: blob}}, wantErr: "not found"},
		"bad blob":                   {edits: []gitstate.Edit{{Path: "e", Blob: "x"}}, wantErr: "blob id"},
		"file below a file":          {edits: []gitstate.Edit{{Path: "e/x"}}, wantErr: "where a directory is needed"},
		"file in place of directory": {edits: []gitstate.Edit{{Path: "a"}}, wantErr: "directory of that name"},
		"everything deleted": {
			edits:   []gitstate.Edit{{Path: "a", Delete: true}, {Path: "e", Delete: true}, {Path: "a-x", Delete: true}},
			wantErr: "no files",
		},
		"write and delete":   {edits: []gitstate.Edit{{Path: "e", Delete: true, Content: []byte("x")}}, wantErr: "both"},
		"parent directory":   {edits: []gitstate.Edit{{Path: "../e"}}, wantErr: "unsafe"},
		"absolute":           {edits: []gitstate.Edit{{Path: "/e"}}, wantErr: "unsafe"},
		"dot":                {edits: []gitstate.Edit{{Path: "./e"}}, wantErr: "unsafe"},
		"empty path":         {edits: []gitstate.Edit{{Path: ""}}, wantErr: "unsafe"},
		"root":               {edits: []gitstate.Edit{{Path: ".", Delete: true}}, wantErr: "unsafe"},
		"Git directory":      {edits: []gitstate.Edit{{Path: "a/.GIT/config"}}, wantErr: "unsafe"},
		"doubled slash":      {edits: []gitstate.Edit{{Path: "a//e"}}, wantErr: "unsafe"},
		"NUL in the name":    {edits: []gitstate.Edit{{Path: "a\x00"}}, wantErr: "unsafe"},
		"trailing slash":     {edits: []gitstate.Edit{{Path: "a/"}}, wantErr: "unsafe"},
		"deleted unsafe one": {edits: []gitstate.Edit{{Path: "../a", Delete: true}}, wantErr: "unsafe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
			start := publish(t, s, "b", "base", base).After
			tree, err := s.BuildTree(start, c.edits)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("error = %v, want one about %q", err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			commit, err := s.Commit(t.Context(), tree, nil, "m")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, contents(t, commit)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A tree does not depend on how it came about.
			fresh, err := s.BuildTree(nil, edits(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if fresh.ID() != tree.ID() {
				t.Errorf("built at once: %s, by edits: %s", fresh.ID(), tree.ID())
			}
		})
	}
}

func TestBuildTreeCopiesBlobs(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	start := publish(t, s, "b", "base", map[string]string{"f": "content"}).After
	id, _ := start.Blob("f")
	tree, err := s.BuildTree(start, []gitstate.Edit{{Path: "copy/f", Blob: id}})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := s.Commit(t.Context(), tree, nil, "m")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "content", "copy/f": "content"}, contents(t, commit)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuildTreeDropsExecutableBits(t *testing.T) {
	t.Parallel()
	remote, _ := sourceRemote(t, 1)
	blob := git(t, remote, "rev-parse", "main:n")
	inner := gitInput(t, remote, "100755 blob "+blob+"\trun\n", "mktree")
	outer := gitInput(t, remote, "040000 tree "+inner+"\tbin\n", "mktree")
	git(t, remote, "update-ref", "refs/heads/x", git(t, remote, "commit-tree", "-m", "x", outer))
	s := open(t, gitstate.Options{RemoteURL: remote})
	publish(t, s, "x", "next", map[string]string{"f": "1"})
	want := "100644 bin/run\n100644 f"
	if got := git(t, remote, "ls-tree", "-r", "--format=%(objectmode) %(path)", "x"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
