# shellcheck shell=bash disable=SC2034 # the versions are used by the scripts that source this
# The tools that the checks need, with their versions. Sourced by the scripts beside it; installs what is missing.

ACTIONLINT_VERSION=v1.7.12
ACT_VERSION=v0.2.89
GOLANGCI_LINT_VERSION=v2.15.0

tools_dir=${XDG_CACHE_HOME:-$HOME/.cache}/gitopsctr/tools

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# need COMMAND PACKAGE: installs Debian's PACKAGE unless COMMAND is there.
need() {
    command -v "$1" >/dev/null && return
    echo "installing $2" >&2
    if ! as_root apt-get update -qq >&2 ||
        ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "$2" >&2 ||
        ! command -v "$1" >/dev/null; then
        echo "$1 is missing and the package $2 could not be installed; install it by hand" >&2
        return 1
    fi
}

# need_go NAME PACKAGE VERSION: builds a Go tool in a folder of its own, and puts it first on PATH.
need_go() {
    local bin=$tools_dir/$1-$3
    if [ ! -x "$bin/$1" ]; then
        echo "building $1 $3" >&2
        GOBIN=$bin GOFLAGS=-mod=mod go install "$2@$3" || return
    fi
    export PATH="$bin:$PATH"
}

# need_terraform: terraform or tofu; where there is neither, OpenTofu of the version that the image ships.
need_terraform() {
    command -v terraform >/dev/null && return
    command -v tofu >/dev/null && return
    local version bin
    version=$(sed -n 's/^ARG TOFU_VERSION=//p' Dockerfile)
    bin=$tools_dir/tofu-$version
    if [ ! -x "$bin/tofu" ]; then
        echo "building OpenTofu $version; this takes some minutes, once" >&2
        mkdir -p "$bin"
        sh hack/build-tofu.sh "$version" "$bin/tofu" || return
    fi
    export PATH="$bin:$PATH"
}
