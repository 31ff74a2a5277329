# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# Shows how far `go build -v` is: it names each package whose compilation begins, and none that Go's cache has. What is
# not the name of a package is a message, and is passed on.
progress() {
  local what="$1" line count=0 shown=false
  while IFS= read -r line; do
    if [[ ! "$line" =~ ^[A-Za-z0-9._/~-]+$ ]]; then
      printf '%s\n' "$line"
      continue
    fi
    count=$((count + 1))
    if [[ -t 1 ]]; then
      printf '\r   %s: %d packages compiled ' "$what" "$count"
      shown=true
    elif ((count % 200 == 0)); then
      printf '   %s: %d packages compiled\n' "$what" "$count"
    fi
  done
  if [[ "$shown" == true ]]; then
    printf '\n'
  fi
}
