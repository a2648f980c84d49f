// SPDX-License-Identifier: Apache-2.0
// Draws and saves the charts of a page: visible ones first, the others when idle, and all again when the colour
// scheme or the width changes.
(() => {
  'use strict';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const charts = [...document.querySelectorAll('figure.chart')].map((figure) => ({
    figure,
    name: figure.dataset.name,
    box: figure.querySelector('.drawing'),
    spec: JSON.parse(figure.querySelector('script').textContent),
    drawing: null,
  }));
  const words = document.querySelector('main').dataset;
  // The contents are a column at the side where there is room, else a fold below the opening.
  const wide = matchMedia('(min-width: 70rem)');
  const openContents = () => document.querySelector('nav details')?.toggleAttribute('open', wide.matches);
  openContents();
  wide.addEventListener('change', openContents);
  document.getElementById('charts').textContent = globalThis.locusCharts;

  function config(width) {
    // page.css replaces the colours of dark mode for printing.
    const [ink, soft, grid] = dark.matches ? ['#e4e6ea', '#9aa2af', '#2b3036'] : ['#1c1e21', '#5d6470', '#e6e8ec'];
    const font = getComputedStyle(document.body).fontFamily;
    // Middle tones, visible on light and dark backgrounds.
    const category = ['#3b82c4', '#e08a1e', '#2a9d6f', '#d1495b', '#8f6bc9', '#9c6b3f', '#d26fb0', '#8b929c', '#8a9a2b', '#2aa5b5'];
    return {
      background: 'transparent', font,
      axis: { labelColor: soft, titleColor: soft, gridColor: grid, domainColor: grid, tickColor: grid,
              labelFontSize: 11, titleFontSize: 11, titleFontWeight: 500, titlePadding: 8 },
      legend: { labelColor: ink, titleColor: soft, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 500, labelLimit: width < 600 ? width / 2 - 40 : 260,
                symbolLimit: 40, ...(width < 600 ? { orient: 'bottom' } : {}) },
      header: { labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontSize: 11, labelFontWeight: 600 },
      title: { color: ink, subtitleColor: soft, fontSize: 13, fontWeight: 600, anchor: 'start', frame: 'bounds', limit: width - 20 },
      axisY: { labelLimit: width < 600 ? 120 : 190 },
      view: { stroke: grid },
      mark: { color: category[0] }, text: { color: ink }, rule: { color: soft },
      range: { category },
    };
  }

  // A legend below a chart has as many columns as fit; one at its side has one.
  function withColumns(spec, width) {
    const { data, datasets, ...rest } = spec;
    const columns = Math.max(2, Math.floor(width / 170));
    const below = (legend) => legend?.orient === 'bottom' || (legend === undefined && width < 600);
    const result = JSON.parse(JSON.stringify(rest), (key, value) =>
      ((key === 'color' || key === 'strokeDash') && value?.field && value.type === 'nominal' && below(value.legend)
        ? { ...value, legend: { ...value.legend, columns } } : value));
    return { ...result, ...(data && { data }), ...(datasets && { datasets }) };
  }

  // A single chart takes the available width; panels are arranged in as many columns as fit. usermeta.panel_margin of
  // a chart is the width of a panel's labels.
  function fitted(spec, width) {
    const result = { ...spec };
    const parts = spec.concat ?? (spec.facet && spec.spec ? [spec.spec] : []);
    const panel = parts[0]?.width;
    if (spec.columns && typeof panel === 'number') {
      const margin = Math.min(spec.usermeta?.panel_margin ?? 50, width < 600 ? 145 : Infinity);
      const left = spec.facet ? 70 : 0;  // the axis of the first column
      result.columns = Math.max(1, Math.min(spec.columns, Math.floor((width - left) / (panel * 0.85 + margin))));
      const own = Math.min(panel * 1.6, Math.floor((width - left) / result.columns) - margin);
      if (spec.concat) result.concat = spec.concat.map((part) => ({ ...part, width: own }));
      else result.spec = { ...spec.spec, width: own, ...(spec.spec.height === panel && { height: own }) };  // keeps squares square
    } else if (parts.length === 0 && !spec.hconcat && !spec.vconcat && spec.width === undefined) {
      result.width = 'container';
    }
    // A square chart stays square where the page is narrower than it.
    const axes = 75;
    if (typeof spec.width === 'number' && spec.width === spec.height && spec.width > width - axes) {
      result.width = result.height = width - axes;
    }
    // Where there is little room, labels at the ends of lines are short: their colour says the rest.
    if (spec.usermeta?.short_labels && width < 600) {
      result.layer = spec.layer.map((layer) => (layer.encoding?.text?.field !== 'line' ? layer
        : { ...layer, mark: { ...layer.mark, fontSize: 9.5 }, encoding: { ...layer.encoding, text: { field: 'short' } } }));
    }
    if (result.width === 'container' && !result.autosize) result.autosize = { type: 'fit-x', contains: 'padding' };
    return result;
  }

  function options(width) {
    const spaced = document.documentElement.lang === 'es' && { thousands: '\u202f' };
    return { actions: false, renderer: 'svg', config: config(width),
             formatLocale: { decimal: '.', thousands: ',', grouping: [3], currency: ['', ''], ...spaced },
             tooltip: { theme: dark.matches ? 'dark' : 'light' } };
  }

  function draw(chart) {
    const width = chart.box.clientWidth;
    if (width === 0) return Promise.resolve();  // hidden: drawn when it is opened
    chart.width = width;
    chart.drawing = vegaEmbed(chart.box, fitted(withColumns(chart.spec, width), width), options(width)).then((result) => {
      if (chart.result) chart.result.finalize();
      chart.result = result;
      chart.box.classList.add('drawn');
      return result;
    }, (error) => {
      chart.box.textContent = `${words.failed}: ${error.message}`;
      console.error(`${chart.name}: ${error.message}`);
    });
    return chart.drawing;
  }

  // ---- Saving

  function download(name, href) {
    const link = document.createElement('a');
    link.href = href;
    link.download = name;
    link.click();
  }

  function downloadText(name, type, text) {
    const href = URL.createObjectURL(new Blob([text], { type }));
    download(name, href);
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  }

  // Returns all rows of a chart, from anywhere in its specification.
  function rowsOf(spec) {
    const rows = [];
    const visit = (part) => {
      if (!part || typeof part !== 'object') return;
      if (part.data && Array.isArray(part.data.values)) rows.push(...part.data.values);
      for (const name of ['layer', 'concat', 'hconcat', 'vconcat']) (part[name] ?? []).forEach(visit);
      visit(part.spec);
    };
    visit(spec);
    for (const values of Object.values(spec.datasets ?? {})) if (Array.isArray(values)) rows.push(...values);
    return rows.map((row) => (row && typeof row === 'object' ? row : { value: row }));
  }

  function csvOf(rows) {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const field = (value) => {
      const text = value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
      .map((line) => line.map(field).join(',')).join('\r\n') + '\r\n';
  }

  function addButtons(chart) {
    const image = async (kind) => {
      const result = chart.result ?? (await draw(chart));
      download(`${chart.name}.${kind}`, await result.view.toImageURL(kind, 2));
    };
    const actions = {
      SVG: () => image('svg'),
      PNG: () => image('png'),
      [words.saveData]: () => downloadText(`${chart.name}.csv`, 'text/csv', csvOf(rowsOf(chart.spec))),
      [words.saveChart]: () =>
        downloadText(`${chart.name}.vl.json`, 'application/json', JSON.stringify(chart.spec, null, 2)),
    };
    const box = chart.figure.querySelector('.save');
    box.append(`${words.save} `);
    for (const [label, action] of Object.entries(actions)) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.addEventListener('click', action);
      box.append(button);
    }
  }

  // ---- When to draw

  const chartOf = new Map(charts.map((chart) => [chart.box, chart]));
  const inSight = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = chartOf.get(entry.target);
      if (entry.isIntersecting && !chart.drawing) draw(chart);
    }
  }, { rootMargin: '400px' });
  charts.forEach((chart) => inSight.observe(chart.box));
  charts.forEach(addButtons);

  const idle = globalThis.requestIdleCallback ?? ((task) => setTimeout(task, 50));
  const drawRest = () => idle(async () => {
    const next = charts.find((chart) => !chart.drawing && chart.box.clientWidth > 0);
    if (!next) return;
    await draw(next);
    drawRest();
  });
  if (document.readyState === 'complete') drawRest();
  else addEventListener('load', drawRest);
  document.addEventListener('toggle', (event) => { if (event.target.open) drawRest(); }, true);

  const drawAgain = () => { for (const chart of charts) if (chart.drawing) draw(chart); };
  dark.addEventListener('change', drawAgain);
  let waiting = 0;
  addEventListener('resize', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const chart of charts) if (chart.drawing && chart.box.clientWidth !== chart.width) draw(chart);
    }, 200);
  });
  // A link into a fold opens it.
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest?.('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
  };
  addEventListener('hashchange', openTarget);
  openTarget();
  // Opens everything for printing.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details.fold:not([open], .long)')];
    for (const one of opened) one.open = true;
    for (const chart of charts) if (!chart.drawing) draw(chart);
  });
  addEventListener('afterprint', () => { for (const one of opened) one.open = false; });
})();
