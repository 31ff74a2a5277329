#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the release of the checked-out commit twice, here and in a clone, with a key made for it, and compares the results
# byte by byte. Then it verifies them with the commands of docs/releases.md. dist has the result, from which
# make e2e ARGS=-dist=dist installs.
#
#   hack/release-check.sh v0.2.0
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

version="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Now: both are of one commit, whatever is committed meanwhile.
git clone --quiet "$root" "$work/clone"

# cosign pins its dependencies in its own go.sum, and is pinned here. It is no module under hack/tools, because its dependencies
# are several times those of everything else here.
module="$(cd "$work" && go mod download -json github.com/sigstore/cosign/v3@v3.0.4)"
field() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" <<<"$module"; }
if [[ "$(field Sum)" != "h1:SuEn9z8V0eyjF0PWxuGgQ7QSPWReNexLJovkZ3wLaf8=" ]]; then
  echo "release-check: cosign has the hash $(field Sum), which is not the one that this script pins" >&2
  exit 1
fi
CGO_ENABLED=0 go -C "$(field Dir)" build -mod=readonly -trimpath -o "$work/cosign" ./cmd/cosign
cosign() { "$work/cosign" "$@"; }
go -C hack/release build -buildvcs=false -o "$work/release" .

export COSIGN_PASSWORD="check"
(cd "$work" && cosign generate-key-pair)
COSIGN_PRIVATE_KEY="$(cat "$work/cosign.key")"
export COSIGN_PRIVATE_KEY

"$work/release" -version="$version" "${@:2}"
"$work/release" -version="$version" "${@:2}" -root="$work/clone" -dist="$work/dist"
diff --recursive dist "$work/dist"
echo "release-check: two runs are byte-identical"

cd dist
cosign verify-blob --key "$work/cosign.pub" --private-infrastructure --bundle SHA256SUMS.sigstore.json SHA256SUMS
sha256sum --check --quiet SHA256SUMS
cosign verify-blob-attestation --key "$work/cosign.pub" --private-infrastructure --type slsaprovenance1 \
  --bundle provenance.intoto.json.sigstore.json SHA256SUMS
# What accepts everything verifies nothing.
sed '1s/^./x/' SHA256SUMS >"$work/SHA256SUMS"
if cosign verify-blob --key "$work/cosign.pub" --private-infrastructure --bundle SHA256SUMS.sigstore.json "$work/SHA256SUMS" 2>/dev/null ||
  cosign verify-blob-attestation --key "$work/cosign.pub" --private-infrastructure --type slsaprovenance1 \
    --bundle provenance.intoto.json.sigstore.json "$work/SHA256SUMS" 2>/dev/null; then
  echo "release-check: cosign accepts checksums that were changed" >&2
  exit 1
fi
echo "release-check: checksums, signatures and provenance are valid"
ls -l
