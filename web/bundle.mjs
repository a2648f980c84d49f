// SPDX-License-Identifier: Apache-2.0
// Bundles the minified builds of the chart packages into one script, with their licences at its head.
// node bundle.mjs NODE_MODULES OUTPUT
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [modules, output] = process.argv.slice(2);
const roots = ['vega', 'vega-lite', 'vega-embed'];
// Used only by the command lines of the packages; not in the builds for browsers.
const notBundled = ['yargs', 'commander', 'iconv-lite', 'rw', 'node-fetch', '@types', '@rollup'];

const manifest = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));

function closure() {
  const found = new Map();
  const waiting = [...roots];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (found.has(name) || notBundled.some((other) => name === other || name.startsWith(other + '/'))) continue;
    const info = manifest(name);
    found.set(name, info);
    waiting.push(...Object.keys(info.dependencies ?? {}));
  }
  return found;
}

function licenceText(name) {
  const folder = join(modules, name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return file ? readFileSync(join(folder, file), 'utf8').trim() : '';
}

// Many packages share one text: each text is written once, under the names of its packages.
function licences(packages) {
  const byText = new Map();
  for (const [name, info] of [...packages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const text = licenceText(name) || `Licence: ${info.license}`;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${info.version} (${info.license})`]);
  }
  return [...byText].map(([text, names]) => `${names.join(', ')}\n\n${text}`).join('\n\n----\n\n');
}

const scripts = roots.map((name) => {
  const file = join(modules, name, 'build', `${name}.min.js`);
  if (!existsSync(file)) {
    console.error(`${file} is missing: configure again to install the packages`);
    process.exit(1);
  }
  // In a page a script ends at the first "</script", which occurs only in strings; there "<\/script" is equivalent.
  return readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/gm, '').replace(/<\/script/gi, '<\\/script');
});
const versions = roots.map((name) => `${name} ${manifest(name).version}`).join(', ');
const head = `/*!\n${licences(closure()).replaceAll('*/', '* /').replaceAll('</', '< /')}\n*/\n`;
const names = `globalThis.locusCharts=${JSON.stringify(versions)};\n`;
writeFileSync(`${output}.part`, head + scripts.join('\n;\n') + '\n;' + names);
renameSync(`${output}.part`, output);
