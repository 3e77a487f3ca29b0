#!/bin/sh
# Builds OpenTofu from its published Go module: build-tofu.sh VERSION OUTPUT
#
# OpenTofu's go.mod has a replace directive, so `go install …@version` refuses it. The module is
# downloaded (and checked against the checksum database) like any dependency, copied out of the
# read-only module cache, and built there with its own go.sum.
set -eu

version=$1
output=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

module=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "github.com/opentofu/opentofu@$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
if [ -z "$module" ]; then
    echo "build-tofu.sh: the module of OpenTofu $version could not be downloaded" >&2
    exit 1
fi

cp -R "$module" "$work/source"
chmod -R u+w "$work/source"

# version.dev=no: a release build; without it the binary calls itself a "-dev" prerelease.
cd "$work/source"
CGO_ENABLED=0 GOFLAGS='' go build -trimpath -buildvcs=false \
    -ldflags '-s -w -X github.com/opentofu/opentofu/version.dev=no' \
    -o "$output" ./cmd/tofu
