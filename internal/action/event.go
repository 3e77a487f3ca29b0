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
	// PullRequest is the number of the event's pull request, 0 for none; HeadSHA is its newest commit.
	PullRequest int
	HeadSHA     string
	// APIURL is the base of the forge's REST API.
	APIURL string
	// RunID and Attempt tell the workflow's runs apart; ids grow.
	RunID, Attempt int64
	// Run is the run that a workflow_run event is about.
	Run WorkflowRun
}

// A WorkflowRun is a run of another workflow and the commit that it ran on, as the forge says.
type WorkflowRun struct {
	ID, Attempt                    int64
	HeadOwner, HeadBranch, HeadSHA string
}

// runURL is the page of the workflow's run, "" when it is not known.
func (e Event) runURL() string {
	if e.ServerURL == "" || e.Repository == "" || e.RunID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%d", e.ServerURL, e.Repository, e.RunID)
}

// readEvent reads the facts that the runner gives. A missing event file is no error: some runners have none.
func readEvent(gh *githubactions.Action) (Event, error) {
	facts, err := gh.Context()
	if facts == nil {
		return Event{}, fmt.Errorf("the event file that GITHUB_EVENT_PATH names cannot be used: %w", err)
	}
	event := Event{
		Name: facts.EventName, SHA: facts.SHA, ServerURL: facts.ServerURL, Repository: facts.Repository,
		APIURL: facts.APIURL, RunID: facts.RunID, Attempt: facts.RunAttempt,
	}
	if event.Name == "workflow_run" {
		event.Run = workflowRun(facts.Event)
	}
	if event.isPullRequest() {
		event.Foreign = foreign(facts.Event)
		event.HeadSHA, _ = at(facts.Event, "pull_request", "head", "sha").(string)
		if number, ok := at(facts.Event, "pull_request", "number").(float64); ok {
			event.PullRequest = int(number)
		}
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

func workflowRun(payload map[string]any) WorkflowRun {
	text := func(keys ...string) string {
		s, _ := at(payload, append([]string{"workflow_run"}, keys...)...).(string)
		return s
	}
	id, _ := at(payload, "workflow_run", "id").(float64)
	attempt, _ := at(payload, "workflow_run", "run_attempt").(float64)
	return WorkflowRun{ID: int64(id), Attempt: int64(attempt), HeadOwner: text("head_repository", "owner", "login"), HeadBranch: text("head_branch"), HeadSHA: text("head_sha")}
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
