package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the run as one JSON object, indented by 2, with a final line break. The names are stable: a later
// version may add members, and raises "schema" when it changes or removes one. Lists are never null, durations are whole
// milliseconds, and what is unknown is "" or 0.
func WriteJSON(w io.Writer, run Run) error {
	out := jsonRun{
		Schema:         1,
		Operation:      run.Operation,
		Environment:    run.Environment,
		Result:         run.Result,
		DurationMS:     run.Duration.Milliseconds(),
		SourceRevision: run.SourceRevision,
		Desired:        jsonRef{run.DesiredRef, run.DesiredBefore, run.DesiredRevision},
		Observed:       jsonRef{run.ObservedRef, run.ObservedBefore, run.ObservedRevision},
		DriversRan:     append([]string{}, run.DriversRan...),
		Lineage:        jsonLineageOf(run.Lineage),
		Units:          make([]jsonUnit, len(run.Units)),
		Problems:       make([]jsonProblem, len(run.Problems)),
	}
	for i, u := range run.Units {
		out.Units[i] = jsonUnitOf(u)
	}
	for i, p := range run.Problems {
		out.Problems[i] = jsonProblem{p.Severity, p.Unit, jsonPosition(p.Position), p.Message, p.Fix}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("write the run as JSON: %w", err)
	}
	return nil
}

type jsonRun struct {
	Schema         int      `json:"schema"`
	Operation      string   `json:"operation"`
	Environment    string   `json:"environment"`
	Result         Result   `json:"result"`
	DurationMS     int64    `json:"durationMs"`
	SourceRevision string   `json:"sourceRevision"`
	Desired        jsonRef  `json:"desired"`
	Observed       jsonRef  `json:"observed"`
	DriversRan     []string `json:"driversRan"`
	// Lineage is there for promoted environments only.
	Lineage  *jsonLineage  `json:"lineage,omitempty"`
	Units    []jsonUnit    `json:"units"`
	Problems []jsonProblem `json:"problems"`
}

type jsonRef struct {
	Ref      string `json:"ref"`
	Before   string `json:"before"`
	Revision string `json:"revision"`
}

type jsonUnit struct {
	Unit       string       `json:"unit"`
	Kind       string       `json:"kind"`
	Outcome    Outcome      `json:"outcome"`
	State      State        `json:"state"`
	Reason     string       `json:"reason"`
	Action     Action       `json:"action"`
	DurationMS int64        `json:"durationMs"`
	Changes    jsonChanges  `json:"changes"`
	Plan       string       `json:"plan"`
	Error      string       `json:"error"`
	Receipt    jsonReceipt  `json:"receipt"`
	Position   jsonPosition `json:"position"`
	Producers  []string     `json:"producers"`
	// Details are there for ready Units of a status only.
	Details []jsonNote `json:"details,omitempty"`
	// Foresight is there for plans only.
	Foresight *jsonForesight `json:"foresight,omitempty"`
}

type jsonChanges struct {
	Create    int            `json:"create"`
	Update    int            `json:"update"`
	Replace   int            `json:"replace"`
	Destroy   int            `json:"destroy"`
	Outputs   int            `json:"outputs"`
	Resources []jsonResource `json:"resources"`
}

type jsonResource struct {
	Address string `json:"address"`
	Action  string `json:"action"`
}

type jsonReceipt struct {
	Path     string `json:"path"`
	Revision string `json:"revision"`
}

type jsonPosition struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Pointer string `json:"pointer"`
}

type jsonProblem struct {
	Severity Severity     `json:"severity"`
	Unit     string       `json:"unit"`
	Position jsonPosition `json:"position"`
	Message  string       `json:"message"`
	Fix      string       `json:"fix"`
}

func jsonUnitOf(u UnitResult) jsonUnit {
	c := u.Changes
	resources := make([]jsonResource, len(c.Resources))
	for i, r := range c.Resources {
		resources[i] = jsonResource(r)
	}
	return jsonUnit{
		Unit: u.Unit, Kind: u.Kind, Outcome: u.Outcome, State: u.State, Reason: u.Reason, Action: u.Action,
		DurationMS: u.Duration.Milliseconds(),
		Changes:    jsonChanges{c.Create, c.Update, c.Replace, c.Destroy, c.Outputs, resources},
		Plan:       u.PlanText,
		Error:      u.Err,
		Receipt:    jsonReceipt{u.Receipt, u.ReceiptRevision},
		Position:   jsonPosition(u.Position),
		Producers:  append([]string{}, u.Producers...),
		Details:    jsonNotesOf(u.Details),
		Foresight:  jsonForesightOf(u.Foresight),
	}
}

// jsonNote is one line of an explanation: its kind, such as "cause", "commit", "file", "field", and its text.
type jsonNote struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func jsonNotesOf(notes []Note) []jsonNote {
	var out []jsonNote
	for _, n := range notes {
		out = append(out, jsonNote{strings.ToLower(n.Word), n.Text})
	}
	return out
}
