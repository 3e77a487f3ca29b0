package faults

import (
	"strings"
	"testing"
)

// A Unit that is back in the source while it and its consumer are still being deleted is made anew: the consumer goes first,
// then the Unit, and then the documents are applied.
func TestUnitIsBackBeforeItsConsumerIsGone(t *testing.T) {
	t.Parallel()
	s := newShop(t, true, killShop)
	s.settle(t)
	for _, name := range []string{"app", "net"} {
		uid := s.uid(t, name)
		s.removeUnit(t, name)
		if r := s.run(t, "delete", "unit", "--environment", "dev", "--name", name, "--uid", uid); r.code != 0 {
			t.Fatalf("delete %s ended with %d:\n%s", name, r.code, r.stderr)
		}
	}
	s.setUnit(t, "net", "two")
	s.publish(t, "net is back")
	if r := s.converge(t); r.code != 0 || !strings.Contains(r.stderr, "RESULT   CLEAN") {
		t.Errorf("converge ended with %d:\n%s", r.code, r.stderr)
	}
	var got []string
	for _, e := range s.tool.log(t) {
		if e.what == "end" && e.unit != "alone" {
			got = append(got, e.unit+" "+e.input)
		}
	}
	if want := "net one, app net:one, app -, net -, net two"; strings.Join(got, ", ") != want {
		t.Errorf("effects: want %s, got %s", want, strings.Join(got, ", "))
	}
}
