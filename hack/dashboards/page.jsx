// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Draws a dashboard with Grafana's own components, where Grafana would put them: /?from=…&to=…&scrape=…&width=…, in milliseconds,
// seconds and pixels. The server has the dashboard at /dashboard.json and Prometheus at /api/. In the end <body> has the attribute
// data-state: "drawn", or what went wrong.
import { createTheme, ThemeContext } from '@grafana/data'
import { initPluginTranslations } from '@grafana/i18n'
import { GlobalStyles, InlineField, Select } from '@grafana/ui'
import { Component, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { load, Panel } from './panels.jsx'
import { intervalOf } from './prometheus.js'
import { resolveVariables } from './variables.js'

// Grafana's grid: 24 columns, cells 30 pixels high, 8 pixels between them.
const gap = 8
const cell = 30
const span = (units, size) => units * (size + gap) - gap

const tell = (state) => { document.body.dataset.state ??= state }

class Watch extends Component {
  state = {}
  static getDerivedStateFromError = (error) => ({ error })
  componentDidCatch(error) { tell(String(error)) }
  render() { return this.state.error ? null : this.props.children }
}

function Dashboard({ dashboard, variables, panels, interval, width }) {
  // Two frames later the canvases are painted.
  useEffect(() => { document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => tell('drawn')))) }, [])
  const column = (width + gap) / 24 - gap
  const bottom = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => span(y + h, cell)))
  return (
    <div style={{ padding: 16, width: width + 32 }}>
      <h1 style={{ fontSize: 20, margin: '0 0 12px' }}>{dashboard.title}</h1>
      <div style={{ display: 'flex', gap }}>
        {variables.filter(({ label }) => label).map(({ name, label, text }) => (
          <InlineField key={name} label={label}><Select width="auto" options={[]} value={{ label: text }} onChange={() => {}} /></InlineField>
        ))}
      </div>
      <div style={{ position: 'relative', height: bottom }}>
        {panels.map(({ panel, frames }) => {
          const { x, y, w, h } = panel.gridPos
          const box = { width: span(w, column), height: span(h, cell) }
          return (
            <div key={panel.id} style={{ position: 'absolute', left: x * (column + gap), top: y * (cell + gap), ...box }}>
              <Panel panel={panel} frames={frames} interval={interval} {...box} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

async function draw() {
  await initPluginTranslations('grafana')
  const parameters = Object.fromEntries([...new URLSearchParams(location.search)].map(([name, value]) => [name, Number(value)]))
  const interval = intervalOf(parameters)
  const dashboard = await (await fetch('/dashboard.json')).json()
  const variables = await resolveVariables(dashboard, interval)
  const theme = createTheme({ colors: { mode: 'light' } })
  const panels = await Promise.all(dashboard.panels.map(async (panel) => ({ panel, frames: await load(panel, variables, interval, theme) })))
  createRoot(document.getElementById('root')).render(
    <Watch>
      <ThemeContext.Provider value={theme}>
        <GlobalStyles />
        <Dashboard dashboard={dashboard} variables={variables} panels={panels} interval={interval} width={parameters.width - 32} />
      </ThemeContext.Provider>
    </Watch>,
  )
}

window.addEventListener('error', ({ message }) => tell(message))
window.addEventListener('unhandledrejection', ({ reason }) => tell(String(reason)))
draw().catch((error) => tell(String(error)))
