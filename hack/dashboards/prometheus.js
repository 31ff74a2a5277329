// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

import { createDataFrame, FieldType } from '@grafana/data'

// Grafana never asks for a rate over less than four scrapes, nor for more points than a panel has pixels.
export function intervalOf({ from, to, scrape }) {
  const step = Math.max(scrape, Math.ceil((to - from) / 1000 / 400))
  return { from, to, step, rate: Math.max(step + scrape, 4 * scrape) }
}

async function ask(path, parameters) {
  const response = await fetch(`/api/v1/${path}?${new URLSearchParams(parameters)}`)
  const answer = await response.json()
  if (answer.status !== 'success' || answer.warnings) {
    throw new Error(`${parameters.query ?? path}: ${answer.error ?? answer.warnings}`)
  }
  return answer.data
}

export const labelValues = (selector, label, { from, to }) =>
  ask(`label/${label}/values`, { 'match[]': selector, start: from / 1000, end: to / 1000 })

// The frames of a target, as the data source of Grafana makes them. No series is an error: a panel without a line shows nothing.
export async function query({ refId, expr, legendFormat, instant, format }, interval) {
  const { from, to, step } = interval
  const { result } = instant
    ? await ask('query', { query: expr, time: to / 1000 })
    : await ask('query_range', { query: expr, start: from / 1000, end: to / 1000, step })
  if (result.length === 0) throw new Error(`no series: ${expr}`)
  if (instant !== (format === 'table') && (instant || format)) throw new Error(`instant and format differ: ${expr}`)
  return instant ? [tableOf(refId, result)] : result.map((series) => seriesOf(refId, legendFormat, series, interval))
}

// A quantile of nothing is NaN, which no axis has.
const numberOf = (text) => (Number.isFinite(Number(text)) ? Number(text) : null)

function seriesOf(refId, legendFormat, { metric, values }, { from, to, step }) {
  const found = new Map(values.map(([time, value]) => [Math.round(time * 1000), numberOf(value)]))
  const times = []
  for (let time = from; time <= to; time += step * 1000) times.push(time)
  const name = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? label)
  return createDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: times },
      // Where there is no sample the line is interrupted.
      { name: 'Value', type: FieldType.number, labels: metric, values: times.map((time) => found.get(time) ?? null), config: { displayNameFromDS: name } },
    ],
  })
}

function tableOf(refId, result) {
  const labels = [...new Set(result.flatMap(({ metric }) => Object.keys(metric)))].sort()
  return createDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: result.map(({ value }) => value[0] * 1000) },
      ...labels.map((label) => ({ name: label, type: FieldType.string, values: result.map(({ metric }) => metric[label] ?? '') })),
      { name: 'Value', type: FieldType.number, values: result.map(({ value }) => Number(value[1])) },
    ],
  })
}
