#!/usr/bin/env bash
# Runs a command with a Docker daemon: with-docker.sh COMMAND [ARGUMENT…]
# Uses the one that runs, or else starts one and stops it after the command, whatever came of that.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/tools.sh
. hack/tools.sh

if docker info >/dev/null 2>&1; then
    exec "$@"
fi

need dockerd docker.io
if [ "$(id -u)" -ne 0 ]; then
    echo "with-docker.sh: no Docker daemon runs, and only root can start one here; start Docker first" >&2
    exit 1
fi

work=$(mktemp -d)
dockerd --pidfile "$work/pid" >"$work/log" 2>&1 &
daemon=$!

# shellcheck disable=SC2317,SC2329 # called by the trap
stop() {
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT

for _ in $(seq 60); do
    docker info >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || break
    sleep 1
done
if ! docker info >/dev/null 2>&1; then
    tail -n 20 "$work/log" >&2
    echo "with-docker.sh: the Docker daemon did not start" >&2
    exit 1
fi

"$@"
