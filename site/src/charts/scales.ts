// SPDX-License-Identifier: Apache-2.0
// From numbers to places on a chart, and the ticks between.

export interface Scale {
  (value: number): number;
  ticks: number[];
}

function niceStep(span: number, count: number): number {
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  return (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10) * power;
}

export function linearScale(from: number, to: number, start: number, end: number, count = 5): Scale {
  const span = to - from || 1;
  const step = niceStep(span, count);
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to + step * 1e-9; tick += step) {
    ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return Object.assign((value: number) => start + ((value - from) / span) * (end - start), { ticks });
}

export function logScale(from: number, to: number, start: number, end: number, count = 5): Scale {
  const low = Math.log10(from), high = Math.log10(Math.max(to, from * 1.0001));
  const every = Math.max(1, Math.ceil((high - low) / count));
  const ticks: number[] = [];
  for (let power = Math.ceil(low - 1e-9); power <= high + 1e-9; power += every) ticks.push(10 ** power);
  return Object.assign((value: number) => start + ((Math.log10(value) - low) / (high - low)) * (end - start), { ticks });
}

export function extent(lists: ArrayLike<number>[]): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (let i = 0; i < list.length; ++i) {
      if (!Number.isFinite(list[i])) continue;
      low = Math.min(low, list[i]);
      high = Math.max(high, list[i]);
    }
  }
  return low > high ? [0, 1] : [low, high];
}

export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(0).replace('e+', 'e');
  return String(Number(value.toPrecision(4)));
}

/** The path of a line; it is broken where `visible` is false. */
export function linePath(x: ArrayLike<number>, y: ArrayLike<number>, xScale: Scale, yScale: Scale, visible: (x: number, y: number) => boolean): string {
  let text = '', down = false;
  for (let i = 0; i < x.length; ++i) {
    if (visible(x[i], y[i])) text += `${down ? 'L' : 'M'}${xScale(x[i]).toFixed(1)} ${yScale(y[i]).toFixed(1)}`;
    down = visible(x[i], y[i]);
  }
  return text;
}

/** The area between two lines, where both are finite. */
export function bandPath(x: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>, xScale: Scale, yScale: Scale): string {
  const known = Array.from(x, (_, i) => i).filter((i) => Number.isFinite(low[i]) && Number.isFinite(high[i]));
  if (known.length < 2) return '';
  const place = (i: number, y: ArrayLike<number>) => `${xScale(x[i]).toFixed(1)} ${yScale(y[i]).toFixed(1)}`;
  return `M${known.map((i) => place(i, high)).join('L')}L${known.reverse().map((i) => place(i, low)).join('L')}Z`;
}

/** Moves places apart until none is nearer than `distance` to the next, within two bounds where there is room. */
export function spread(places: number[], distance: number, least: number, most: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const result = [...places];
  let free = least;
  for (const i of order) {
    result[i] = Math.max(result[i], free);
    free = result[i] + distance;
  }
  let limit = most;
  for (const i of order.reverse()) {
    result[i] = Math.min(result[i], limit);
    limit = result[i] - distance;
  }
  return result;
}
