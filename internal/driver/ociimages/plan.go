package ociimages

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A planned says what a reconcile would do with what was found.
type planned struct {
	changes driver.Changes
	text    string
	// build tells that the image would be built: no registry has it.
	build bool
}

func planOf(spec spec, found []lookup) planned {
	source, lacking := existing(found), false
	var lines []string
	p := planned{}
	add := func(address, line string) {
		p.changes.Create++
		p.changes.Resources = append(p.changes.Resources, driver.ResourceChange{Address: address, Action: "create"})
		lines = append(lines, line)
	}
	for _, f := range found {
		name := f.target.Repository.tagged(spec.Tag)
		switch {
		case f.err != nil:
			lacking = true
			add(name, fmt.Sprintf("  push %s, unless it is there: it could not be looked up (%s)", name, f.err))
		case f.digest == "" && source != nil:
			lacking = true
			add(name, fmt.Sprintf("  copy %s to %s", source.target.Repository.at(source.digest), name))
		case f.digest == "":
			lacking = true
			add(name, "  push "+name)
		default:
			lines = append(lines, fmt.Sprintf("  keep %s, which is %s", name, f.digest))
		}
	}
	for _, l := range spec.Locals {
		add(l.String(), fmt.Sprintf("  load %s into %s", spec.Local, l))
	}
	p.build = source == nil && (lacking || len(spec.Locals) > 0)
	first := "The image is published already: nothing to build."
	if p.build {
		first = fmt.Sprintf("Would build %s for %s:", spec.Dockerfile, spec.Platform)
	}
	p.text = first + "\n" + strings.Join(lines, "\n") + "\n"
	return p
}

// existing is the first registry that has the image, nil when none has.
func existing(found []lookup) *lookup {
	for i := range found {
		if found[i].digest != "" {
			return &found[i]
		}
	}
	return nil
}
