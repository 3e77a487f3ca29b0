#!/usr/bin/env bash
# Everything that is checked without running the program.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

need shellcheck shellcheck
need_go golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$GOLANGCI_LINT_VERSION"
need_go actionlint github.com/rhysd/actionlint/cmd/actionlint "$ACTIONLINT_VERSION"

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
    printf 'not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
    exit 1
fi
go mod tidy -diff
go vet ./...
go vet -tags e2e ./test/e2e/...
go vet -tags gitea ./test/gitea
golangci-lint run ./...
shellcheck entrypoint.sh .ci/run hack/*.sh
actionlint .github/workflows/*.yml examples/workflows/*.yml
