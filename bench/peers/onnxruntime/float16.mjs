// SPDX-License-Identifier: Apache-2.0
// float16 as the bits of a Uint16Array.

/// Rounds to nearest even. Range: |x| <= 1.
export function toFloat16(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  const exponent = magnitude < 2 ** -14 ? -14 : Math.floor(Math.log2(magnitude));
  const scaled = magnitude * 2 ** (10 - exponent);  // an integer is a float16
  let whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) ++whole;
  // Below 2^-14 `whole` has no leading one, and a carry into the exponent is correct.
  return sign | (whole + (exponent + 14) * 1024);
}

export function fromFloat16(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}
