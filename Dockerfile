# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# The image of fairlead-controller and fairlead-apiserver: two static files, and nothing to keep up to date beside them.
# `make image` builds it. It runs the controller unless told otherwise.
#
# The compiler runs on the platform of the builder and compiles for that of the image, so that another architecture
# needs no emulation: docker buildx build --platform=linux/amd64,linux/arm64 .
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a AS build
WORKDIR /src
COPY . .
# Where modules come from; go.sum says what they must be.
ARG GOPROXY=https://proxy.golang.org,direct
# As `hack/build.sh --ldflags` prints them, since .git is not in the context. Without them the version is v0.0.0-master.
ARG LDFLAGS="-s -w"
ARG TARGETOS
ARG TARGETARCH
# GOTOOLCHAIN: the image's own compiler or none, so that the same Dockerfile compiles with the same compiler.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOTOOLCHAIN=local GOOS="$TARGETOS" GOARCH="$TARGETARCH" \
    go build -trimpath -buildvcs=false -ldflags "$LDFLAGS" -o /out/ ./cmd/fairlead-controller ./cmd/fairlead-apiserver

# No shell, no package manager, no certificates: the API server's CA comes with the service account, and nothing else is
# spoken to.
FROM scratch
ARG VERSION=""
ARG REVISION=""
ARG CREATED=""
LABEL org.opencontainers.image.title="fairlead-controller" \
      org.opencontainers.image.description="The Fairlead operator: one Application, everything it needs." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
COPY --from=build /out/ /
# A number, so that kubelet can tell that it is not root.
USER 65532:65532
ENTRYPOINT ["/fairlead-controller"]
