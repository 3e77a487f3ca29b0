package report

import "fmt"

// A Lineage says where an environment's desired state was promoted from, and how the source stands to it now.
type Lineage struct {
	// Environment is the promoted one, Source the one it was promoted from.
	Environment, Source string
	// SourceRevision is the desired commit of the source that was promoted, SpecificationRevision that of the documents.
	SourceRevision, SpecificationRevision string
	// SourceHead is the source's desired head now, "" when its branch is gone.
	SourceHead string
	// Behind is how many commits the source has made since; -1 when the promoted commit is not in its history any more.
	Behind int
	// AtLeast tells that the counting stopped at Behind.
	AtLeast bool
}

// String is the sentence for people.
func (l Lineage) String() string {
	s := fmt.Sprintf("%s was promoted from %s at %s (documents of %s)", l.Environment, l.Source, Abbreviate(l.SourceRevision), Abbreviate(l.SpecificationRevision))
	switch {
	case l.SourceHead == "":
		return s + "; the desired branch of " + l.Source + " does not exist any more"
	case l.Behind < 0:
		return s + "; the desired branch of " + l.Source + " was rewritten since, so promote again"
	case l.Behind == 0:
		return s + ", which is what " + l.Source + " has now"
	}
	more, s2 := "", "s"
	if l.AtLeast {
		more = "at least "
	}
	if l.Behind == 1 {
		s2 = ""
	}
	return s + fmt.Sprintf("; %s is %s%d commit%s ahead of that", l.Source, more, l.Behind, s2)
}

// lineage tells where the environment's state came from, "" when it was not promoted.
func (s summary) lineage() section {
	l := s.run.Lineage
	if l == nil {
		return section{}
	}
	return section{name: "lineage", parts: []part{{"\n" + inline(l.String()) + "\n", rankRefs}}}
}

type jsonLineage struct {
	Source                string `json:"source"`
	SourceRevision        string `json:"sourceRevision"`
	SpecificationRevision string `json:"specificationRevision"`
	SourceHead            string `json:"sourceHead"`
	Behind                int    `json:"behind"`
	AtLeast               bool   `json:"atLeast"`
}

func jsonLineageOf(l *Lineage) *jsonLineage {
	if l == nil {
		return nil
	}
	return &jsonLineage{l.Source, l.SourceRevision, l.SpecificationRevision, l.SourceHead, l.Behind, l.AtLeast}
}
