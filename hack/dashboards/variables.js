// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

import { labelValues } from './prometheus.js'

// The variables of a dashboard, each with the text that a person sees and the value that a query gets. All is chosen wherever
// it can be, as in a dashboard that was just opened.
export async function resolveVariables(dashboard, interval) {
  const variables = [{ name: '__rate_interval', value: `${interval.rate}s` }]
  for (const { name, type, label, query, includeAll, allValue } of dashboard.templating.list) {
    if (type === 'datasource') {
      variables.push({ name, label, text: 'Prometheus', value: 'prometheus' })
      continue
    }
    const asked = type === 'query' && includeAll && /^label_values\((.+), *(\w+)\)$/.exec(query.query)
    if (!asked) throw new Error(`the variable ${name} is of an unknown kind: ${JSON.stringify(query)}`)
    const values = await labelValues(interpolate(asked[1], variables), asked[2], interval)
    if (values.length === 0) throw new Error(`the variable ${name} has no value`)
    variables.push({ name, label, text: 'All', value: allValue ?? `(${values.join('|')})` })
  }
  return variables
}

// A text with its variables replaced: $name or ${name}.
export function interpolate(text, variables) {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (match, braced, plain) => {
    const variable = variables.find(({ name }) => name === (braced ?? plain))
    if (!variable) throw new Error(`${match} is unknown in ${text}`)
    return variable.value
  })
}
