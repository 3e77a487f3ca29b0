#!/usr/bin/env bash
# The tests: installs what they need and runs them with the race detector. Arguments go to go test:
#   hack/test.sh              everything
#   hack/test.sh -run Name ./internal/engine
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

need git git
need_terraform

if [ "$#" -eq 0 ]; then
    set -- ./...
fi
exec go test -race "$@"
