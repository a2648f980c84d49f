// SPDX-License-Identifier: Apache-2.0
// The lines of C++ and Python that make the numbers of a view.
import { choiceOf } from './state';

export type View = 'rows' | 'similarity' | 'scores' | 'bias' | 'buckets' | 'frequencies' | 'neighbours';

const isNumber = (text: string) => text !== '' && Number.isFinite(Number(text));
const quoted = (text: string) => (isNumber(text) || text === 'true' || text === 'false' ? text : `"${text}"`);
const pythonValue = (text: string) =>
  text === 'true' ? 'True' : text === 'false' ? 'False' : /^[-\d.e+]+(,[-\d.e+]+)+$/.test(text) ? `[${text}]` : quoted(text);
const cppValue = (text: string) => (/^[-\d.e+]+(,[-\d.e+]+)+$/.test(text) ? `std::vector<double>{${text}}` : quoted(text));

export function codeOf(spelling: string, site: string, view: View, length: number): { python: string; cpp: string } {
  const { scheme, settings } = choiceOf(spelling);
  const given = Object.entries(settings);
  const python = `import locus\nencoding = locus.Encoding("${scheme}"${given.map(([name, value]) => `, ${name}=${pythonValue(value)}`).join('')})\n`;
  const cpp = `const locus::Encoding encoding("${scheme}", {${given.map(([name, value]) => `{"${name}", ${cppValue(value)}}`).join(', ')}});\n`;
  const rotates = site === 'query_key';
  return { python: python + pythonLines(view, rotates, length), cpp: cpp + cppLines(view, rotates, length) };
}

function pythonLines(view: View, rotates: boolean, length: number): string {
  const rows = rotates ? `cos, sin = encoding.rows(range(${length}))` : `rows = encoding.rows(range(${length}))`;
  switch (view) {
    case 'rows': return rows;
    case 'similarity':
      return `import numpy as np\n${rows}\n${rotates ? 'rows = np.hstack([cos, sin])\n' : ''}rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)\nsimilarity = rows @ rows.T`;
    case 'scores':
      return rotates ? `# q [1, 1, 1, dim] is the last token, k [1, ${length}, 1, dim] the same key everywhere\n`
        + `scores = encoding.apply(q, positions=${length - 1}) @ encoding.apply(k, positions=0).swapaxes(1, 3)`
        : '# see locus.attention: queries, keys and values in, positions by `encoding`';
    case 'bias': return `bias = encoding.bias([${length - 1}], range(${length - 1}, -1, -1))`;
    case 'buckets': return `buckets = encoding.buckets([${length - 1}], range(${2 * length - 1}))`;
    case 'frequencies': return 'wavelengths = 2 * 3.141592653589793 / encoding.inv_freq';
    case 'neighbours': return 'norms = locus.figure("neighbours", encoding).spec["data"]["values"]';
  }
}

function cppLines(view: View, rotates: boolean, length: number): string {
  const rows = rotates
    ? `std::vector<float> rows(${length} * 2 * encoding.rotation().pairs());\nlocus::rotation_rows(encoding.rotation(), 0, ${length}, rows.data());`
    : `std::vector<float> row(encoding.hidden().dim);\nfor (locus::Position id = 0; id < ${length}; ++id) locus::hidden_row(encoding.hidden(), id, row);`;
  switch (view) {
    case 'rows':
    case 'similarity': return rows;
    case 'scores': return 'const auto scores = locus::reference::attend(call).scores;  // call.encoding = &encoding';
    case 'bias': return `const auto bias = locus::bias_matrix(encoding, {{${length - 1}}}, keys);`;
    case 'buckets': return `const auto buckets = locus::bucket_matrix(encoding, {{${length - 1}}}, keys);`;
    case 'frequencies': return 'const std::vector<double>& inv_freq = encoding.rotation().inv_freq;';
    case 'neighbours': return 'const std::vector<double>& weight = encoding.hidden().neighbours->weight;  // [dim, dim / groups, kernel]';
  }
}
