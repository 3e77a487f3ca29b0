# The image of the Action and of the CLI. Every RUN works with the classic builder as well as with BuildKit, and with
# no network but the Go module proxy and Debian's packages.
#
#   docker build --build-arg VERSION=v1.2.3 -t gitopsctr .
#
# hack/base-images.sh reads the two defaults below to make stand-ins where images cannot be pulled.
ARG GO_IMAGE=golang:1.26.8-bookworm
ARG BASE_IMAGE=debian:trixie-20251117-slim

# OpenTofu first, before any of our files: it takes the longest and changes the least, so its layer stays cached.
FROM ${GO_IMAGE} AS tofu
ARG TOFU_VERSION=v1.12.6
COPY hack/build-tofu.sh /build-tofu.sh
# One layer: what the build downloads and compiles on its way is not kept.
RUN sh /build-tofu.sh "${TOFU_VERSION}" /tofu && rm -rf /root/go /root/.cache /go/pkg

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY *.go ./
COPY examples examples
COPY internal internal
COPY schemas schemas
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gitopsctr/gitopsctr/internal/cli.Version=${VERSION}" \
    -o /gitopsctr .

# What GitHub asks of a container action: root, no WORKDIR (the runner sets it to the workspace), an exec-form
# ENTRYPOINT. No init process: entrypoint.sh execs the binary, which then is PID 1 and handles signals and orphans.
FROM ${BASE_IMAGE}
# git and ssh are for Terraform modules from Git; docker is the client of OciImages, which builds with the engine of the job
# through the socket that the runner mounts. EXTRA_PACKAGES adds more, e.g. "npm" for a provisioner.
ARG EXTRA_PACKAGES=""
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        ca-certificates docker-buildx docker-cli git openssh-client ${EXTRA_PACKAGES} \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/dpkg.log /var/log/apt
COPY --from=tofu /tofu /usr/local/bin/tofu
COPY --from=build /gitopsctr /usr/local/bin/gitopsctr
COPY entrypoint.sh /entrypoint.sh
ENTRYPOINT ["/entrypoint.sh"]
