package lease_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

func TestOwner(t *testing.T) {
	t.Parallel()
	for written, owner := range map[string]lease.Owner{
		"9001-2-runnerhost-77":  {Run: "9001", Attempt: "2", Host: "runnerhost", PID: 77},
		"55-1-my-runner-5-1450": {Run: "55", Attempt: "1", Host: "my-runner-5", PID: 1450},
		"local-1-runner-28814":  {Attempt: "1", Host: "runner", PID: 28814},
	} {
		got, ok := lease.ParseOwner(written)
		if diff := cmp.Diff(owner, got); diff != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", written, ok, diff)
		}
		if got.String() != written {
			t.Errorf("want %s, got %s", written, got)
		}
	}
	if got := (lease.Owner{Run: "55", Host: "runner", PID: 1450}).String(); got != "55-1-runner-1450" {
		t.Errorf("without an attempt: got %s", got)
	}
	for _, other := range []string{"", "someone", "a-b", "a-b-c", "1-1-host-x", "1-1-host-0"} {
		if got, ok := lease.ParseOwner(other); ok {
			t.Errorf("%q: want no owner of ours, got %v", other, got)
		}
	}
}

func TestHolder(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	self := lease.Owner{Host: "laptop", PID: 1 << 22}.String()
	for _, c := range []struct {
		owner string
		want  lease.Holder
	}{
		{self, lease.Ours},
		{fmt.Sprintf("local-1-laptop-%d", os.Getpid()), lease.Running},
		{fmt.Sprintf("local-1-laptop-%d", ended.Process.Pid), lease.Abandoned},
		{fmt.Sprintf("local-1-other-%d", ended.Process.Pid), lease.Unknown},
		{fmt.Sprintf("9001-1-laptop-%d", ended.Process.Pid), lease.Unknown},
		{"someone", lease.Unknown},
	} {
		if got := lease.HolderOf(&resource.EffectLease{Owner: c.owner}, self); got != c.want {
			t.Errorf("%s: want %s, got %s", c.owner, c.want, got)
		}
	}
}
