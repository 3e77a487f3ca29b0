package driver

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// streams are the pipes from one tool and the goroutines that read them.
type streams struct {
	pipes   []pipe
	running sync.WaitGroup
}

type pipe struct {
	read, write *os.File
	to          io.Writer
}

// connect gives cmd its outputs: one pipe for everything that is logged, a second one when standard output is captured.
// The tool gets the pipe itself for both of its outputs, so the kernel keeps their order.
func (c Command) connect(cmd *exec.Cmd, log io.Writer) (*streams, error) {
	s := &streams{}
	logged, err := s.open(log)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = logged, logged
	if c.Stdout != nil {
		captured, err := s.open(c.Stdout)
		if err != nil {
			s.abandon()
			return nil, err
		}
		cmd.Stdout = captured
	}
	return s, nil
}

func (s *streams) open(to io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.pipes = append(s.pipes, pipe{read: r, write: w, to: to})
	return w, nil
}

// start begins to read. A reader that fails to hand on what it read goes on reading, so that the tool never blocks.
func (s *streams) start() {
	for _, p := range s.pipes {
		_ = p.write.Close()
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			_, err := io.Copy(p.to, p.read)
			if err != nil {
				_, _ = io.Copy(io.Discard, p.read)
			}
		}()
	}
}

// finish reads what is left after the tool has ended.
func (s *streams) finish() {
	for _, p := range s.pipes {
		_ = p.read.SetReadDeadline(time.Now().Add(drainTime))
	}
	s.running.Wait()
	for _, p := range s.pipes {
		_ = p.read.Close()
	}
}

// abandon closes the pipes of a tool that never started.
func (s *streams) abandon() {
	for _, p := range s.pipes {
		_ = p.read.Close()
		_ = p.write.Close()
	}
}
