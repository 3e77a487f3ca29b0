package action

import (
	"fmt"
	"slices"

	"github.com/sethvargo/go-githubactions"
)

// An Event is what started the workflow, as far as it decides something here.
type Event struct {
	Name string // "push", "pull_request", ...
	// SHA is the commit that the workflow runs on. On pull requests it is a merge commit of no branch.
	SHA string
	// ServerURL and Repository ("owner/name") make links.
	ServerURL, Repository string
	// Foreign tells that the event is a pull request from another repository, or may be one, and is not merged.
	Foreign bool
}

// readEvent reads the facts that the runner gives. A missing event file is no error: some runners have none.
func readEvent(gh *githubactions.Action) (Event, error) {
	facts, err := gh.Context()
	if facts == nil {
		return Event{}, fmt.Errorf("the event file that GITHUB_EVENT_PATH names cannot be used: %w", err)
	}
	event := Event{Name: facts.EventName, SHA: facts.SHA, ServerURL: facts.ServerURL, Repository: facts.Repository}
	if event.isPullRequest() {
		event.Foreign = foreign(facts.Event)
	}
	return event, nil
}

func (e Event) isPullRequest() bool {
	return slices.Contains([]string{"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment"}, e.Name)
}

// foreign tells whether a pull request's head comes from another repository than its base. What is merged has been
// accepted; what cannot be told, because the payload or the head's repository is gone, counts as foreign.
func foreign(payload map[string]any) bool {
	if merged, _ := at(payload, "pull_request", "merged").(bool); merged {
		return false
	}
	head, _ := at(payload, "pull_request", "head", "repo", "full_name").(string)
	base, _ := at(payload, "pull_request", "base", "repo", "full_name").(string)
	return head == "" || head != base
}

// at follows keys into decoded JSON; nil when there is nothing.
func at(value any, keys ...string) any {
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// defaults are the operations of a step that names none.
func (e Event) defaults() ([]Operation, error) {
	switch e.Name {
	case "push", "workflow_dispatch":
		return []Operation{Converge}, nil
	case "schedule":
		return []Operation{Converge, Verify}, nil
	case "pull_request", "pull_request_target", "merge_group": // not merged yet: show, do not do
		return []Operation{Plan}, nil
	}
	return nil, &InputError{"operation", fmt.Sprintf("is empty, and the event %q has no default operation", e.Name), "set it"}
}
