#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Looks for known vulnerabilities in the code that the commands call, with the database of GOVULNDB: https://vuln.go.dev, or
# file:///path of a copy.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

if [[ -z "${GOVULNDB:-}" ]]; then
  echo "###############################################################################################"
  echo "# NOT RUN: govulncheck has no database. Set GOVULNDB=https://vuln.go.dev, or to a copy of it. #"
  echo "###############################################################################################"
  exit
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -buildvcs=false -modfile=hack/tools/govulncheck/go.mod -o "$work/govulncheck" golang.org/x/vuln/cmd/govulncheck

status=0
for main in cmd/*/main.go; do
  directory="$(dirname "$main")"
  echo ">> $directory"
  # -C: a command may be a module of its own.
  "$work/govulncheck" -C "$directory" -db "$GOVULNDB" . || status=1
done
exit "$status"
