package report

type jsonForesight struct {
	Certainty Certainty      `json:"certainty"`
	Awaited   []jsonAwaited  `json:"awaited"`
	Fallbacks []jsonFallback `json:"fallbacks"`
	Changed   bool           `json:"changed"`
	Diff      string         `json:"diff"`
	Teardown  bool           `json:"teardown"`
}

type jsonAwaited struct {
	Value   string `json:"value"`
	Pointer string `json:"pointer"`
	Cause   string `json:"cause"`
}

type jsonFallback struct {
	Pointer   string `json:"pointer"`
	Reference string `json:"reference"`
}

func jsonForesightOf(f *Foresight) *jsonForesight {
	if f == nil {
		return nil
	}
	out := &jsonForesight{
		Certainty: f.Certainty, Changed: f.Changed, Diff: f.Diff, Teardown: f.Teardown,
		Awaited: make([]jsonAwaited, len(f.Awaited)), Fallbacks: make([]jsonFallback, len(f.Fallbacks)),
	}
	for i, a := range f.Awaited {
		out.Awaited[i] = jsonAwaited{a.Value, a.At, a.Cause}
	}
	for i, b := range f.Fallbacks {
		out.Fallbacks[i] = jsonFallback{b.At, b.Reference}
	}
	return out
}
