// SPDX-License-Identifier: Apache-2.0
// Dropped files: what they are, by content, and how the core gets them. Nothing is sent anywhere.
import type { Locus } from '../../wasm/locus.js';
import { textOf } from '../core';

export type Kind = 'model' | 'npy';
export type Role = 'model' | 'against' | 'before' | 'after' | 'bias';

export interface Dropped {
  name: string; // as the user knows it
  path: string; // where the core finds it
  kind: Kind;
  role: Role;
}

const firstHead = 64 << 10, largestHead = 64 << 20; // the directory of a GGUF file, with the largest vocabularies

async function bytesOf(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}
const starts = (bytes: Uint8Array, text: string) => [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));

/** The bytes of a safetensors file up to its data: eight bytes of length, then a JSON object of that length. */
function safetensorsHead(first: Uint8Array): number | null {
  if (first.length < 9 || first[8] !== 0x7b) return null;
  const length = new DataView(first.buffer).getBigUint64(0, true);
  return length < BigInt(largestHead) ? 8 + Number(length) : null;
}

/** Gives the core the head of a GGUF file: as little of it as holds its settings and its directory of tensors. */
async function stageGguf(core: Locus, file: File, path: string): Promise<void> {
  for (let size = firstHead; ; size *= 4) {
    core.writeFile(path, await bytesOf(file.slice(0, size)), file.size);
    if (size >= Math.min(file.size, largestHead)) return;
    try {
      core.lint(path);
      return;
    } catch {
      // The directory is longer, or the file is broken, which the largest head shows.
    }
  }
}

/** Puts a file where the core finds it. Of a model only the head is read, by File.slice; dumps and configs are read whole. */
export async function stage(core: Locus, file: File, present: Dropped[]): Promise<Dropped> {
  const path = `/${file.name.replace(/[^\w.-]/g, '_') || 'file'}`;
  const first = await bytesOf(file.slice(0, 16));
  if (starts(first, '\x93NUMPY')) {
    core.writeFile(path, await bytesOf(file));
    return { name: file.name, path, kind: 'npy', role: roleOf(file.name, present) };
  }
  const head = safetensorsHead(first);
  if (starts(first, 'GGUF')) await stageGguf(core, file, path);
  else core.writeFile(path, await bytesOf(file.slice(0, head ?? largestHead)), file.size);
  try {
    core.lint(path); // a file that cannot be read is refused before it joins the others
  } catch (problem) {
    throw new Error(textOf(problem).replaceAll(path, file.name));
  }
  // A second model of another name is compared with the first.
  const model = present.find((one) => one.role === 'model');
  return { name: file.name, path, kind: 'model', role: model && model.path !== path ? 'against' : 'model' };
}

function roleOf(name: string, present: Dropped[]): Role {
  if (/bias/i.test(name)) return 'bias';
  if (/after|rot|post|out/i.test(name)) return 'after';
  if (/before|pre|raw|in\b/i.test(name)) return 'before';
  return present.some((one) => one.role === 'before') ? 'after' : 'before';
}
