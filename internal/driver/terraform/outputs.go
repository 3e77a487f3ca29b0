package terraform

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// optIn is the line in the root module that allows sensitive outputs to be observed:
//
//	# gitopsctr:observe-sensitive NAME [NAME ...]
//
// It stands in the Terraform source, because whoever marks an output as sensitive is the one to say that its value may be
// committed; because a change of it changes the Unit's input hash like any other change of the source; and because
// the Unit's schema is closed.
var optIn = regexp.MustCompile(`^\s*(?:#|//)\s*gitopsctr:observe-sensitive[ \t]+(\S.*)$`)

// optedIn returns the names of the outputs that the root module in dir allows to be observed although they are sensitive.
func optedIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.Type().IsRegular() || ext != ".tf" && ext != ".tofu" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			if m := optIn.FindSubmatch(lines.Bytes()); m != nil {
				names = append(names, strings.FieldsFunc(string(m[1]), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' })...)
			}
		}
	}
	return names, nil
}

// checkObservable refuses, from the plan alone, to observe an output that does not exist or is sensitive.
func (s *session) checkObservable(p *plan) error {
	allowed, err := optedIn(s.dir)
	if err != nil {
		return &driver.Error{Op: "read the Terraform source", Err: err}
	}
	for i, name := range s.spec.Observe {
		if _, ok := p.declared[name]; !ok {
			return s.refuseOutput(i, name, "is not declared in the Terraform source",
				"declare it, or take it out of terraform.observeOutputs; nothing was applied")
		}
		if p.sensitive(name) && !slices.Contains(allowed, name) {
			return s.refuseOutput(i, name, "is sensitive, and observing it would commit its value in clear text",
				fmt.Sprintf("take it out of terraform.observeOutputs, or allow it with the line %q in a .tf file of %s; nothing was applied",
					"# gitopsctr:observe-sensitive "+name, s.spec.Path))
		}
	}
	return nil
}

func (s *session) refuseOutput(index int, name, detail, fix string) error {
	return &driver.Error{
		Op: "observe outputs", Detail: fmt.Sprintf("the output %q %s", name, detail),
		Pointer: fmt.Sprintf("/terraform/observeOutputs/%d", index), Fix: fix,
	}
}

// observed are the values of the observed outputs, in the order of the Unit.
type observed []observedOutput

type observedOutput struct {
	name      string
	value     *document.Node
	sensitive bool
}

func (o observed) values() *document.Node {
	n := document.NewMap()
	for _, x := range o {
		n.Fields = append(n.Fields, document.F(x.name, x.value))
	}
	return n
}

func (o observed) get(name string) observedOutput {
	for _, x := range o {
		if x.name == name {
			return x
		}
	}
	return observedOutput{}
}

// outputsAfterEffect is outputs for an effect that is done: its evidence is still read, for a bounded time, when the run
// is being cancelled.
func (s *session) outputsAfterEffect(ctx context.Context) (observed, error) {
	grace := s.driver.options.Timeouts.Grace
	if grace <= 0 {
		grace = driver.DefaultGrace
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	return s.outputs(reading)
}

// outputs reads the observed outputs after the apply. The tool's answer holds every output in clear: it is never shown.
func (s *session) outputs(ctx context.Context) (observed, error) {
	var out bytes.Buffer
	if _, err := s.run(ctx, step{name: "output", args: []string{"-no-color", "-json"}, stdout: &out, quiet: true}); err != nil {
		return nil, err
	}
	doc, err := document.Decode("output.json", out.Bytes())
	if err != nil {
		// Not wrapped: the reader's message may repeat a part of the values.
		return nil, &driver.Error{Op: s.tool.Name + " output", Detail: "its answer is no JSON object"}
	}
	allowed, err := optedIn(s.dir)
	if err != nil {
		return nil, &driver.Error{Op: "read the Terraform source", Err: err}
	}
	result := observed{}
	for i, name := range s.spec.Observe {
		output := doc.Get(name)
		if !output.Has("value") {
			return nil, s.refuseOutput(i, name, "has no value after the apply", "give it a value other than null, or take it out of terraform.observeOutputs")
		}
		sensitive := output.Get("sensitive")
		x := observedOutput{name: name, value: output.Get("value"), sensitive: sensitive.IsNull() || sensitive.Bool}
		if x.sensitive && !slices.Contains(allowed, name) {
			return nil, s.refuseOutput(i, name, "is sensitive", "see the plan's message; its value is recorded nowhere")
		}
		result = append(result, x)
	}
	return result, nil
}
