package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop is a small environment with a missing producer.
var shop = map[string][]string{
	"net": nil, "db": {"net"}, "app": {"db", "img", "net"}, "img": nil, "shop/web": {"app", "typo"}, "alone": nil,
}

// circles has two groups of nodes in circles, one with a shortcut, a self-dependent node, and nodes before and behind.
var circles = map[string][]string{
	"a": {"b"}, "b": {"c"}, "c": {"d", "a"}, "d": {"a"}, "in": {"a"}, "out": nil, "y": {"x", "out"}, "x": {"y"}, "self": {"self"},
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	g := New(shop)
	closure := func(depth int, targets ...string) any {
		c, err := g.Closure(targets, depth)
		if err != nil {
			t.Error(err)
		}
		return c
	}
	for name, tc := range map[string]struct{ want, got any }{
		"nodes":                 {[]string{"alone", "app", "db", "img", "net", "shop/web"}, g.Nodes()},
		"producers":             {[]string{"db", "img", "net"}, g.Producers("app")},
		"producers but missing": {[]string{"app"}, g.Producers("shop/web")},
		"consumers":             {[]string{"app", "db"}, g.Consumers("net")},
		"consumers of missing":  {[]string{"shop/web"}, g.Consumers("typo")},
		"missing":               {[]Edge{{"shop/web", "typo"}}, g.Missing()},
		"missing of others":     {[]Edge(nil), g.Missing("app", "net")},
		"missing of one":        {[]Edge{{"shop/web", "typo"}}, g.Missing("shop/web", "app", "shop/web")},
		"edges": {[]Edge{{"app", "db"}, {"app", "img"}, {"app", "net"}, {"db", "net"}, {"shop/web", "app"}},
			g.Edges()},
		"order":            {[]string{"alone", "net", "db", "img", "app", "shop/web"}, g.Order()},
		"levels":           {[][]string{{"alone", "img", "net"}, {"db"}, {"app"}, {"shop/web"}}, g.Levels()},
		"cycles":           {[][]string(nil), g.Cycles()},
		"closure":          {[]string{"app", "db", "img", "net"}, closure(All, "app", "app")},
		"closure depth 0":  {[]string{"shop/web"}, closure(0, "shop/web")},
		"closure depth 1":  {[]string{"app", "shop/web"}, closure(1, "shop/web")},
		"closure depth 2":  {[]string{"app", "db", "img", "net", "shop/web"}, closure(2, "shop/web")},
		"dependents":       {[]string{"app", "db", "shop/web"}, g.Dependents("net")},
		"dependents of it": {[]string{"app", "shop/web"}, g.Dependents("img", "db")},
		"no dependents":    {[]string(nil), g.Dependents("alone")},
		"restricted edges": {[]Edge{{"app", "db"}}, g.Restrict([]string{"app", "db", "typo"}).Edges()},
		"restricted nodes": {[]string{"app", "db"}, g.Restrict([]string{"app", "db", "typo"}).Nodes()},
		"empty":            {[]string{}, new(Graph).Order()},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	g := New(circles)
	for name, tc := range map[string]struct{ want, got any }{
		"cycles":             {[][]string{{"a", "b", "c", "a"}, {"self", "self"}, {"x", "y", "x"}}, g.Cycles()},
		"order cuts them":    {[]string{"d", "c", "b", "a", "in", "out", "self", "y", "x"}, g.Order()},
		"levels cut them":    {[][]string{{"d", "out", "self"}, {"c", "y"}, {"b", "x"}, {"a"}, {"in"}}, g.Levels()},
		"acyclic":            {[][]string(nil), g.Acyclic().Cycles()},
		"acyclic, same work": {g.Order(), g.Acyclic().Order()},
		"acyclic edges": {[]Edge{{"a", "b"}, {"b", "c"}, {"c", "d"}, {"in", "a"}, {"x", "y"}, {"y", "out"}},
			g.Acyclic().Edges()},
		"dependents in a circle": {[]string{"a", "b", "c", "d", "in"}, g.Dependents("a")},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestClosureOfUnknownTargets(t *testing.T) {
	t.Parallel()
	_, err := New(shop).Closure([]string{"zz", "app", "typo", "zz"}, All)
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("want an UnknownError, got %v", err)
	}
	if diff := cmp.Diff([]string{"typo", "zz"}, unknown.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want, got := `unknown: "typo", "zz"`, err.Error(); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestMermaidEscapesNames(t *testing.T) {
	t.Parallel()
	g := New(map[string][]string{"shop/web": {"a\"] --> x; click\n```<b>"}, "a\"] --> x; click\n```<b>": nil})
	want := "flowchart LR\n" +
		"  n0[\"a#34;#93; --#62; x#59; click #96;#96;#96;#60;b#62;\"]\n" +
		"  n1[\"shop/web\"]\n" +
		"  n0 --> n1\n"
	if diff := cmp.Diff(want, g.Mermaid()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrderProperties compares random graphs with what the words say.
func TestOrderProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g := &Graph{}
		n := 1 + random.IntN(12)
		for i := range n {
			g.Add(fmt.Sprint(i))
			for range random.IntN(3) {
				g.Add(fmt.Sprint(i), fmt.Sprint(random.IntN(n+1)))
			}
		}
		order := g.Order()
		if diff := cmp.Diff(g.Nodes(), slices.Sorted(slices.Values(order))); diff != "" {
			t.Fatalf("order is not every node once (-want +got):\n%s", diff)
		}
		acyclic := g.Acyclic()
		for _, e := range acyclic.Edges() {
			if slices.Index(order, e.Producer) > slices.Index(order, e.Consumer) {
				t.Fatalf("%v comes in the wrong order in %v", e, order)
			}
		}
		cyclic := map[string]bool{}
		for _, node := range g.Nodes() {
			cyclic[node] = slices.Contains(g.Dependents(node), node)
		}
		for _, cycle := range g.Cycles() {
			for i := range len(cycle) - 1 {
				if !slices.Contains(g.Producers(cycle[i]), cycle[i+1]) {
					t.Fatalf("%v is no cycle of %v", cycle, g.Edges())
				}
			}
			for node := range cyclic {
				if slices.Contains(g.Dependents(cycle[0]), node) && slices.Contains(g.Dependents(node), cycle[0]) {
					cyclic[node] = false
				}
			}
		}
		for node, left := range cyclic {
			if left {
				t.Fatalf("no cycle tells of %s in %v", node, g.Edges())
			}
		}
		if len(g.Cycles()) == 0 && len(acyclic.Edges()) != len(g.Edges()) {
			t.Fatalf("edges cut without a cycle: %v", g.Edges())
		}
	}
}

func TestLongChain(t *testing.T) {
	t.Parallel()
	const n = 20_000
	g := &Graph{}
	name := func(i int) string { return fmt.Sprintf("%06d", i) }
	for i := range n {
		g.Add(name(i), name((i+1)%n))
	}
	if order := g.Order(); len(order) != n || order[0] != name(n-1) || order[n-1] != name(0) {
		t.Errorf("order of the chain is wrong: %d nodes from %s", len(order), order[0])
	}
	if cycles := g.Cycles(); len(cycles) != 1 || len(cycles[0]) != n+1 {
		t.Errorf("want the one cycle of %d nodes", n)
	}
	if got := len(g.Levels()); got != n {
		t.Errorf("want %d levels, got %d", n, got)
	}
}
