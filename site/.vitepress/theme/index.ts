// SPDX-License-Identifier: Apache-2.0
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import 'katex/dist/katex.min.css';
import DoctorPage from '../../src/doctor/DoctorPage.vue';
import ExplorerPage from '../../src/explorer/ExplorerPage.vue';
import GptPage from '../../src/gpt/GptPage.vue';
import HomePage from '../../src/HomePage.vue';
import ResultsPage from '../../src/results/ResultsPage.vue';
import StretchPage from '../../src/stretch/StretchPage.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app, siteData }) {
    if (!import.meta.env.SSR && import.meta.env.PROD && 'serviceWorker' in navigator) {
      // Without it the site works too, only not offline.
      navigator.serviceWorker.register(`${siteData.value.base}offline.js`).catch(() => undefined);
    }
    app.component('HomePage', HomePage);
    app.component('ExplorerPage', ExplorerPage);
    app.component('StretchPage', StretchPage);
    app.component('GptPage', GptPage);
    app.component('DoctorPage', DoctorPage);
    app.component('ResultsPage', ResultsPage);
  },
} satisfies Theme;
