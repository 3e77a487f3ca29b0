// Command gitopsctr is a GitOps delivery controller that runs inside a CI job.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/gitopsctr/gitopsctr/internal/cli"
)

func main() {
	if code, ok := underInit(); ok {
		os.Exit(code)
	}
	os.Exit(run())
}

// run is main with a context that ends at the first SIGINT or SIGTERM: drivers are then told to stop, and what they did is
// still published. A second signal ends the process at once.
func run() int {
	// A run is short and its data is small: collecting garbage less often saves a fifth of the time, and the limit keeps
	// the peak where it was.
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(160 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	std := cli.Std()
	return cli.Run(ctx, std, os.Args[1:], openEngine, func(ctx context.Context) int { return runAction(ctx, std) })
}
