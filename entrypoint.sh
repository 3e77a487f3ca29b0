#!/bin/bash
# Prepares what a container action lacks, then becomes gitopsctr: exec, so that the runner's signals reach it directly.
#
# It has to be bash: inputs come as variables like INPUT_GITHUB-TOKEN, and dash, Debian's sh, drops from the environment
# every name that is no identifier.
#
#   no arguments   run the Action: inputs from INPUT_*, outputs to GITHUB_OUTPUT
#   arguments      run that command of the CLI: docker run … IMAGE status --environment dev
set -eu

# The runner sets HOME to a folder it mounts. Elsewhere it may be unset, or belong to another user (docker run --user).
if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then
    HOME=$(mktemp -d)
    export HOME
fi

# The workspace belongs to the runner's user while the container runs as root; git refuses such a repository otherwise.
# Only this one folder is trusted, and only once: HOME lives on between the steps of a job.
if [ -n "${GITHUB_WORKSPACE:-}" ] &&
    ! git config --global --get-all safe.directory | grep -Fqx -e "$GITHUB_WORKSPACE"; then
    git config --global --add safe.directory "$GITHUB_WORKSPACE"
fi

if [ "$#" -eq 0 ]; then
    set -- action
fi
exec gitopsctr "$@"
