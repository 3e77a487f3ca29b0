//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestExamplesNameWhatTheActionHas: every input that an example sets, and every output that it reads, is in action.yml.
// A runner would only warn about the one and give an empty string for the other.
func TestExamplesNameWhatTheActionHas(t *testing.T) {
	t.Parallel()
	var action struct {
		Inputs  map[string]any `json:"inputs"`
		Outputs map[string]any `json:"outputs"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, projectRoot+"/action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(projectRoot + "/examples/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	released := regexp.MustCompile(`^gitopsctr/gitopsctr@`)
	output := regexp.MustCompile(`steps\.gitopsctr\.outputs\.([\w-]+)`)
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string         `json:"uses"`
					With map[string]any `json:"with"`
				} `json:"steps"`
			} `json:"jobs"`
		}
		text := readFile(t, file)
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		uses := 0
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if !released.MatchString(step.Uses) {
					continue
				}
				uses++
				for input := range step.With {
					if _, ok := action.Inputs[input]; !ok {
						t.Errorf("%s: action.yml has no input %q", filepath.Base(file), input)
					}
				}
			}
		}
		if uses == 0 {
			t.Errorf("%s: no step uses the Action", filepath.Base(file))
		}
		for _, match := range output.FindAllStringSubmatch(text, -1) {
			if _, ok := action.Outputs[match[1]]; !ok {
				t.Errorf("%s: action.yml has no output %q", filepath.Base(file), match[1])
			}
		}
	}
}
