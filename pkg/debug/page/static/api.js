// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The URLs of docs/pipeline.md, relative to the page, and nothing else that is asked.

const part = encodeURIComponent;

function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

export const urls = {
  snapshot: () => "v1/snapshot",
  stream: (lastEventId) => `v1/stream${query({ lastEventId })}`,
  keys: (parameters) => `v1/keys${query(parameters)}`,
  key: ({ namespace, name }) => `v1/keys/${part(namespace || "-")}/${part(name)}`,
  queue: (limit) => `v1/queue${query({ limit })}`,
  cache: (resource, parameters) => `v1/cache/${part(resource)}${query(parameters)}`,
  object: (resource, { namespace, name }) => `v1/cache/${part(resource)}/${part(namespace || "-")}/${part(name)}`,
};

/** Asks once. An error is a sentence for people. */
export async function ask(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal, headers: { Accept: "application/json" } });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Error("The controller does not answer.", { cause });
  }
  if (!response.ok) throw Object.assign(new Error(refusal(response.status)), { status: response.status });
  return response.json();
}

/** What an answer means for who sees the page. */
export function refusal(status) {
  switch (status) {
    case 401: return "The controller wants to know who asks: the request has no valid token.";
    case 403: return "This is not shown: the controller keeps it to itself, or you may not see it.";
    case 404: return "Nothing is recorded about this.";
    case 503: return "The controller serves as many viewers as it can, or is not ready.";
    default: return `The controller answers with status ${status}.`;
  }
}
