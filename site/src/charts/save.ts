// SPDX-License-Identifier: Apache-2.0
// Saves what is drawn, as SVG, PNG or CSV, without a request.

export interface Table {
  columns: string[];
  rows: (string | number)[][];
}

function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const escaped = (cell: string | number) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));

export function saveCsv(name: string, table: Table): void {
  const lines = [table.columns, ...table.rows].map((row) => row.map(escaped).join(','));
  download(`${name}.csv`, new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
}

/** The drawing as one SVG text: an SVG with the colours of the page inside, or a canvas as a picture in an SVG. */
function svgText(box: HTMLElement): { text: string; width: number; height: number } {
  const canvas = box.querySelector('canvas');
  if (canvas) {
    const { width, height } = canvas.getBoundingClientRect();
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" `
      + `height="${height}" style="image-rendering:pixelated" href="${canvas.toDataURL()}"/></svg>`;
    return { text, width, height };
  }
  const original = box.querySelector('svg.drawing') as SVGSVGElement;
  const copy = original.cloneNode(true) as SVGSVGElement;
  const sources = original.querySelectorAll('*'), targets = copy.querySelectorAll('*');
  sources.forEach((source, i) => {
    const style = getComputedStyle(source), target = targets[i] as SVGElement;
    for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family', 'opacity']) {
      target.style.setProperty(name, style.getPropertyValue(name));
    }
  });
  const { width, height } = original.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export function saveSvg(name: string, box: HTMLElement): void {
  download(`${name}.svg`, new Blob([svgText(box).text], { type: 'image/svg+xml' }));
}

export async function savePng(name: string, box: HTMLElement): Promise<void> {
  const { text, width, height } = svgText(box);
  const picture = new Image();
  picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
  await picture.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  const context = canvas.getContext('2d')!;
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => { if (blob) download(`${name}.png`, blob); });
}
