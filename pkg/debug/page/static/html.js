// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Markup as tagged templates, and the two things of preact that the page uses. Text in a template is never markup.
import { Component, h, render } from "./lib/preact.mjs";
import htm from "./lib/htm.mjs";

export const html = htm.bind(h);
export { Component, render };
