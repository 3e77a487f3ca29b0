package terraform_test

import (
	"context"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

func TestHeldStateLockIsExplained(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"main.tf": `
terraform {
  backend "local" {}
}
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "echo holding; sleep 120"
  }
}
`})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	holding := make(chan struct{})
	f.Log.on, f.Log.do = "): holding", onceLine(func() { close(holding) })
	holder, other := f.with("{backend: BACKEND, variables: {}, observeOutputs: []}"), f.with("{backend: BACKEND, variables: {}, observeOutputs: []}")
	var group sync.WaitGroup
	group.Go(func() { _, _ = newDriver(t, nil).Reconcile(ctx, holder) })
	select {
	case <-holding:
	case <-time.After(time.Minute):
		t.Fatal("the first run never got the lock")
	}
	d := newDriver(t, func(o *terraform.Options) { o.Timeouts.Lock = 0 })
	_, err := d.Verify(t.Context(), other)
	cancel()
	group.Wait()
	want := regexp.MustCompile(`^another run holds the state's lock: .* force-unlock [0-9a-f]{8}-[0-9a-f-]{27} in`)
	if e := driverError(t, err); !want.MatchString(e.Fix) {
		t.Errorf("want a fix that matches %s, got %q", want, e.Fix)
	}
}
