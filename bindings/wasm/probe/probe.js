// SPDX-License-Identifier: Apache-2.0
// The probe in JavaScript; probe.d.ts describes it. `factory` is the default export of locus_probe.mjs.

// The module returns { error } where C++ threw.
function unwrap(result) {
  if (result !== null && typeof result === 'object' && 'error' in result) throw new Error(result.error);
  return result;
}

const completed = ({ encoding = 'own', firstPosition = 0, queryAhead = 0 } = {}) => ({ encoding, firstPosition, queryAhead });

export async function loadProbe(factory, moduleOptions = {}) {
  const module = await factory(moduleOptions);

  return {
    target: module.target(),
    rules: () => module.rules(),
    open(name, bytes) {
      const { number, ...facts } = unwrap(module.open(name, bytes));
      return {
        ...facts,
        encode: (text) => unwrap(module.encode(number, text)),
        losses: (text, how) => unwrap(module.losses(number, text, completed(how))),
        attention: (text, how) => unwrap(module.attention(number, text, completed(how))),
        *write(text, how) {
          unwrap(module.begin(number, text, completed(how)));
          for (let next = unwrap(module.next(number)); next !== null; next = unwrap(module.next(number))) yield next;
        },
        close: () => module.close(number),
      };
    },
  };
}
