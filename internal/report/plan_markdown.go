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

// legend is the paragraph in which the tool explains its signs. It says nothing of the plan, and its lines would have the
// colours of changes.
var legend = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) used the selected providers to generate the following execution\n(.+\n)+\n*`)

// signOf splits the indentation and the sign off a line of a tool's plan. Plans are large, so it is no regular expression.
func signOf(line string) (indent, sign, rest string) {
	rest = strings.TrimLeft(line, " \t")
	indent = line[:len(line)-len(rest)]
	for _, sign := range [...]string{"-/+", "+/-", "<=", "-", "+", "~"} {
		if after, ok := strings.CutPrefix(rest, sign); ok && indent != "" && strings.IndexAny(after, " \t\r\n") == 0 {
			return indent, sign, after
		}
	}
	return "", "", line
}

// asDiff moves the signs of a plan to the beginning of their lines, where the colours of a diff come from. An update is
// marked as a diff marks it: with "!". The legend of the signs is dropped.
func asDiff(plan string) string {
	if strings.Contains(plan, " used the selected providers") {
		plan = legend.ReplaceAllString(plan, "")
	}
	var b strings.Builder
	for line := range strings.Lines(plan) {
		indent, sign, rest := signOf(line)
		if sign == "~" {
			sign = "!"
		}
		b.WriteString(sign + indent + rest)
	}
	return b.String()
}

// planDiff is a tool's plan as it is shown.
func planDiff(plan string) string { return strings.Trim(asDiff(plan), "\r\n") }

// resourceHead is the line above a resource in a tool's plan, lossHead that of one that is destroyed or replaced.
var (
	resourceHead = regexp.MustCompile(`^  # \S.* (will be|must be) `)
	lossHead     = regexp.MustCompile(` (will be destroyed|(will|must) be replaced)`)
)

// lossesFirst moves the resources that a plan destroys or replaces before its others, and its totals to the end; else the
// order stays. It only moves lines, so that nothing is lost from a plan of an unknown shape. The last line gets its end.
func lossesFirst(plan string) string {
	var intro, lost, others, totals strings.Builder
	to := &intro
	for line := range strings.Lines(strings.TrimSuffix(plan, "\n") + "\n") {
		switch {
		case strings.HasPrefix(line, "Plan: "):
			to = &totals
		case !strings.HasPrefix(line, "  # ") || !resourceHead.MatchString(line):
		case lossHead.MatchString(line):
			to = &lost
		default:
			to = &others
		}
		to.WriteString(line)
	}
	return intro.String() + lost.String() + others.String() + totals.String()
}
