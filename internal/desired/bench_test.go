package desired

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBuild resolves chains of Units with five references each, all of whose evidence is current, as after a change
// of nothing: the cost of a reference must not grow with the number of Units.
//
//	go test -bench=Build -run='^$' ./internal/desired
func BenchmarkBuild(b *testing.B) {
	for _, units := range []int{1000, 2000, 4000} {
		b.Run(fmt.Sprintf("units=%d", units), func(b *testing.B) {
			s := chain(b, units)
			in := s.input(b)
			in.InputHashes = &InputHashes{}
			candidate, err := Build(b.Context(), in)
			check(b, err)
			if waiting := len(candidate.Waiting()); waiting > 0 {
				b.Fatalf("%d Units wait", waiting)
			}
			b.ResetTimer()
			for b.Loop() {
				if _, err := Build(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units*5), "ns/reference")
		})
	}
}

// chain is an environment of Terraform Units in layers of a hundred, each of which reads five Units of the layer before.
// Its desired and observed planes are what applying and reconciling it layer by layer leaves.
func chain(t testing.TB, units int) setting {
	t.Helper()
	const layer, reads = 100, 5
	s := setting{source: plane{}, authored: plane{}, desired: plane{}, observed: plane{}}
	name := func(i int) string { return fmt.Sprintf("u%05d", i) }
	for first := 0; first < units; first += layer {
		part := setting{source: plane{}, authored: plane{}, desired: s.desired, observed: s.observed}
		for i := first; i < first+layer; i++ {
			var variables strings.Builder
			fmt.Fprintf(&variables, "own: %d", i)
			for r := range reads {
				reference := fmt.Sprintf("{fromReceipt: {unit: %s, pointer: /outputs/host}}", name(first-layer+(i+r)%layer))
				if first == 0 {
					reference = "{fromEnvironment: {pointer: /name}}"
				}
				fmt.Fprintf(&variables, "\nv%d: %s", r, reference)
			}
			part.source[name(i)+"/main.tf"] = fmt.Sprint(i)
			part.authored[name(i)+".yaml"] = terraformUnit(name(i), variables.String())
		}
		c := part.build(t)
		for path, f := range c.Files {
			if f.Content != nil {
				s.desired[path] = string(f.Content)
			}
		}
		for i := first; i < first+layer; i++ {
			s.observed["units/"+name(i)+".yaml"] = receipt(t, s.desired, name(i), `{"applied":{"sourceRevision":"1"},"outputs":{"host":"h"}}`)
		}
		for file, text := range part.authored {
			s.authored[file] = text
		}
		for file, text := range part.source {
			s.source[file] = text
		}
	}
	return s
}
