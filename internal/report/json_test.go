package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	run := convergeRun()
	run.Units = run.Units[3:4]
	var out bytes.Buffer
	if err := WriteJSON(&out, run); err != nil {
		t.Fatal(err)
	}
	want := `{
  "schema": 1,
  "operation": "converge",
  "environment": "dev",
  "result": "failed",
  "durationMs": 90000,
  "sourceRevision": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "desired": {
    "ref": "gitopsctr/desired/dev",
    "before": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "revision": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
  },
  "observed": {
    "ref": "gitopsctr/observed/dev",
    "before": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "revision": "cccccccccccccccccccccccccccccccccccccccc"
  },
  "driversRan": [
    "net",
    "db",
    "old"
  ],
  "units": [
    {
      "unit": "net",
      "kind": "Terraform",
      "outcome": "applied",
      "state": "CLEAN",
      "reason": "",
      "action": "APPLY",
      "durationMs": 3400,
      "changes": {
        "create": 2,
        "update": 0,
        "replace": 0,
        "destroy": 0,
        "outputs": 0,
        "resources": [
          {
            "address": "terraform_data.a",
            "action": "create"
          },
          {
            "address": "terraform_data.b",
            "action": "create"
          }
        ]
      },
      "plan": "",
      "error": "",
      "receipt": {
        "path": "units/net/receipt.yaml",
        "revision": "cccccccccccccccccccccccccccccccccccccccc"
      },
      "position": {
        "file": "",
        "line": 0,
        "column": 0,
        "pointer": ""
      },
      "producers": []
    }
  ],
  "problems": [
    {
      "severity": "warning",
      "unit": "",
      "position": {
        "file": "gitopsctr.yaml",
        "line": 3,
        "column": 9,
        "pointer": "/spec/x|y"
      },
      "message": "unknown <field>",
      "fix": "remove it"
    }
  ]
}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestWriteJSONHasNoNull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := WriteJSON(&out, Run{}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"units", "problems", "driversRan"} {
		if _, ok := got[list].([]any); !ok {
			t.Errorf("%s is %v, want an empty list", list, got[list])
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteJSONReportsWriteErrors(t *testing.T) {
	t.Parallel()
	if err := WriteJSON(brokenWriter{}, Run{}); err == nil {
		t.Error("no error")
	}
}
