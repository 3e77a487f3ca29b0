package action

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// argv renders a Request as the reference's wrapper calls its CLI (vectors f-promotion/action-argv.txt).
func argv(r Request) string {
	args := []string{"--repository", r.Directory, string(r.Operation)}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				args = append(args, flag, v)
			}
		}
	}
	on := func(flag string, set bool) {
		if set {
			args = append(args, flag)
		}
	}
	if r.Operation == Prepare { // the reference ignores configured refs
		ref := r.DesiredRef
		if ref == "" {
			ref = "gitopsctr/desired/" + r.Environment
		}
		args[2] = "resolve-desired"
		add("--desired-ref", ref)
		return "[" + strings.Join(args, "] [") + "]"
	}
	add("--environment", r.Environment)
	add("--from-environment", r.FromEnvironment)
	add("--to-environment", r.ToEnvironment)
	add("--to-desired-revision", r.RollbackRevision)
	add("--reason", r.Reason)
	add("--specification-revision", r.SpecificationRevision)
	add("--unit", r.Units...)
	add("--file", r.Files...)
	add("--partition", r.Partition)
	add("--desired-revision", r.DesiredRevision)
	if r.Operation == Promote {
		add("--source-desired-revision", r.SourceRevision)
	} else {
		add("--source-revision", r.SourceRevision)
	}
	add("--candidate-ref", r.CandidateRef)
	add("--report", r.ReportDir)
	on("--plan", r.Plan)
	on("--dry", r.Dry)
	on("--reapply", r.Reapply)
	return "[" + strings.Join(args, "] [") + "]"
}

// A vector is one case of action-argv.txt.
type vector struct {
	name   string
	inputs map[string]string
	call   string // "" when the wrapper refuses
	code   string
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors/f-promotion/action-argv.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	for _, block := range strings.Split("\n"+string(data), "\n# ")[1:] {
		head, rest, _ := strings.Cut(block, "rc=")
		v := vector{name: strings.Split(head, "\n")[0], code: rest[:1]}
		if env, call, found := strings.Cut(head, "\nCALL "); found {
			head, v.call = env, strings.TrimSpace(call)
		}
		switch v.name {
		case "prepare":
			head = "OPERATION=prepare ENVIRONMENT=dev"
			_, call, _ := strings.Cut(rest, "desired_revision=CALL ")
			v.call = strings.TrimSpace(call)
		case "prepare fails": // a failure of the CLI, not of the inputs
			continue
		}
		v.inputs = assignments(strings.ReplaceAll(head, "<CR>", "\r"))
		out = append(out, v)
	}
	return out
}

// assignments reads NAME=value NAME=value, where values may hold blanks and line breaks.
func assignments(text string) map[string]string {
	names := map[string]string{"ROLLBACK_REASON": "reason", "ROLLBACK_UNITS": "units"}
	inputs := map[string]string{}
	current := ""
	for field := range strings.SplitSeq(text, " ") {
		name, value, found := strings.Cut(field, "=")
		if !found || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			inputs[current] += " " + field
			continue
		}
		current = names[name]
		if current == "" {
			current = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		}
		inputs[current] = value
	}
	for name := range inputs {
		inputs[name] = strings.TrimSpace(inputs[name]) // as the library's GetInput does
	}
	return inputs
}

func TestArgvVectors(t *testing.T) {
	t.Parallel()
	event := Event{Name: "push", SHA: strings.Repeat("a", 40)}
	vectors := readVectors(t)
	if len(vectors) != 17 {
		t.Fatalf("read %d vectors, want 17", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			job, err := Parse(func(name string) string { return v.inputs[name] }, event, "$REPO")
			if v.code == "2" {
				if usage := (*InputError)(nil); !errors.As(err, &usage) {
					t.Errorf("Parse = %v, want an InputError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(job.Requests) != 1 {
				t.Fatalf("%d requests, want 1", len(job.Requests))
			}
			if diff := cmp.Diff(v.call, argv(job.Requests[0])); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}
