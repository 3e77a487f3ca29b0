package action

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// planForbidden says why a plan fails the step although it succeeded, "" when it does not.
func planForbidden(run report.Run, failOn FailOn) string {
	var parts []string
	if waiting := report.Named(run, report.Waiting); failOn.Waiting && len(waiting) > 0 {
		parts = append(parts, "units wait: "+strings.Join(waiting, ", "))
	}
	if c := report.CountPlan(run); failOn.Destroy && c.Destructive() {
		var units []string
		for _, u := range run.Units {
			if u.Losses() > 0 || u.Teardown() {
				units = append(units, u.Unit)
			}
		}
		parts = append(parts, "the plan destroys or replaces resources of "+strings.Join(units, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + " (see the input fail-on)"
}

// changedUnits are the Units that a run changed, or would change.
func changedUnits(run report.Run) []string {
	var names []string
	for _, u := range run.Units {
		f := u.Foresight
		switch {
		case u.Outcome == report.Applied, u.Outcome == report.Destroyed,
			u.Outcome == report.Planned && (f == nil || u.Changes.Any() || f.Changed || f.Certainty == report.DocumentOnly),
			f != nil && (f.Teardown || f.Certainty == report.Deferred):
			names = append(names, u.Unit)
		}
	}
	return names
}

// planFiles writes a plan's data and its page into the directory of the input report, and returns the path of the data; ""
// when no directory was asked for. The data is what a trusted workflow can make a comment of.
func (s *step) planFiles(req Request, run report.Run) string {
	if req.ReportDir == "" || req.Operation != Plan && req.Operation != Verify {
		return ""
	}
	dir := req.ReportDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(req.Directory, dir)
	}
	name := string(req.Operation) + "-" + req.Environment
	if err := writePlanFiles(filepath.Join(dir, name), run); err != nil {
		s.warn(fmt.Sprintf("the report directory has no plan: %s", err))
		return ""
	}
	return filepath.ToSlash(filepath.Join(req.ReportDir, name+".json"))
}

func writePlanFiles(stem string, run report.Run) error {
	if err := os.MkdirAll(filepath.Dir(stem), 0o755); err != nil {
		return err
	}
	data := &strings.Builder{}
	if err := report.WriteJSON(data, run); err != nil {
		return err
	}
	page := report.Comment(run, report.CommentOptions{Limit: report.SummaryLimit})
	return errors.Join(
		os.WriteFile(stem+".json", []byte(data.String()), 0o644),
		os.WriteFile(stem+".md", []byte(page), 0o644),
	)
}
