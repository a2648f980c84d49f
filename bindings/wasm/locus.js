// SPDX-License-Identifier: Apache-2.0
// Locus in JavaScript; locus.d.ts describes it. `factory` is the default export of locus_core.mjs.

const chosen = (encoding) =>
  typeof encoding === 'string'
    ? { spelling: encoding, layerType: '', length: 0 }
    : { spelling: encoding.spelling, layerType: encoding.layerType ?? '', length: encoding.length ?? 0 };

// The module returns { error } where C++ threw.
function unwrap(result) {
  if (result !== null && typeof result === 'object' && 'error' in result) throw new Error(result.error);
  return result;
}

function optionWords(options) {
  const words = [];
  for (const [name, value] of Object.entries(options)) {
    const option = '--' + name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
    if (value === undefined || value === null || value === '' || value === false) continue;
    if (value === true) words.push(option);
    else words.push(`${option}=${Array.isArray(value) ? value.join(',') : value}`);
  }
  return words;
}

export async function loadLocus(factory, moduleOptions = {}) {
  const module = await factory(moduleOptions);

  const command = (words) => unwrap(module.command(words));
  const json = (words) => {
    const { code, output, errors } = command([...words, '--json']);
    if (code === 2) throw new Error(JSON.parse(errors.trim().split('\n').pop()).error);
    return JSON.parse(output);
  };
  const encodingWords = (encoding) => {
    const { spelling, layerType, length } = chosen(encoding);
    return optionWords({ scheme: spelling, layerType, seqLen: length || undefined });
  };

  return {
    target: module.target(),
    command,
    registry: () => json(['list']),
    range: (encoding) => unwrap(module.range(chosen(encoding))),
    rows: (encoding, positions) => unwrap(module.rows(chosen(encoding), positions)),
    similarity: (encoding, positions) => unwrap(module.similarity(chosen(encoding), positions)),
    bias: (encoding, queries, keys) => unwrap(module.bias(chosen(encoding), queries, keys)),
    buckets: (encoding, queries, keys) => unwrap(module.buckets(chosen(encoding), queries, keys)),
    rotate: (encoding, { data, positions, heads = 1, role = 'query', inverse = false }) =>
      unwrap(module.rotate(chosen(encoding), { data, positions, heads, role, inverse })),
    attend: (encoding, request) => unwrap(module.attend(chosen(encoding), completed(request))),
    scores: (encoding, request) => unwrap(module.scores(chosen(encoding), completed(request))),
    show: (encoding, options = {}) => json(['show', ...encodingWords(encoding), ...optionWords(options)]),
    lint: (path, options = {}) => json(['lint', path, ...optionWords(options)]),
    diagnose: (options) => json(['diagnose', ...optionWords(options)]),
    figures: () => json(['plot', '--list']).figures,
    figure: (name, options = {}) => json(['plot', name, ...optionWords(options)]),
    resultCharts: (path, options = {}) => json(['plot', '--list', '--results', path, ...optionWords(options)]).results,
    results: (path, language = 'en') => JSON.parse(unwrap(module.results(path, language))),
    phrase: (english, language) => unwrap(module.phrase(english, language)),
    fault: (id, language = 'en') => unwrap(module.fault(id, language)),
    writeFile(path, bytes, wholeSize = bytes.length) {
      const note = path + '.unread';
      module.FS.writeFile(path, bytes);
      if (wholeSize > bytes.length) module.FS.writeFile(note, String(wholeSize - bytes.length));
      else if (module.FS.analyzePath(note).exists) module.FS.unlink(note);
      module.forget();
    },
    removeFile(path) {
      module.FS.unlink(path);
      module.forget();
    },
  };
}

function completed(request) {
  const { query, key, value, queryPositions, heads = 1, keyHeads = heads, causal = false } = request;
  return { query, key, value: value ?? key, queryPositions, keyPositions: request.keyPositions ?? queryPositions, heads,
           keyHeads, causal };
}
