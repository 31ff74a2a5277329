// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

import { applyFieldOverrides, cacheFieldDisplayNames, dateTime, getFieldDisplayValues, standardTransformers, standardTransformersRegistry, transformDataFrame } from '@grafana/data'
import { BigValue, Icon, PanelChrome, TimeSeries, useTheme2 } from '@grafana/ui'
import { TableNG } from '@grafana/ui/unstable'
import { firstValueFrom } from 'rxjs'
import { query } from './prometheus.js'
import { interpolate } from './variables.js'

const timeZone = 'utc'

const { organizeFieldsTransformer: organize } = standardTransformers
standardTransformersRegistry.setInit(() => [{ id: organize.id, name: organize.name, transformation: async () => organize }])

// What a panel of each type may have. A picture that silently lacks what Grafana would show is worse than none.
const common = ['id', 'type', 'title', 'description', 'datasource', 'gridPos', 'fieldConfig', 'targets']
const known = {
  row: { panel: ['id', 'type', 'title', 'collapsed', 'gridPos', 'panels'] },
  timeseries: { panel: [...common, 'options'], options: ['legend', 'tooltip'], defaults: ['unit', 'min', 'max', 'decimals', 'noValue', 'custom'] },
  stat: { panel: [...common, 'options'], options: ['reduceOptions', 'colorMode', 'graphMode'], defaults: ['unit', 'min', 'decimals', 'thresholds'] },
  table: { panel: [...common, 'transformations'], defaults: ['unit', 'min', 'noValue'] },
}
const knownTarget = ['refId', 'datasource', 'expr', 'legendFormat', 'instant', 'format']

function only(what, object, names) {
  for (const name of Object.keys(object ?? {})) {
    if (!names?.includes(name)) throw new Error(`${what}: ${name} is unknown here`)
  }
}

function check(panel) {
  const may = known[panel.type]
  if (!may) throw new Error(`${panel.title}: the type ${panel.type} is unknown here`)
  only(panel.title, panel, may.panel)
  only(`${panel.title}: options`, panel.options, may.options)
  only(`${panel.title}: defaults`, panel.fieldConfig?.defaults, may.defaults)
  only(`${panel.title}: fieldConfig`, panel.fieldConfig, ['defaults', 'overrides'])
  if (panel.panels?.length) throw new Error(`${panel.title}: collapsed panels are unknown here`)
  for (const { matcher, properties } of panel.fieldConfig?.overrides ?? []) {
    if (panel.type !== 'table' || matcher.id !== 'byName') throw new Error(`${panel.title}: overrides by ${matcher.id} are unknown here`)
    for (const { id } of properties) only(`${panel.title}: overrides`, { [id]: true }, ['custom.width'])
  }
  for (const target of panel.targets ?? []) only(`${panel.title}: target`, target, knownTarget)
  for (const { id } of panel.transformations ?? []) {
    if (id !== organize.id) throw new Error(`${panel.title}: the transformation ${id} is unknown here`)
  }
}

// The defaults that Grafana gives to every panel of the type.
const fieldDefaults = {
  timeseries: { color: { mode: 'palette-classic' } },
  stat: { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }] } },
  table: { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }] } },
}
const lineDefaults = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', spanNulls: false, insertNulls: false,
  showPoints: 'auto', pointSize: 5, stacking: { mode: 'none', group: 'A' }, axisPlacement: 'auto', axisColorMode: 'text', axisBorderShow: false,
  scaleDistribution: { type: 'linear' }, axisCenteredZero: false, hideFrom: { tooltip: false, viz: false, legend: false }, thresholdsStyle: { mode: 'off' },
}

// The data of a panel, or null for a row.
export async function load(panel, variables, interval, theme) {
  check(panel)
  if (panel.type === 'row') return null
  const asked = panel.targets.map((target) => query({ ...target, expr: interpolate(target.expr, variables) }, interval))
  let frames = (await Promise.all(asked)).flat()
  if (panel.transformations) {
    frames = await firstValueFrom(transformDataFrame(panel.transformations, frames, { interpolate: (text) => text }))
  }
  const config = { ...fieldDefaults[panel.type], ...panel.fieldConfig.defaults }
  only(`${panel.title}: custom`, config.custom, ['axisSoftMax'])
  if (panel.type === 'timeseries') config.custom = { ...lineDefaults, ...config.custom }
  for (const { fields } of frames) {
    for (const field of fields) field.config = field.type === 'time' ? { custom: config.custom } : { ...config, ...field.config }
  }
  const fieldConfig = { defaults: config, overrides: [] }
  frames = applyFieldOverrides({ data: frames, fieldConfig, replaceVariables: (text) => text, theme, timeZone })
  cacheFieldDisplayNames(frames)
  for (const { matcher, properties } of panel.fieldConfig.overrides) {
    const field = frames[0].fields.find(({ state }) => state.displayName === matcher.options)
    if (!field) throw new Error(`${panel.title}: there is no column ${matcher.options}`)
    field.config.custom = { ...field.config.custom, width: properties[0].value }
  }
  return frames
}

export function Panel({ panel, frames, interval, width, height }) {
  if (panel.type === 'row') {
    return <div style={{ display: 'flex', alignItems: 'center', gap: 8, height, fontSize: 18, fontWeight: 500 }}><Icon name="angle-down" />{panel.title}</div>
  }
  const Content = { timeseries: Lines, stat: Stat, table: Rows }[panel.type]
  return (
    <PanelChrome title={panel.title} description={panel.description} width={width} height={height} padding={panel.type === 'table' ? 'none' : 'md'}>
      {(innerWidth, innerHeight) => <Content panel={panel} frames={frames} interval={interval} width={innerWidth} height={innerHeight} />}
    </PanelChrome>
  )
}

function Lines({ panel, frames, interval: { from, to }, width, height }) {
  const range = { from: dateTime(from), to: dateTime(to) }
  const legend = { showLegend: true, calcs: [], ...panel.options.legend }
  return <TimeSeries frames={frames} width={width} height={height} timeZone={timeZone} timeRange={{ ...range, raw: range }} legend={legend} options={panel.options} />
}

function Stat({ panel, frames, width, height }) {
  const theme = useTheme2()
  const { reduceOptions, colorMode, graphMode } = panel.options
  const values = getFieldDisplayValues({ data: frames, reduceOptions, fieldConfig: panel.fieldConfig, replaceVariables: (text) => text, theme, timeZone })
  if (values.length !== 1 || graphMode !== 'none') throw new Error(`${panel.title}: ${values.length} values, graph mode ${graphMode}`)
  return <BigValue value={values[0].display} width={width} height={height} theme={theme} colorMode={colorMode} graphMode={graphMode} textMode="auto" count={1} />
}

function Rows({ panel, frames, width, height }) {
  return <TableNG data={frames[0]} width={width} height={height} structureRev={1} fieldConfig={panel.fieldConfig} cellHeight="sm" enableVirtualization={false} />
}
