// SPDX-License-Identifier: Apache-2.0
import type { ProbeModel } from '../../wasm/probe.js';

/** One of the models side by side. */
export interface Lane {
  scheme: string;
  title: string;
  model: ProbeModel;
  /** Index of its colour in all drawings. */
  colour: number;
}
