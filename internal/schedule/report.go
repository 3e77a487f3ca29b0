package schedule

import "context"

// A State is how a node stands at the end of a run.
type State string

// The states.
const (
	Succeeded  State = "succeeded"
	Failed     State = "failed"
	Skipped    State = "skipped"     // depends on a node that failed
	NotStarted State = "not started" // the context ended before its turn
	Stuck      State = "stuck"       // waits for itself in a circle, or for a node that does
)

// A Report tells how a run ended.
type Report struct {
	// Results has one entry per node, in the order in which the nodes were first added.
	Results []Result
	// Started lists the nodes in order of start, a node once for each of its runs.
	Started []string
}

// A Result is the end of one node.
type Result struct {
	Node  string
	State State
	// Err is the node's own error when it failed. Of a node that was run several times the last run counts.
	Err error
	// Because is the failed node that a skipped one depends on, directly or not; the first in order when there are several.
	Because string
	// WaitsFor are the producers that had not succeeded, for nodes that were not run, as they were added.
	WaitsFor []string
}

// report classifies the entries when nothing runs any more.
func (q *Queue) report(ctx context.Context) Report {
	q.mu.Lock()
	defer q.mu.Unlock()
	causes := q.causes()
	r := Report{Results: make([]Result, 0, len(q.order)), Started: q.started}
	for _, e := range q.order {
		result := Result{Node: e.node, Err: e.err}
		switch {
		case e.phase == succeeded:
			result.State = Succeeded
		case e.phase == failed:
			result.State = Failed
		default:
			result.WaitsFor = q.unmet(e)
			switch cause := causes[e]; {
			case cause != nil:
				result.State, result.Because = Skipped, cause.node
			case ctx.Err() != nil:
				result.State = NotStarted
			default:
				result.State = Stuck
			}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

// causes finds for every entry not run that depends on a failure the first failed entry.
func (q *Queue) causes() map[*entry]*entry {
	causes := map[*entry]*entry{}
	for _, cause := range q.order {
		if cause.phase != failed {
			continue
		}
		for front := []*entry{cause}; len(front) > 0; {
			at := front[0]
			front = front[1:]
			for consumer := range q.waiting[at.node] {
				if consumer.phase <= ready && causes[consumer] == nil {
					causes[consumer] = cause
					front = append(front, consumer)
				}
			}
		}
	}
	return causes
}

func (q *Queue) unmet(e *entry) []string {
	var unmet []string
	for _, p := range e.producers {
		if producer := q.entries[p]; producer != nil && producer.phase != succeeded {
			unmet = append(unmet, p)
		}
	}
	return unmet
}
