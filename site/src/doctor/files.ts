// SPDX-License-Identifier: Apache-2.0
// Dropped files: what they are, by content, and how the core gets them. Nothing is sent anywhere.
import type { Locus } from '../../wasm/locus.js';

export type Kind = 'model' | 'npy';
export type Role = 'model' | 'before' | 'after' | 'bias';

export interface Dropped {
  name: string; // as the user knows it
  path: string; // where the core finds it
  kind: Kind;
  role: Role;
}

// Metadata and tensor directory of a GGUF file, with the largest vocabularies.
const headBytes = 64 << 20;

async function bytesOf(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}
const starts = (bytes: Uint8Array, text: string) => [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));

/** Puts a file where the core finds it; of a large model file only its head is read. */
export async function stage(core: Locus, file: File, present: Dropped[]): Promise<Dropped> {
  const path = `/${file.name.replace(/[^\w.-]/g, '_') || 'file'}`;
  const first = await bytesOf(file.slice(0, 16));
  if (starts(first, '\x93NUMPY')) {
    core.writeFile(path, await bytesOf(file));
    return { name: file.name, path, kind: 'npy', role: roleOf(file.name, present) };
  }
  core.writeFile(path, await bytesOf(file.slice(0, headBytes)), file.size);
  return { name: file.name, path, kind: 'model', role: 'model' };
}

function roleOf(name: string, present: Dropped[]): Role {
  if (/bias/i.test(name)) return 'bias';
  if (/after|rot|post|out/i.test(name)) return 'after';
  if (/before|pre|raw|in\b/i.test(name)) return 'before';
  return present.some((one) => one.role === 'before') ? 'after' : 'before';
}
