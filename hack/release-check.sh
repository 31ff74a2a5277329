#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the release of the checked-out commit twice, here and in a clone, with a key made for it, and compares the results
# byte by byte. Then it verifies them with the commands of docs/releases.md. dist has the result.
#
#   hack/release-check.sh v0.2.0
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

version="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# By version and not as a module under hack/tools: its dependencies are several times those of everything else here.
CGO_ENABLED=0 GOBIN="$work" go install -trimpath github.com/sigstore/cosign/v3/cmd/cosign@v3.0.4
cosign() { "$work/cosign" "$@"; }
go -C hack/release build -buildvcs=false -o "$work/release" .

export COSIGN_PASSWORD="check"
(cd "$work" && cosign generate-key-pair)
COSIGN_PRIVATE_KEY="$(cat "$work/cosign.key")"
export COSIGN_PRIVATE_KEY

"$work/release" -version="$version" "${@:2}"
git clone --quiet "$root" "$work/clone"
"$work/release" -version="$version" "${@:2}" -root="$work/clone" -dist="$work/dist"
diff --recursive dist "$work/dist"
echo "release-check: two runs are byte-identical"

cd dist
cosign verify-blob --key "$work/cosign.pub" --private-infrastructure --bundle SHA256SUMS.sigstore.json SHA256SUMS
sha256sum --check --quiet SHA256SUMS
cosign verify-blob-attestation --key "$work/cosign.pub" --private-infrastructure --type slsaprovenance1 \
  --bundle provenance.intoto.json.sigstore.json SHA256SUMS
echo "release-check: checksums, signatures and provenance are valid"
ls -l
