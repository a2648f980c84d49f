// SPDX-License-Identifier: Apache-2.0
// The strings of the interface, in the language of the page.
import { useData } from 'vitepress';
import { computed } from 'vue';
import type { Language } from '../wasm/locus.js';
import en from './messages/en.json';
import es from './messages/es.json';

export type Key = keyof typeof en;
const catalogues: Record<string, Record<string, string>> = { en, es };

/** Returns t(key, values): `{name}` in a message is replaced by values.name. */
export function useWords() {
  const { lang } = useData();
  const language = computed(() => lang.value.slice(0, 2) as Language);
  const t = (key: Key, values: Record<string, string | number> = {}) =>
    (catalogues[language.value]?.[key] ?? en[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
  // As the library writes them: Spanish groups digits by a narrow space.
  const number = (value: number, digits = 3) =>
    value.toLocaleString('en', { maximumSignificantDigits: digits, useGrouping: Math.abs(value) >= 10000 })
      .replace('-', '−').replaceAll(',', language.value === 'es' ? '\u202f' : ',');
  return { t, number, language };
}
