package action

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// bufferLimit is how many bytes of one Unit's output are held back while another Unit has the floor; older lines go.
const bufferLimit = 4 << 20

// A sink writes events to a job's log, with one group per Unit. Units run in parallel, but a log has one column: the Unit
// that started first has the floor, its lines appear at once; the others' are held back until they end or get the floor
// themselves. When a Unit ends out of turn its group is written whole, and the one with the floor goes on in a new group.
// How a Unit ended stands below its group, where it shows while the group is folded.
type sink struct {
	log        *workflow
	transcript report.Transcript
	running    []*unitLog // in order of start; the first one has the floor
	pending    []report.Line
}

// A unitLog is what one running Unit has to say.
type unitLog struct {
	unit, title string
	entries     []entry
	size        int  // bytes of held-back output
	dropped     int  // lines that did not fit
	open        bool // its group is open in the log
	begun       bool // its group was open before
}

// An entry is one line: of ours, or of the driver.
type entry struct {
	ours   report.Line
	output string
	driver bool
}

// newSink returns a Sink for the job's log. It writes no annotations; Run does, once for the whole step.
func newSink(log *workflow) *sink { return &sink{log: log} }

// Event writes the event, now or when its Unit has the floor.
func (s *sink) Event(e report.Event) {
	lines := s.transcript.Lines(e)
	switch e := e.(type) {
	case report.UnitStarted:
		s.start(e, lines)
	case report.UnitOutput:
		s.add(e.Unit, entry{output: e.Line, driver: true})
	case report.UnitRunning:
		s.speak(lines)
	case report.UnitFinished:
		s.finish(e.Result.Unit, lines)
	default:
		s.pending = append(s.pending, lines...)
		s.flush()
	}
}

// Close writes what is held back and ends what is open, for a run that broke off.
func (s *sink) Close() {
	for len(s.running) > 0 {
		s.finish(s.running[0].unit, nil)
	}
	s.flush()
	s.log.resume()
}

func (s *sink) start(e report.UnitStarted, lines []report.Line) {
	u := &unitLog{unit: e.Unit, title: lines[0].Text()} // the first line is the heading
	for _, line := range lines[1:] {
		u.entries = append(u.entries, entry{ours: line})
	}
	s.running = append(s.running, u)
	s.write(s.running[0])
}

func (s *sink) add(unit string, e entry) {
	for i, u := range s.running {
		if u.unit == unit {
			u.hold(e)
			if i == 0 {
				s.write(u)
			}
			return
		}
	}
	s.log.quote(e.output)
}

// hold keeps a line for later, and only the last ones when there are too many.
func (u *unitLog) hold(e entry) {
	u.entries = append(u.entries, e)
	u.size += len(e.output)
	for u.size > bufferLimit && len(u.entries) > 1 {
		u.size -= len(u.entries[0].output)
		u.entries = u.entries[1:]
		u.dropped++
	}
}

// finish ends a Unit's group, at once even if it has not the floor.
func (s *sink) finish(unit string, lines []report.Line) {
	for i, u := range s.running {
		if u.unit != unit {
			continue
		}
		if i > 0 {
			s.end(s.running[0])
		}
		s.write(u)
		s.end(u)
		s.speak(lines)
		s.running = append(s.running[:i:i], s.running[i+1:]...)
		s.flush()
		if len(s.running) > 0 && len(s.running[0].entries) > 0 {
			s.write(s.running[0])
		}
		return
	}
	s.pending = append(s.pending, lines...) // it never started: it waits, or was skipped
	s.flush()
}

// write opens the Unit's group if need be and writes what is held back.
func (s *sink) write(u *unitLog) {
	if !u.open {
		title := u.title
		if u.begun {
			title += " (continued)"
		}
		s.log.group(title)
		u.open, u.begun = true, true
	}
	if u.dropped > 0 {
		s.log.quote(fmt.Sprintf("... %d earlier lines left out", u.dropped))
	}
	for _, e := range u.entries {
		if e.driver {
			s.log.quote(e.output)
		} else {
			s.log.say(e.ours)
		}
	}
	u.entries, u.size, u.dropped = nil, 0, 0
}

func (s *sink) end(u *unitLog) {
	if u.open {
		s.log.endGroup()
		u.open = false
	}
}

// flush writes the lines that belong to no Unit, unless a group is open: they would be hidden in it.
func (s *sink) flush() {
	if len(s.running) > 0 && s.running[0].open {
		return
	}
	s.speak(s.pending)
	s.pending = nil
}

func (s *sink) speak(lines []report.Line) {
	for _, line := range lines {
		s.log.say(line)
	}
}
