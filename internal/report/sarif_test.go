package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var scanned = []Problem{
	{Severity: Error, Position: Position{File: "a,b.yaml", Line: 3, Column: 7, Pointer: "/spec/x"}, Message: "is 100% wrong\n::error::x", Fix: "mend it"},
	{Severity: Notice, Unit: "app", Message: "fine"},
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteSARIF(&b, "1.2.3", scanned); err != nil {
		t.Fatal(err)
	}
	want := `{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{
"tool": {"driver": {"name": "gitopsctr", "version": "1.2.3"}}, "results": [
{"ruleId": "document", "level": "error", "message": {"text": "/spec/x: is 100% wrong\n::error::x; mend it"},
 "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a,b.yaml"}, "region": {"startLine": 3, "startColumn": 7}}}]},
{"ruleId": "document", "level": "note", "message": {"text": "app: fine"}}]}]}`
	var a, c any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	if err := WriteSARIF(&b, "1", nil); err != nil || !bytes.Contains(b.Bytes(), []byte(`"results": []`)) {
		t.Errorf("no problems are an empty list, got %v\n%s", err, b.String())
	}
}

func TestWorkflowCommandsAreEscaped(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteCommands(&b, scanned); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb.yaml,line=3,col=7::/spec/x: is 100%25 wrong%0A::error::x; mend it\n::notice::app: fine\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
