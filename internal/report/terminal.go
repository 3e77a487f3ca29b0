package report

import "io"

// Terminal writes events as the aligned lines of a terminal or a plain log (chapter H, 8). Driver lines are prefixed by
// "    | "; while more than one driver runs, by the Unit's name as well.
type Terminal struct {
	w          io.Writer
	colour     bool
	transcript Transcript
	running    map[string]*activity
}

// activity remembers whether a running Unit wrote something since the last heartbeat.
type activity struct{ spoke bool }

// NewTerminal returns a Terminal that writes to w, usually stderr; see Colour for colour.
func NewTerminal(w io.Writer, colour bool) *Terminal {
	return &Terminal{w: w, colour: colour, running: map[string]*activity{}}
}

// Event writes the event. Errors of the writer are ignored: a lost terminal must not end a deployment.
func (t *Terminal) Event(e Event) {
	switch e := e.(type) {
	case UnitStarted:
		t.running[e.Unit] = &activity{spoke: true}
	case UnitOutput:
		t.output(e)
		return
	case UnitRunning:
		if a := t.running[e.Unit]; a != nil && a.spoke {
			a.spoke = false // its own lines show that it is alive
			return
		}
	case UnitFinished:
		delete(t.running, e.Result.Unit)
	}
	for _, line := range t.transcript.Lines(e) {
		t.write(line.layout(t.paint) + "\n")
	}
}

func (t *Terminal) output(e UnitOutput) {
	if a := t.running[e.Unit]; a != nil {
		a.spoke = true
	}
	prefix := "    | "
	if len(t.running) > 1 {
		prefix = "    " + t.paint(entity, e.Unit) + " | "
	}
	for _, line := range PlainLines(e.Line) {
		t.write(prefix + line + "\n")
	}
}

func (t *Terminal) paint(r role, s string) string {
	if !t.colour {
		return s
	}
	return r.paint(s)
}

func (t *Terminal) write(s string) { _, _ = io.WriteString(t.w, s) }
