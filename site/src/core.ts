// SPDX-License-Identifier: Apache-2.0
// The C++ core, loaded once and on first use.
import { shallowRef } from 'vue';
import type { Locus } from '../wasm/locus.js';

let loading: Promise<Locus> | null = null;

export function loadCore(): Promise<Locus> {
  loading ??= (async () => {
    const [{ loadLocus }, { default: factory }, { default: address }] = await Promise.all([
      import('../wasm/locus.js'),
      import('../wasm/locus_core.mjs'),
      import('../wasm/locus_core.wasm?url'),
    ]);
    return loadLocus(factory, { locateFile: () => address });
  })();
  return loading;
}

/** The core for a component: null until it is loaded; `failure` says why it could not be. */
export function useCore() {
  const core = shallowRef<Locus | null>(null);
  const failure = shallowRef('');
  const load = () =>
    loadCore()
      .then((loaded) => { core.value = loaded; })
      .catch((error: unknown) => { failure.value = String(error); });
  return { core, failure, load };
}

export const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
