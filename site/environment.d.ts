// SPDX-License-Identifier: Apache-2.0
// Modules that TypeScript cannot read by itself.
declare module '*.wasm?url' {
  const address: string;
  export default address;
}
declare module '*/locus_probe.mjs' {
  const factory: (options?: object) => Promise<unknown>;
  export default factory;
}
declare module '*/locus_core.mjs' {
  const factory: (options?: object) => Promise<unknown>;
  export default factory;
}
