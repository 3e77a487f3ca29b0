#!/usr/bin/env bash
# The Action as a whole: builds the image, runs the example workflows in it with act. Arguments go to go test.
# GITOPSCTR_E2E_IMAGE=NAME tests that image instead of building one.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

need git git
need_go act github.com/nektos/act "$ACT_VERSION"

bash hack/with-docker.sh bash -c '
    set -euo pipefail
    bash hack/base-images.sh
    go test -tags e2e -count=1 -timeout 40m "$@" ./test/e2e/...
' e2e "$@"
