package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadPlanReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range pages {
		var data bytes.Buffer
		if err := WriteJSON(&data, tc.run); err != nil {
			t.Fatal(err)
		}
		got, err := ReadPlan(&data)
		if strings.HasPrefix(name, "hostile") { // it has a Unit without certainty
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(Comment(tc.run, CommentOptions{}), Comment(got, CommentOptions{})); diff != "" {
			t.Errorf("%s: page (-written +read):\n%s", name, diff)
		}
	}
}

func TestReadPlanRefuses(t *testing.T) {
	t.Parallel()
	var data bytes.Buffer
	if err := WriteJSON(&data, pages["destroy_and_replace"].run); err != nil {
		t.Fatal(err)
	}
	good := data.String()
	for name, text := range map[string]string{
		"no JSON":             "{",
		"another operation":   strings.Replace(good, `"operation": "plan"`, `"operation": "converge"`, 1),
		"a forged result":     strings.Replace(good, `"result": "planned"`, `"result": "[x](y)"`, 1),
		"a forged outcome":    strings.Replace(good, `"outcome": "planned"`, `"outcome": "**fine**"`, 1),
		"a forged certainty":  strings.Replace(good, `"certainty": "exact"`, `"certainty": "@all"`, 1),
		"a forged action":     strings.Replace(good, `"action": "destroy"`, `"action": "@all"`, 1),
		"a negative count":    strings.Replace(good, `"destroy": 2`, `"destroy": -2`, 1),
		"more than the limit": good + strings.Repeat(" ", ReadLimit),
	} {
		if text == good {
			t.Fatalf("%s: the test changes nothing", name)
		}
		if _, err := ReadPlan(strings.NewReader(text)); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
