package report

import (
	"regexp"
	"strings"
)

// codeSpan shows foreign text as code in a paragraph. Forges look for mentions, issue numbers and addresses outside of code
// only, so nobody is notified and nothing is linked; markup in it stays text.
func codeSpan(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(strings.Join(PlainLines(s), " "), "\t", " "))
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	mark := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return mark + s + mark
}

// cellCode is codeSpan for a cell of a table, where a bar ends the cell even inside of code.
func cellCode(s string) string { return strings.ReplaceAll(codeSpan(s), "|", `\|`) }

// marker is the sign at the beginning of a line of a tool's plan.
var marker = regexp.MustCompile(`^(\s+)(-/\+|\+/-|<=|[-+~])(\s)`)

// asDiff moves the signs of a plan to the beginning of their lines, where the colours of a diff come from. An update is
// marked as a diff marks it: with "!".
func asDiff(plan string) string {
	var b strings.Builder
	for line := range strings.Lines(plan) {
		m := marker.FindStringSubmatch(line)
		if m == nil {
			b.WriteString(line)
			continue
		}
		sign := m[2]
		if sign == "~" {
			sign = "!"
		}
		b.WriteString(sign + m[1] + line[len(m[1])+len(m[2]):])
	}
	return b.String()
}
