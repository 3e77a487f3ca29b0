package driver

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxLine is the longest line in bytes that is handed on in one piece; longer ones are cut into such pieces.
	maxLine = 64 << 10
	// lastLines and lastBytes bound what an error repeats of the log.
	lastLines = 20
	lastBytes = 4 << 10
)

// lineWriter splits a stream into lines: masked, valid UTF-8, without carriage return at the end, of bounded length, one
// Write each to the sink. It remembers the last lines for the error.
type lineWriter struct {
	sink    io.Writer
	mask    *Masker
	pending []byte
	tail    []string
}

func newLineWriter(sink io.Writer, mask *Masker) *lineWriter {
	if sink == nil {
		sink = io.Discard
	}
	return &lineWriter{sink: sink, mask: mask}
}

// Write never fails: a sink that cannot take a line must not stop the tool.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end >= 0 && len(w.pending)+end <= maxLine {
			w.pending = append(w.pending, p[:end]...)
			w.emit(w.mask.String(string(w.pending)))
			w.pending, p = w.pending[:0], p[end+1:]
			continue
		}
		take := min(len(p), max(maxLine-len(w.pending), 1))
		w.pending, p = append(w.pending, p[:take]...), p[take:]
		if len(w.pending) >= maxLine {
			w.cut()
		}
	}
	return n, nil
}

// cut emits the greater part of an over-long line. It masks first and keeps back as much as a secret that continues in
// the next piece could have begun with.
func (w *lineWriter) cut() {
	masked := w.mask.String(string(w.pending))
	at := max(len(masked)-max(w.mask.longest(), utf8.UTFMax), len(masked)/2)
	for at > len(masked)/2 && !utf8.RuneStart(masked[at]) {
		at--
	}
	w.emit(masked[:at])
	w.pending = append(w.pending[:0], masked[at:]...)
}

// flush emits an unfinished last line.
func (w *lineWriter) flush() {
	if len(w.pending) > 0 {
		w.emit(w.mask.String(string(w.pending)))
		w.pending = w.pending[:0]
	}
}

func (w *lineWriter) emit(line string) {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r"), "\uFFFD")
	_, _ = io.WriteString(w.sink, line+"\n")
	if strings.TrimSpace(line) == "" {
		return
	}
	if len(line) > lastBytes {
		line = strings.ToValidUTF8(line[:lastBytes], "") + " …"
	}
	w.tail = append(w.tail, line)
	if len(w.tail) > lastLines {
		w.tail = w.tail[1:]
	}
}

// last returns the last lines that were not blank, as many as an error may repeat.
func (w *lineWriter) last() []string {
	size, from := 0, len(w.tail)
	for from > 0 && size+len(w.tail[from-1]) <= lastBytes+8 {
		from--
		size += len(w.tail[from])
	}
	return w.tail[from:]
}
