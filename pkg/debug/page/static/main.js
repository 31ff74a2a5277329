// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Joins the stream, the state and the page. Messages change the state at once; the page follows at most once per animation
// frame, and for numbers that merely move five times a second: nobody reads faster.
import { html, render } from "./html.js";
import * as model from "./model.js";
import { follow } from "./stream.js";
import { Contents } from "./contents.js";
import { Page } from "./page.js";
import { applyTheme, savedTheme } from "./theme.js";
import { hashOf, selectedBy } from "./address.js";
import { shortcuts } from "./keyboard.js";

const calm = 200;

const root = document.getElementById("page");
const state = model.initialState(Date.now());
state.theme = savedTheme();
state.selected = selectedBy(location.hash);

let drawn = 0;
let asked = false;
let timer;

function draw() {
  asked = false;
  clearTimeout(timer);
  timer = undefined;
  drawn = performance.now();
  render(html`<${Page} state=${state} act=${act} />`, root);
}

/** A person's action is seen in the next frame; a message may wait. A hidden page gets no frames, so it costs nothing. */
function redraw(now = true) {
  if (asked) return;
  const wait = now ? 0 : calm - (performance.now() - drawn);
  if (wait > 0) {
    timer ??= setTimeout(() => { timer = undefined; redraw(); }, wait);
    return;
  }
  asked = true;
  requestAnimationFrame(draw);
}

/** Every change that a person makes goes through here: a function of model.js with its arguments. */
function act(change, ...args) {
  change(state, ...args);
  const hash = hashOf(state.selected);
  if (location.hash !== hash && (hash || location.hash)) history.pushState(null, "", hash || location.pathname);
  contents.look();
  redraw();
}

const contents = new Contents(state, () => redraw());

root.replaceChildren();
applyTheme(state.theme);
addEventListener("popstate", () => act(model.select, selectedBy(location.hash)));
addEventListener("resize", () => redraw());
addEventListener("keydown", (event) => shortcuts(event, state, act));

follow((what, data) => {
  switch (what) {
    case "snapshot": model.takeSnapshot(state, data, Date.now()); break;
    case "delta": model.takeDelta(state, data); break;
    case "live": model.connect(state, "live", Date.now()); break;
    default:
      model.connect(state, "lost", Date.now());
      state.connection.why = data;
  }
  contents.happened(what, data);
  redraw(what !== "delta");
});
redraw();
