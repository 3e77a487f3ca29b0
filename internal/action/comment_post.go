package action

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/forge"
)

// Forge is what the action does on the forge.
type Forge interface {
	// Login is the user that the token belongs to, "" when it belongs to none.
	Login(ctx context.Context) (string, error)
	Comments(ctx context.Context, number int) ([]forge.Comment, error)
	CreateComment(ctx context.Context, number int, body string) (forge.Comment, error)
	UpdateComment(ctx context.Context, id int64, body string) (forge.Comment, error)
	DeleteComment(ctx context.Context, id int64) error
	// PullRequestAt is the open pull request whose head is this commit of an owner's branch, 0 for none.
	PullRequestAt(ctx context.Context, owner, branch, sha string) (int, error)
	OpenIssues(ctx context.Context) ([]forge.Issue, error)
	CreateIssue(ctx context.Context, title, body string) (forge.Issue, error)
	UpdateIssue(ctx context.Context, number int, title, body string) (forge.Issue, error)
	CloseIssue(ctx context.Context, number int, body string) (forge.Issue, error)
}

// A sticky is the one comment of a pull request that all jobs and runs share, a section for each environment.
type sticky struct {
	forge  Forge
	number int
	// recreate posts a new comment at the end instead of updating the old one.
	recreate bool
	// pause waits a moment before the comment is looked at again.
	pause func(ctx context.Context, d time.Duration) error
	// created is a comment of this run's own. Its author is us, also where the token may not ask who it belongs to.
	created forge.Comment
}

// An outdatedError tells that a newer run has reported already.
type outdatedError struct{ by generation }

func (e *outdatedError) Error() string {
	return fmt.Sprintf("run %d (attempt %d) for commit %.12s has reported already", e.by.run, e.by.attempt, e.by.sha)
}

const postTries = 5

// post brings the section into the comment and returns the comment's address.
//
// A forge has no compare-and-swap for comments. So the comment is read again after it was written, and written again when
// another job replaced it in between; of two comments that two jobs made at once, the older one stays.
func (s *sticky) post(ctx context.Context, own commentSection, render func(limit int) string) (string, error) {
	limit := commentLimit
	for try := 1; ; try++ {
		ours, err := s.ours(ctx)
		if err != nil {
			return "", err
		}
		if done := find(ours, own); done != nil && len(ours) == 1 && try > 1 {
			return done.URL, nil
		}
		body, newer := merge(sectionsOf(ours), own, render, limit)
		if newer != nil {
			return "", s.withdraw(ctx, ours, &outdatedError{*newer})
		}
		if try > postTries {
			return "", errors.New("other jobs keep replacing it; run the jobs of one pull request one after the other")
		}
		written, err := s.write(ctx, ours, body, try == 1)
		switch {
		case errors.Is(err, forge.ErrInvalid) && limit == commentLimit:
			limit = commentLimit / 2 // the forge counts in another way
			continue
		case errors.Is(err, forge.ErrNotFound) && len(ours) > 0:
			continue // deleted by somebody in between
		case unknown(err) && len(ours) == 0:
			// It may have been created nevertheless; the next look tells.
		case err != nil:
			return "", err
		case len(ours) == 1 && !s.recreate && len(sectionsOf(ours)) <= 1 && only(ours, own.key):
			return written.URL, nil // nobody else writes here
		}
		if err := s.pause(ctx, time.Duration(200+rand.IntN(800))*time.Millisecond); err != nil { //nolint:gosec // no secret
			return "", err
		}
	}
}

// unknown tells whether it is not known if a request was done.
func unknown(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && (e.Status == 0 || e.Status >= 500)
}

// write puts body into the oldest comment of ours, or a new one, and removes further ones.
func (s *sticky) write(ctx context.Context, ours []forge.Comment, body string, first bool) (forge.Comment, error) {
	if len(ours) == 0 || s.recreate && first {
		created, err := s.forge.CreateComment(ctx, s.number, body)
		if err != nil {
			return created, err
		}
		s.created = created
		return created, s.remove(ctx, ours)
	}
	written, err := s.forge.UpdateComment(ctx, ours[0].ID, body)
	if err != nil {
		return written, err
	}
	return written, s.remove(ctx, ours[1:])
}

// withdraw removes the comment that this run created before it could know that a newer one had reported.
func (s *sticky) withdraw(ctx context.Context, ours []forge.Comment, outdated error) error {
	if len(ours) > 1 && slices.ContainsFunc(ours, func(c forge.Comment) bool { return c.ID == s.created.ID }) {
		return errors.Join(outdated, s.remove(ctx, []forge.Comment{s.created}))
	}
	return outdated
}

func (s *sticky) remove(ctx context.Context, comments []forge.Comment) error {
	for _, c := range comments {
		if err := s.forge.DeleteComment(ctx, c.ID); err != nil && !errors.Is(err, forge.ErrNotFound) {
			return err
		}
	}
	return nil
}

// ours are the comments with our mark that our token's user wrote, oldest first. Anybody may write the mark.
func (s *sticky) ours(ctx context.Context) ([]forge.Comment, error) {
	all, err := s.forge.Comments(ctx, s.number)
	if err != nil {
		return nil, err
	}
	marked := slices.DeleteFunc(all, func(c forge.Comment) bool {
		_, ok := parseComment(c.Body)
		return !ok
	})
	if len(marked) == 0 {
		return nil, nil
	}
	login, err := s.forge.Login(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(marked, func(c forge.Comment) bool {
		return !wroteIt(c.Author, c.Bot, login) && (s.created.Author == "" || c.Author != s.created.Author)
	}), nil
}

// jobUsers are the users that the forges write as for a job's own token, which cannot ask who it is.
func wroteIt(author string, bot bool, login string) bool {
	if login != "" {
		return author == login
	}
	return bot || author == "gitea-actions" || author == "forgejo-actions"
}

// sectionsOf are the sections of all comments; of one key, the newest.
func sectionsOf(comments []forge.Comment) []commentSection {
	var out []commentSection
	for _, c := range comments {
		sections, _ := parseComment(c.Body)
		for _, s := range sections {
			i := slices.IndexFunc(out, func(o commentSection) bool { return o.key == s.key })
			switch {
			case i < 0:
				out = append(out, s)
			case !s.made.olderThan(out[i].made):
				out[i] = s
			}
		}
	}
	return out
}

func find(comments []forge.Comment, own commentSection) *forge.Comment {
	for i, c := range comments {
		sections, _ := parseComment(c.Body)
		if slices.ContainsFunc(sections, func(s commentSection) bool { return s.key == own.key && s.made == own.made }) {
			return &comments[i]
		}
	}
	return nil
}

func only(comments []forge.Comment, key string) bool {
	return !slices.ContainsFunc(sectionsOf(comments), func(s commentSection) bool { return s.key != key })
}
