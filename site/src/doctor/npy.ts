// SPDX-License-Identifier: Apache-2.0
// A float32 array as a .npy file, for the examples.

export function npyBytes(shape: number[], numbers: Float32Array): Uint8Array {
  const magic = '\x93NUMPY\x01\x00';
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  header = header.padEnd(Math.ceil((magic.length + 2 + header.length + 1) / 64) * 64 - magic.length - 3) + '\n';
  const bytes = new Uint8Array(magic.length + 2 + header.length + numbers.byteLength);
  const put = (text: string, at: number) => { for (let i = 0; i < text.length; ++i) bytes[at + i] = text.charCodeAt(i); };
  put(magic, 0);
  bytes[magic.length] = header.length & 255;
  bytes[magic.length + 1] = header.length >> 8;
  put(header, magic.length + 2);
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), magic.length + 2 + header.length);
  return bytes;
}
