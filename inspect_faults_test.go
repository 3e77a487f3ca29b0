package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A damage changes files of one branch of the remote behind a clone: path to new content, "" removes the file.
type damage struct {
	branch string
	files  map[string]string
}

// TestInspectionOfBadInput is the table of what can be wrong with a question, or with what is on the refs: how it is told,
// what is still shown, and with which exit code.
func TestInspectionOfBadInput(t *testing.T) {
	t.Parallel()
	const broken = "apiVersion: unit.gitopsctr.io/v1\nkind: Terraform\nmetadata: {name: anchor}\nspec: {source: 7}\n"
	tests := map[string]struct {
		bundle string // default mixed-states
		damage damage
		args   string
		code   int
		out    []string
		errs   []string
	}{
		"unknown selector":          {args: "get unitz", code: 2, errs: []string{`did you mean "units"?`, "usage: gitopsctr get SELECTOR"}},
		"no selector":               {args: "get", code: 2, errs: []string{"say what to get"}},
		"unknown output":            {args: "get units -o xml", code: 2, errs: []string{`-o must be one of table, wide, yaml, json`}},
		"path without expression":   {args: "get units --environment bay -o jsonpath", code: 2, errs: []string{"-o jsonpath needs an expression"}},
		"path that is none":         {args: "get units --environment bay -o jsonpath={.a", code: 2, errs: []string{"-o jsonpath={.a: "}},
		"template that is none":     {args: "get units --environment bay -o go-template={{", code: 2, errs: []string{"-o go-template={{: "}},
		"path of one document":      {args: "get unit buoy --environment bay -o jsonpath={.spec.source.driverVersion}", out: []string{"2"}},
		"path of a list":            {args: "get units --environment bay -o jsonpath={.items[0].address.qualifiedName}", out: []string{"anchor"}},
		"path to nothing":           {args: "get unit buoy --environment bay -o jsonpath={.a.b}"},
		"template of one document":  {args: "get unit buoy --environment bay -o go-template={{.metadata.name}}", out: []string{"buoy"}},
		"column that is none":       {args: "get units --environment bay --sort-by KINDS", code: 1, errs: []string{`no column "KINDS", did you mean "KIND"?; one of NAME, KIND`}},
		"column of documents":       {args: "get units --environment bay --sort-by NAME -o yaml", code: 1, errs: []string{"--sort-by orders rows"}},
		"rows by their state":       {args: "get units --environment bay --sort-by reconciliation", out: []string{"READY           no observation receipt\ncrane"}},
		"documents without a label": {args: "get all --environment bay -l a=b", out: []string{"No resources found."}},
		"documents with a label":    {args: "get units --environment bay -l gitopsctr.io/partition=port -o name", out: []string{"unit/anchor\n"}},
		"watch without interval":    {args: "get units --environment bay --watch=0s", code: 2, errs: []string{"--watch must be more than 0"}},
		"two names":                 {args: "get units a b --environment bay", code: 2, errs: []string{"at most one name"}},
		"unknown name": {args: "get unit ancor --environment bay", code: 1,
			errs: []string{`no unit "ancor" in environment bay, did you mean "anchor"?; known: anchor, buoy, crane, dock, gull`}},
		"unknown environment": {args: "get units --environment bai", code: 1, errs: []string{`no environment "bai" in deployment/environments, did you mean "bay"?`}},
		"no environment":      {args: "get units", code: 1, errs: []string{"--environment NAME, or --all-environments"}},
		"as-list of a table":  {args: "get units --environment bay --as-list", code: 1, errs: []string{"--as-list needs -o yaml or -o json"}},
		"environments of one": {args: "get environments --environment bay", code: 1, errs: []string{"environments are those of the working tree"}},
		"both environments":   {args: "get units --environment bay -A", code: 1, errs: []string{"exclude each other"}},
		"refs of all":         {args: "get units -A --desired-ref x", code: 1, errs: []string{"refs and revisions belong to one environment"}},
		"observed templates":  {args: "get stacktemplates --environment bay --observed-ref x", code: 1, errs: []string{"does not depend on the observed ref"}},
		"artifact of a unit":  {args: "get unit anchor --environment bay --artifacts", code: 1, errs: []string{"belong to one Receipt"}},
		"producer of units":   {args: "get units --environment bay --producer anchor", code: 1, errs: []string{"--producer belongs to artifacts"}},
		"name for all":        {args: "get all anchor --environment bay", code: 1, errs: []string{"gitopsctr get unit anchor"}},
		"missing ref":         {args: "get units --environment bay --desired-ref nope", code: 1, errs: []string{"the branch nope does not exist on the remote"}},
		"missing ref that does not matter": {args: "get units --environment bay -o name --observed-ref nope",
			out: []string{"unit/anchor\nunit/buoy\nunit/crane\nunit/dock\nunit/gull\n"}},
		"revision of another branch": {args: "get units --environment bay --desired-revision main", code: 1, errs: []string{"gitopsctr/desired/bay", "not in the history"}},
		"no revision":                {args: "get units --environment bay --desired-revision zzz", code: 1, errs: []string{`"zzz"`}},
		"equal refs":                 {args: "get units --environment bay --desired-ref x --observed-ref x", code: 1, errs: []string{"x"}},
		"corrupt unit": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/anchor.yaml": broken}},
			args:   "get units --environment bay", code: 1,
			out:  []string{"buoy ", "gull "},
			errs: []string{"read gitopsctr/desired/bay: units/anchor.yaml:", "units/anchor.yaml:4:16: /spec/source: must be a mapping"}},
		"corrupt unit beside the one that is asked for": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/anchor.yaml": broken}},
			args:   "get unit buoy --environment bay", out: []string{"buoy  Terraform"}},
		"receipt of a corrupt unit": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/anchor.yaml": broken}},
			args:   "get receipts --environment bay", out: []string{"anchor  Terraform  -          UNKNOWN"}},
		"corrupt receipt": {
			damage: damage{"gitopsctr/observed/bay", map[string]string{"units/buoy.yaml": "a: ["}},
			args:   "get units --environment bay", code: 1,
			out:  []string{"anchor  Terraform  port       07156423a90e  CURRENT      CLEAN ", "UNKNOWN      INVALID"},
			errs: []string{"read gitopsctr/observed/bay: units/buoy.yaml:"}},
		"two representations": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/buoy.json": "{}"}},
			args:   "get units --environment bay -o name", code: 1,
			out:  []string{"unit/anchor\nunit/crane\n"},
			errs: []string{"units/buoy.json, units/buoy.yaml; remove all but one"}},
		"a path that is no name": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/Bad_Name.yaml": broken}},
			args:   "get units --environment bay -o name", code: 1, out: []string{"unit/anchor\n"}, errs: []string{`units/Bad_Name.yaml: "Bad_Name" is no qualified name`}},
		"corrupt blocks": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{".gitopsctr/transition-blocks.json": `{"blocks": []}`}},
			args:   "get units --environment bay", code: 1, out: []string{"anchor "}, errs: []string{".gitopsctr/transition-blocks.json"}},
		"environments of a corrupt unit": {
			damage: damage{"gitopsctr/desired/bay", map[string]string{"units/anchor.yaml": broken}},
			args:   "get environments", code: 1, out: []string{"gitopsctr/desired/bay@", "INVALID"}, errs: []string{"units/anchor.yaml"}},
		"artifact that was changed": {
			bundle: "artifact-lineage",
			damage: damage{"gitopsctr/observed/yard", map[string]string{"artifacts/brick/containers.json": artifact("brick")}},
			args:   "get artifacts --environment yard", code: 1,
			out:  []string{"brick/containers  ContainerImages  -          UNKNOWN", "shard/containers  ContainerImages  -          ORPHAN", "tile/containers   ContainerImages  -          STALE"},
			errs: []string{"artifact brick/containers on gitopsctr/observed/yard: its digest is not the described one"}},
		"receipt of an artifact that was changed": {
			bundle: "artifact-lineage",
			damage: damage{"gitopsctr/observed/yard", map[string]string{"artifacts/brick/containers.json": artifact("brick")}},
			args:   "get receipt brick --environment yard --artifacts", code: 1, errs: []string{"its digest is not the described one"}},
		"unit whose artifact was changed": {
			bundle: "artifact-lineage",
			damage: damage{"gitopsctr/observed/yard", map[string]string{"artifacts/brick/containers.json": artifact("brick")}},
			args:   "get units --environment yard", code: 1, out: []string{"CURRENT      INVALID", "STALE        READY"}, errs: []string{"brick/containers"}},
		"artifact that nobody describes": {
			bundle: "artifact-lineage",
			damage: damage{"gitopsctr/observed/yard", map[string]string{"artifacts/brick/more.json": artifact("brick")}},
			args:   "get artifacts --environment yard --producer brick", code: 1,
			out:  []string{"brick/containers  ContainerImages  -          UNKNOWN"},
			errs: []string{"artifacts/brick/more.json", "/metadata/name"}},
		"artifact that a receipt does not describe by name": {
			bundle: "artifact-lineage", args: "get receipt brick --environment yard --artifact container", code: 1,
			errs: []string{`no artifact "container" in the Receipt of brick, did you mean "containers"?`}},
		"artifacts of a stale receipt": {bundle: "artifact-lineage", args: "get receipt tile --environment yard --artifacts", code: 1,
			errs: []string{"the Receipt of tile is not current"}},
		"unit of a stack that is gone": {
			bundle: "stack-chain",
			damage: damage{"gitopsctr/desired/pit", map[string]string{"stacks/north.yaml": ""}},
			args:   "get units --environment pit", code: 1,
			out:  []string{"north/crane  Terraform  -  "},
			errs: []string{"units/north/crane.yaml: /metadata/ownerReferences/0: the owner of crane, the Stack north with UID"}},
		"status of an unknown unit":                 {args: "status --environment bay --unit bouy", code: 1, errs: []string{"DESIRED  gitopsctr/desired/bay at f1d427b322b6", `did you mean "buoy"?`}},
		"status without environment, but with unit": {args: "status --unit buoy", code: 1, errs: []string{"--unit needs --environment"}},
		"status of refs that do not exist":          {args: "status --environment bay --desired-ref nope", errs: []string{"nope does not exist", "desired inputs are not materialized"}},
		"status that must be settled":               {args: "status --environment bay --exit-code", code: 3, errs: []string{"NEXT     buoy, gull"}},
		"dependencies of nothing":                   {args: "dependencies --environment bay", code: 2, errs: []string{"needs --unit"}},
		"dependencies of an unknown unit":           {args: "dependencies --environment bay --unit bouy", code: 1, errs: []string{`did you mean "buoy"?`}},
		"dependencies to a negative depth":          {args: "dependencies --environment bay --unit buoy --depth -1", code: 1, errs: []string{"--depth must be 0 or more"}},
	}
	clones := map[string]string{}
	for _, bundle := range []string{"mixed-states", "artifact-lineage"} {
		clones[bundle] = cloneBundle(t, filepath.Join("testdata", "vectors", "h-inspection", bundle+".bundle"))
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.bundle == "" {
				test.bundle = "mixed-states"
			}
			clone := clones[test.bundle] // nothing that is asked here writes
			if test.damage.branch != "" {
				clone = cloneBundle(t, filepath.Join("testdata", "vectors", "h-inspection", test.bundle+".bundle"))
				test.damage.do(t, clone)
			}
			code, out, errs := runIn(t, clone, strings.Fields(test.args)...)
			if code != test.code {
				t.Errorf("exit code: want %d, got %d", test.code, code)
			}
			for _, want := range test.out {
				if !strings.Contains(out, want) {
					t.Errorf("stdout: want %q in\n%s", want, out)
				}
			}
			for _, want := range test.errs {
				if !strings.Contains(errs, want) {
					t.Errorf("stderr: want %q in\n%s", want, errs)
				}
			}
			if test.out == nil && out != "" {
				t.Errorf("stdout: want nothing, got\n%s", out)
			}
		})
	}
}

