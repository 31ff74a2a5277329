// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The address contains the selection, so that you can share it and the browser's back button works.

export function hashOf(selected) {
  if (selected?.stage) return `#stage=${encodeURIComponent(selected.stage)}`;
  if (selected?.key) return `#key=${[selected.key.namespace, selected.key.name].map(encodeURIComponent).join("/")}`;
  return "";
}

export function selectedBy(hash) {
  const [what, value] = hash.replace(/^#/, "").split("=", 2);
  if (!value) return null;
  try {
    if (what === "stage") return { stage: decodeURIComponent(value) };
    const [namespace, name] = value.split("/", 2).map(decodeURIComponent);
    if (what === "key" && name) return { key: { namespace, name } };
  } catch {
    // Not an address that this page made.
  }
  return null;
}
