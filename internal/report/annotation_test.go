package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

func TestAnnotations(t *testing.T) {
	t.Parallel()
	run := convergeRun()
	run.Problems = append(run.Problems, Problem{Severity: Warning, Unit: "app", Position: Position{File: "a.yaml", Line: 2}, Message: "waits on a Unit that failed"})
	run.Units = append(run.Units, UnitResult{Unit: "queue", Outcome: Drifted, Changes: driver.Changes{Update: 2}})
	want := []Annotation{
		{Level: Error, Title: "db in dev failed", Message: "Error: no such zone\n```\n# injected", File: "deploy/dev/units/db.yaml", Line: 1, Column: 1},
		{Level: Warning, Title: "Warning for dev", Message: "/spec/x|y: unknown <field>; remove it", File: "gitopsctr.yaml", Line: 3, Column: 9},
		{Level: Warning, Title: "Warning for app", Message: "waits on a Unit that failed", File: "a.yaml", Line: 2},
		{Level: Warning, Title: "queue in dev has drifted", Message: "2 to update"},
		{Level: Notice, Title: "dev changed", Message: "applied net; destroyed old"},
	}
	if diff := cmp.Diff(want, Annotations(run)); diff != "" {
		t.Errorf("Annotations (-want +got):\n%s", diff)
	}
}

func TestAnnotationsAreLimitedPerLevel(t *testing.T) {
	t.Parallel()
	tests := []struct{ failed, waiting, want int }{
		{10, 0, 10}, {11, 0, 10}, {200, 10, 20}, {10, 11, 20}, {0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d failed, %d waiting", tt.failed, tt.waiting), func(t *testing.T) {
			t.Parallel()
			run := Run{Environment: "dev"}
			for i := range tt.failed {
				run.Units = append(run.Units, UnitResult{Unit: fmt.Sprintf("f%d", i), Outcome: Failed})
			}
			for i := range tt.waiting {
				run.Units = append(run.Units, UnitResult{Unit: fmt.Sprintf("w%d", i), Outcome: Waiting})
			}
			got := Annotations(run)
			if len(got) != tt.want {
				t.Errorf("got %d annotations, want %d", len(got), tt.want)
			}
			all := fmt.Sprint(got)
			for _, u := range run.Units {
				if !strings.Contains(all, u.Unit) {
					t.Errorf("%s is not mentioned", u.Unit)
				}
			}
		})
	}
}

func TestAggregateAnnotation(t *testing.T) {
	t.Parallel()
	run := Run{Environment: "dev"}
	for i := range 12 {
		run.Problems = append(run.Problems, Problem{Severity: Notice, Unit: fmt.Sprintf("u%d", i/2), Message: "m"})
	}
	want := Annotation{Level: Notice, Title: "12 notices in dev", Message: "12 notices; the first 9 follow, the log and the job summary have all. They are about: u0, u1, u2, u3, u4, u5"}
	got := Annotations(run)
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("first annotation (-want +got):\n%s", diff)
	}
}

func TestAnnotationTextIsBounded(t *testing.T) {
	t.Parallel()
	run := Run{Units: []UnitResult{{Unit: strings.Repeat("n", 300), Outcome: Failed, Err: strings.Repeat("😀\x1b[1m", 5000)}}}
	got := Annotations(run)[0]
	if n := len(utf16.Encode([]rune(got.Message))); n != 4095 { // 2047 pairs and the mark
		t.Errorf("message has %d code units, want 4095", n)
	}
	if strings.Contains(got.Message, "\x1b") || !strings.HasSuffix(got.Message, "😀…") {
		t.Errorf("message is not clean or not marked as cut: …%q", got.Message[len(got.Message)-20:])
	}
	if n := len(utf16.Encode([]rune(got.Title))); n != 255 {
		t.Errorf("title has %d code units, want 255", n)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	first := &document.Error{File: "a.yaml", Line: 3, Column: 4, Pointer: "/spec", Message: "bad", Fix: "mend"}
	second := &document.Error{File: "b.yaml", Message: "worse"}
	wantFirst := Problem{Severity: Error, Position: Position{File: "a.yaml", Line: 3, Column: 4, Pointer: "/spec"}, Message: "bad", Fix: "mend"}
	wantSecond := Problem{Severity: Error, Position: Position{File: "b.yaml"}, Message: "worse"}
	tests := []struct {
		name string
		err  error
		want []Problem
	}{
		{"none", nil, nil},
		{"faults of a document", fmt.Errorf("load: %w", document.Errors{first, second}), []Problem{wantFirst, wantSecond}},
		{"one fault", fmt.Errorf("load: %w", first), []Problem{wantFirst}},
		{"several documents", errors.Join(document.Errors{first}, second, errors.New("other")), []Problem{wantFirst, wantSecond, {Severity: Error, Message: "other"}}},
		{"context around a fault", fmt.Errorf("%w: %w", errors.New("load"), first), []Problem{{Severity: Error, Message: "load"}, wantFirst}},
		{"context of two causes", fmt.Errorf("%w in %w", errors.New("load"), errors.New("dev")), []Problem{{Severity: Error, Message: "load in dev"}}},
		{"anything else", errors.New("no network"), []Problem{{Severity: Error, Message: "no network"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Problems(tt.err)); diff != "" {
				t.Errorf("Problems (-want +got):\n%s", diff)
			}
		})
	}
}
