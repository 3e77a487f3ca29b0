#!/usr/bin/env bash
# The program against a real forge: builds Gitea, once, and runs the test with it. Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

GITEA_VERSION=v1.25.5

need git git
need gcc gcc
need_terraform

# Gitea's module cannot be installed by name, as it replaces some of its dependencies; it is built in a copy of its source.
# The pages' scripts and styles are not in the module: the interface, git and the hooks work without them.
installed=$tools_dir/gitea-$GITEA_VERSION
if [ ! -x "$installed/gitea" ]; then
    echo "building Gitea $GITEA_VERSION; this takes some minutes, once" >&2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && go mod download "code.gitea.io/gitea@$GITEA_VERSION") # elsewhere: it is no dependency of this module
    cp -R "$(go env GOMODCACHE)/code.gitea.io/gitea@$GITEA_VERSION" "$work/source"
    chmod -R u+w "$work/source"
    (
        cd "$work/source"
        CGO_ENABLED=1 GOFLAGS=-buildvcs=false nice go build -tags 'sqlite sqlite_unlock_notify' \
            -ldflags "-s -w -X main.Version=${GITEA_VERSION#v}" -o "$work/gitea" .
    )
    rm -rf "$installed"
    mkdir -p "$installed"
    cp -R "$work/source/options" "$work/source/templates" "$work/source/public" "$installed/"
    mv "$work/gitea" "$installed/gitea"
    rm -rf "$work"
    trap - EXIT
fi

GITOPSCTR_GITEA=$installed go test -tags gitea -count=1 -timeout 10m "$@" ./test/gitea
