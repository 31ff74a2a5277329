// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

import DefaultTheme from 'vitepress/theme'
import type { Theme } from 'vitepress'
import Diagram from './Diagram.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Diagram', Diagram)
  },
} satisfies Theme
