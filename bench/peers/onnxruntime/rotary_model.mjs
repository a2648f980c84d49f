// SPDX-License-Identifier: Apache-2.0
// Builds an ONNX model of RotaryEmbedding nodes in a row as protobuf, without a converter or a file.

const varint = (value) => {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  bytes.push(value);
  return Buffer.from(bytes);
};
const integer = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, ...parts) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
};

// The numbers are the fields of onnx.proto.
export const elementTypes = { float32: 1, int64: 7, float16: 10 };

const valueInfo = (field, name, type, shape) => {
  const dims = shape.map((extent) => bytes(1, integer(1, extent)));
  const tensor = bytes(1, integer(1, elementTypes[type]), bytes(2, ...dims));
  return bytes(field, bytes(1, name), bytes(2, tensor));
};
const intAttribute = (name, value) => bytes(5, bytes(1, name), integer(3, value), integer(20, 2));

/// `links` rotations of [1, tokens, heads * headDim] in a row, each of the previous result: x0 -> x<links>.
export function rotaryModel({ type, tokens, heads, headDim, interleaved, links }) {
  const nodes = [];
  for (let i = 0; i < links; ++i) {
    nodes.push(bytes(1, bytes(1, `x${i}`), bytes(1, 'ids'), bytes(1, 'cos'), bytes(1, 'sin'), bytes(2, `x${i + 1}`),
      bytes(4, 'RotaryEmbedding'), intAttribute('interleaved', interleaved ? 1 : 0), bytes(7, 'com.microsoft')));
  }
  const shape = [1, tokens, heads * headDim];
  const graph = bytes(7, ...nodes, bytes(2, 'rotary'),
    valueInfo(11, 'x0', type, shape), valueInfo(11, 'ids', 'int64', [1]),
    valueInfo(11, 'cos', type, [tokens, headDim / 2]), valueInfo(11, 'sin', type, [tokens, headDim / 2]),
    valueInfo(12, `x${links}`, type, shape));
  return Buffer.concat([integer(1, 8), bytes(8, bytes(1, ''), integer(2, 17)),
    bytes(8, bytes(1, 'com.microsoft'), integer(2, 1)), graph]);
}
