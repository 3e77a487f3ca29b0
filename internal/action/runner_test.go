package action

import (
	"fmt"
	"strings"
	"unicode"
)

// A fakeRunner reads a step's log as the Actions runner does: lines end at LF, CR or both; two grammars; stop-commands.
// To be on the safe side it knows every command name, and ignores characters that a search by language rules ignores.
type fakeRunner struct {
	stopped  string
	executed []string // commands in a readable form
	tokens   []string
	shown    []string // lines that are no commands
}

func (r *fakeRunner) read(log string) *fakeRunner {
	log = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(log)
	for line := range strings.SplitSeq(strings.TrimSuffix(log, "\n"), "\n") {
		r.line(line)
	}
	return r
}

func (r *fakeRunner) line(line string) {
	name, properties, data, ok := parseCommand(line)
	if !ok {
		r.shown = append(r.shown, line)
		return
	}
	switch {
	case r.stopped != "" && name == r.stopped:
		r.stopped = ""
	case r.stopped != "":
		r.shown = append(r.shown, line)
	case name == "stop-commands":
		r.stopped = data
		r.tokens = append(r.tokens, data)
	default:
		command := name
		if properties != "" {
			command += " " + properties
		}
		r.executed = append(r.executed, command+": "+data)
	}
}

func parseCommand(line string) (name, properties, data string, ok bool) {
	line = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
	if rest, found := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); found {
		if info, data, found := strings.Cut(rest, "::"); found {
			name, properties, _ = strings.Cut(info, " ")
			return name, properties, data, true
		}
	}
	if _, rest, found := strings.Cut(line, "##["); found {
		if info, data, found := strings.Cut(rest, "]"); found {
			name, properties, _ = strings.Cut(info, " ")
			return name, properties, data, true
		}
	}
	return "", "", "", false
}

// readFileCommands reads an output file as the runner does: NAME=VALUE or NAME<<DELIMITER, whichever comes first.
func readFileCommands(text string) (map[string]string, error) {
	values := map[string]string{}
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(rows); i++ {
		row := rows[i]
		equals, here := strings.Index(row, "="), strings.Index(row, "<<")
		switch {
		case row == "":
		case equals >= 0 && (here < 0 || equals < here):
			values[row[:equals]] = row[equals+1:]
		case here >= 0:
			var value []string
			for i++; i < len(rows) && rows[i] != row[here+2:]; i++ {
				value = append(value, rows[i])
			}
			values[row[:here]] = strings.Join(value, "\n")
		default:
			return nil, fmt.Errorf("line %q", row)
		}
	}
	return values, nil
}
