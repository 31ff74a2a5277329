// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// hack/site/main.go sets the environment: where the pages are, and what they are about.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'

const need = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; run make site`)
  return value
}
const pages = need('SITE_PAGES')
const version = need('SITE_VERSION')
const base = need('SITE_BASE')
const sidebar = JSON.parse(readFileSync(join(pages, 'navigation.json'), 'utf8'))

// As GitHub makes an anchor of a heading, so that links to it work there and here.
const slugify = (heading: string): string =>
  heading.toLowerCase().trim().replace(/[^a-z0-9 _-]/g, '').replaceAll(' ', '-')

// A browser enforces what the documents promise: nothing comes from another server. The one script in a page, which chooses the
// colours before anything is drawn, and styles in diagrams are inline.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:"

export default defineConfig({
  title: 'Fairlead',
  titleTemplate: `:title | Fairlead ${version}`,
  description: 'One Application, everything it needs, and you can see why.',
  lang: 'en',
  base,
  srcDir: pages,
  outDir: need('SITE_OUT'),
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  markdown: {
    anchor: { slugify },
    config(md) {
      // The documents have no emoji; `:8080:` is none.
      md.disable('emoji')
      // A diagram is drawn in the browser.
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, index, options, env, self) =>
        tokens[index].info.trim() === 'mermaid'
          ? `<Diagram text="${encodeURIComponent(tokens[index].content)}" />\n`
          : fence(tokens, index, options, env, self)
    },
    codeTransformers: [
      {
        // The lines of a page about a file are anchors: plan.go.html#L42.
        name: 'lines',
        line(node, line) {
          if (this.options.meta?.__raw?.includes('lines')) node.properties.id = `L${line}`
        },
      },
    ],
  },
  themeConfig: {
    nav: [
      ...sidebar.map((chapter: { text: string; items: { link: string }[] }) => ({ text: chapter.text, link: chapter.items[0].link })),
      { text: version, items: [{ text: 'All versions', link: '/versions.html', target: '_self', noIcon: true }] },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        _render(text, env, md) {
          const rendered = md.render(text, env)
          return env.frontmatter?.search === false ? '' : rendered
        },
      },
    },
    docFooter: { prev: 'Previous', next: 'Next' },
    footer: { message: 'Licensed under the Apache License 2.0.' },
  },
})
