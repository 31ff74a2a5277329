// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Light, dark, or as the system says, which may change while the page is open.

export const themes = ["system", "light", "dark"];
const storage = "fairlead-pipeline-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let chosen = "system";

const apply = () => {
  document.documentElement.dataset.theme = chosen === "system" ? (prefersDark.matches ? "dark" : "light") : chosen;
};
prefersDark.addEventListener("change", apply);

export function applyTheme(theme) {
  chosen = theme;
  apply();
}

/** Storage may be forbidden; then the choice lasts as long as the page. */
export function savedTheme() {
  try {
    const saved = localStorage.getItem(storage);
    return themes.includes(saved) ? saved : "system";
  } catch {
    return "system";
  }
}

export function setTheme(state, theme) {
  state.theme = theme;
  applyTheme(theme);
  try {
    localStorage.setItem(storage, theme);
  } catch {
    // See savedTheme.
  }
}
