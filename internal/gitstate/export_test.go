package gitstate

import "context"

// DirtyWithoutGit is Dirty as it works where Git is not installed.
func DirtyWithoutGit(ctx context.Context, s *Store) (bool, error) { return s.dirtyWithoutGit(ctx) }

// ListFilesWithoutGit is the list of WorktreeFiles as it is made where Git is not installed.
func ListFilesWithoutGit(ctx context.Context, s *Store) ([]string, error) {
	return s.workspace.listFilesWithoutGit(ctx)
}
