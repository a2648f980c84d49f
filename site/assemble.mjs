// SPDX-License-Identifier: Apache-2.0
// Puts everything that the site is made of into one folder, which VitePress builds.
// node assemble.mjs REPOSITORY WASM_PACKAGE FOLDER
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [repository, wasm, folder] = process.argv.slice(2);
const from = (...parts) => join(repository, ...parts);
const to = (...parts) => join(folder, ...parts);

// Text outside of code in which Vue would see markup of its own.
function forVue(text) {
  let fenced = false;
  return text.split('\n').map((line) => {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    if (fenced) return line;
    return line.split(/(`[^`]*`)/).map((part) => (part.startsWith('`')
      ? part.includes('{{') ? `<code v-pre>${escaped(part.slice(1, -1))}</code>` : part
      : part.replaceAll('{{', '&#123;&#123;').replace(/<(?=[A-Za-z_]+>)(?!\/?(?:details|summary|br|sub|sup|a|em|strong|code|p|div|table|img)\b)/g, '&lt;'))).join('');
  }).join('\n');
}
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('{', '&#123;');

function copyMarkdown(source, target) {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    const path = join(source, name);
    if (statSync(path).isDirectory()) continue;
    // Documents are the guide here.
    if (name.endsWith('.md')) writeFileSync(join(target, name), forVue(readFileSync(path, 'utf8').replaceAll('](../../docs/', '](/guide/')));
    else if (/\.(svg|png)$/.test(name)) cpSync(path, join(target, name));
  }
}

for (const name of ['.vitepress', 'src', 'pages', 'public', 'wasm']) rmSync(to(name), { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of ['.vitepress', 'src', 'public', 'tsconfig.json', 'environment.d.ts', 'package.json', 'package-lock.json']) {
  cpSync(from('site', name), to(name), { recursive: true });
}
cpSync(wasm, to('wasm'), { recursive: true });
cpSync(from('site', 'pages', 'en'), to('pages'), { recursive: true });
cpSync(from('site', 'pages', 'es'), to('pages', 'es'), { recursive: true });
copyMarkdown(from('docs'), to('pages', 'guide'));
copyMarkdown(from('docs', 'guide'), to('pages', 'guide', 'guide'));
copyMarkdown(from('learn', 'en'), to('pages', 'learn'));
copyMarkdown(from('learn', 'es'), to('pages', 'es', 'learn'));

mkdirSync(to('pages', 'public'), { recursive: true });
cpSync(from('docs', 'results', 'results.json'), to('pages', 'public', 'results.json'));  // the reference run
cpSync(from('site', 'public'), to('pages', 'public'), { recursive: true });
