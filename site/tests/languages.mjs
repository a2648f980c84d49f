// SPDX-License-Identifier: Apache-2.0
// Every key, page and lesson exists in every language; messages have the same {places}; keys that components use exist.
// node languages.mjs REPOSITORY
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [repository] = process.argv.slice(2);
const failures = [];
const names = (...parts) => readdirSync(join(repository, ...parts)).filter((name) => name.endsWith('.md')).sort();
const catalogue = (language) => JSON.parse(readFileSync(join(repository, 'site', 'src', 'messages', `${language}.json`), 'utf8'));
const languages = ['en', 'es'];

function same(what, lists) {
  for (const [language, list] of Object.entries(lists)) {
    for (const [other, wanted] of Object.entries(lists)) {
      for (const name of wanted) if (!list.includes(name)) failures.push(`${what} ${name} exists in ${other}, not in ${language}`);
    }
  }
}
const inEach = (list) => Object.fromEntries(languages.map((language) => [language, list(language)]));

const catalogues = inEach(catalogue);
same('the key', inEach((language) => Object.keys(catalogues[language])));
same('the page', inEach((language) => names('site', 'pages', language)));
same('the lesson', inEach((language) => names('learn', language)));
for (const wanted of ['index.md', 'explorer.md', 'stretch.md', 'gpt.md', 'doctor.md', 'results.md']) {
  if (!names('site', 'pages', 'en').includes(wanted)) failures.push(`the page ${wanted} is missing`);
}

const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();
for (const [key, text] of Object.entries(catalogues.en)) {
  const other = catalogues.es[key];
  if (other === undefined) continue;
  if (other.trim() === '') failures.push(`${key} is empty in es`);
  if (places(text) !== places(other)) failures.push(`${key} has other {places} in es: ${other}`);
}

// TypeScript checks keys that are written out; here, that no key is unused.
function sources(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sources(path) : /\.(vue|ts)$/.test(name) ? [readFileSync(path, 'utf8')] : [];
  });
}
const text = [...sources(join(repository, 'site', 'src')), readFileSync(join(repository, 'site', '.vitepress', 'config.ts'), 'utf8')].join('\n');
const stems = [...text.matchAll(/`([a-z.]+)\$\{/g)].map((match) => match[1]);
for (const key of Object.keys(catalogues.en)) {
  if (!text.includes(`'${key}'`) && !stems.some((stem) => stem !== '' && key.startsWith(stem))) failures.push(`${key} is used nowhere`);
}

// Every finding of the linter has a headline.
const linter = ['lint.cpp', 'against.cpp'].map((name) => readFileSync(join(repository, 'src', 'doctor', 'lint', name), 'utf8')).join('\n');
const findings = [...linter.matchAll(/^ +\{"([a-z0-9-]+)", Severity::|"(against-[a-z-]+)"/gm)].map((match) => match[1] ?? match[2]);
if (findings.length < 30) failures.push(`only ${findings.length} findings of the linter were recognised`);
for (const id of findings) if (!(`finding.${id}` in catalogues.en)) failures.push(`the finding ${id} has no headline`);
for (const key of Object.keys(catalogues.en)) {
  if (key.startsWith('finding.') && !findings.includes(key.slice(8))) failures.push(`${key} is no finding of the linter`);
}

for (const failure of failures) console.error(failure);
console.log(failures.length === 0 ? 'languages: every key, page and lesson is in every language' : `languages: ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);
