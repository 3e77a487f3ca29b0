#!/usr/bin/env bash
# Makes sure that the Dockerfile's base images are there: present already, pulled, or, where no registry can be
# reached, made from Debian's packages and this machine's Go under the same name. A stand-in is for tests; never publish
# an image that was built on one.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

# The default of a build argument of the Dockerfile.
default_of() { sed -n "s/^ARG $1=//p" Dockerfile; }

have() { docker image inspect "$1" >/dev/null 2>&1; }

debian_root() { # DIRECTORY SUITE [PACKAGES]
    need debootstrap debootstrap
    # As in the slim images: packages, also those of later layers, bring no documentation.
    mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
    printf 'path-exclude /usr/share/%s/*\n' doc info locale man >"$1/etc/dpkg/dpkg.cfg.d/docker"
    debootstrap --variant=minbase ${3:+--include="$3"} "$2" "$1" >"$1.log" 2>&1 || { tail -n 20 "$1.log" >&2; return 1; }
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,info,locale,man}/*
    # Certificates that this machine trusts beyond Debian's own; without them nothing is reached through its proxy.
    if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
        mkdir -p "$1/usr/local/share/ca-certificates"
        cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/"
        [ ! -x "$1/usr/sbin/update-ca-certificates" ] || chroot "$1" update-ca-certificates >/dev/null 2>&1
    fi
}

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

base=$(default_of BASE_IMAGE)
go=$(default_of GO_IMAGE)

for image in "$base" "$go"; do
    have "$image" || timeout 300 docker pull --quiet "$image" || echo "base-images.sh: $image cannot be pulled; making a stand-in" >&2
done

if ! have "$base"; then
    work=$(mktemp -d)
    suite=${base#*:} # debian:SUITE-DATE-slim
    debian_root "$work/base" "${suite%%-*}"
    tar -C "$work/base" -c . | docker import --change 'CMD ["bash"]' - "$base" >/dev/null
    rm -rf "$work"
fi

if ! have "$go"; then
    work=$(mktemp -d)
    debian_root "$work/go" bookworm ca-certificates
    mkdir -p "$work/go/usr/local"
    cp -R "$(go env GOROOT)" "$work/go/usr/local/go"
    tar -C "$work/go" -c . | docker import \
        --change 'ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
        --change 'ENV GOTOOLCHAIN=local' - "$go" >/dev/null
    rm -rf "$work"
fi
docker image ls --format '{{.Repository}}:{{.Tag}} {{.Size}}' | grep -Fe "$base" -e "$go"
