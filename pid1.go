package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// underInit runs the program as PID 1 has to be run: as a child of a small init that passes signals on and reaps what
// tools leave behind. A process that is itself PID 1 ignores signals that it has no handler for, and nobody else reaps.
// It returns the exit code; ok is false when this process is not PID 1 and should go on by itself.
func underInit() (code int, ok bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	child := exec.Command(self, os.Args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return 0, false
	}
	go func() {
		for s := range signals {
			_ = child.Process.Signal(s) // it may have ended by now
		}
	}()
	return reap(child.Process.Pid), true
}

// reap waits for every child, adopted ones included, until the one with the given PID has ended, and returns its exit code
// as a shell would: 128 and the signal for one that was killed.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case ended != pid:
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}