// artifact is an artifact document that no Receipt describes.
func artifact(producer string) string {
	return `{"apiVersion": "artifact.gitopsctr.io/v1", "kind": "ContainerImages", "metadata": {"name": "containers"},
"images": {"main": {"uri": "registry.example.test/x@sha256:5d41402abc4b2a76b9719d911017c59200000000000000000000000000000002"}},
"producer": {"apiVersion": "unit.gitopsctr.io/v1", "kind": "OciImages", "name": "` + producer + `", "qualifiedName": "` + producer + `", "driverVersion": 1,
"inputHash": "sha256:53cb60642841f23b5cb2229c29d964572a9ddf45f4eb10d45eed61bc8e13eb66", "inputHashVersion": 1, "sourceRevision": "da1f2334eb121edaef3afcb01748b12915c84007"}}
`
}

// do commits the changes and pushes them, from a worktree of its own beside the clone.
func (d damage) do(t *testing.T, clone string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(clone), "damage")
	git := func(args ...string) {
		c := exec.Command("git", args...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(clone), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.test"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	git("clone", "--quiet", "--branch="+d.branch, filepath.Join(filepath.Dir(clone), "remote.git"), dir)
	for path, content := range d.files {
		if content == "" {
			git("-C", dir, "rm", "--quiet", "--", path)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("-C", dir, "add", "--all")
	git("-C", dir, "commit", "--quiet", "--message=damage")
	git("-C", dir, "push", "--quiet", "origin", d.branch)
}
