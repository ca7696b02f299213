// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the page. Foreign text reaches the page as data of a chart or as textContent, never as HTML.
'use strict';
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const drawn = [];  // {view, place, chart}
  const palette = ['#2f7fd1', '#e0782a', '#2f9e6e', '#c94f5b', '#8c6ad6', '#1c9cb0', '#a3891c', '#d268a0'];
  const font = 'system-ui, sans-serif';

  // A block is rows that share some fields; see block() in chart.cpp.
  function rows(blocks) {
    const out = [];
    for (const {constants, columns} of blocks) {
      const names = Object.keys(columns);
      const count = names.length ? columns[names[0]].length : 0;
      for (let i = 0; i < count; ++i) {
        const row = Object.assign({}, constants);
        for (const name of names) row[name] = columns[name][i];
        out.push(row);
      }
    }
    return out;
  }

  function config(width) {
    const narrow = width < 480;
    return {
      background: 'transparent',
      font,
      range: {category: palette},
      view: {stroke: null},
      mark: {color: palette[0]},
      rule: {color: palette[0]},
      // One left edge for all charts over time.
      axisY: {minExtent: narrow ? 0 : 56},
      axis: {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', gridColor: '#d9dee3', domainColor: '#8a949e',
             tickColor: '#8a949e', labelColor: '#1c2126', titleColor: '#1c2126', labelLimit: narrow ? 90 : 200,
             tickCount: narrow ? 5 : undefined, labelOverlap: true, labelSeparation: 6},
      axisX: {grid: false, labelFlush: false},
      legend: {orient: 'top', direction: 'horizontal', labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal',
               labelColor: '#1c2126', titleColor: '#1c2126', symbolStrokeWidth: 2, titleOrient: narrow ? 'top' : 'left',
               titleLimit: 80, labelLimit: narrow ? 130 : 220, columns: narrow ? 2 : Math.max(2, Math.floor((width - 90) / 95)),
               layout: {top: {direction: narrow ? 'vertical' : 'horizontal', anchor: 'start', margin: narrow ? 2 : 8}}},
    };
  }

  // A finger that moves over a chart wants to scroll the page.
  const coarse = matchMedia('(pointer: coarse)').matches;
  function without_zoom(spec) {
    if (spec.params) spec.params = spec.params.filter(param => param.name !== 'zoom');
    for (const layer of spec.layer || []) without_zoom(layer);
    return spec;
  }

  function number(value) {
    return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  }

  // The last reading at or before that time; null in a gap and outside of the line.
  function at(columns, time) {
    const times = columns.time_s;
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low === 0 || low === times.length && time > times[low - 1] ? null : columns.value[low - 1];
  }

  function tip_lines(chart, time) {
    const lines = chart.data.lines;
    const named = field => new Set(lines.map(line => line.constants[field])).size > 1;
    const fields = ['device', 'source', 'kind'].filter(named);
    return lines.map(line => [fields.map(field => line.constants[field]).join(' '), at(line.columns, time)])
                .filter(([, value]) => value !== null);
  }

  function add_tip({view, place, chart}) {
    const hair = place.appendChild(document.createElement('div'));
    const tip = place.appendChild(document.createElement('div'));
    hair.className = 'hair';
    tip.className = 'tip';
    hair.hidden = tip.hidden = true;
    const leave = () => { hair.hidden = tip.hidden = true; };
    place.addEventListener('pointerleave', leave);
    place.addEventListener('pointermove', event => {
      const box = place.getBoundingClientRect();
      const [left, top] = view.origin();
      const x = event.clientX - box.left - left;
      const y = event.clientY - box.top - top;
      if (x < 0 || x > view.width() || y < 0 || y > view.height()) return leave();
      const time = view.scale('x').invert(x);
      tip.replaceChildren();
      const head = tip.appendChild(document.createElement('b'));
      head.textContent = `${time.toFixed(3)} s`;
      for (const [name, value] of tip_lines(chart, time)) {
        tip.appendChild(document.createElement('div')).textContent = `${name} ${number(value)} ${chart.unit}`.trim();
      }
      hair.hidden = tip.hidden = false;
      Object.assign(hair.style, {left: `${left + x}px`, top: `${top}px`, height: `${view.height()}px`});
      const room = box.width - left - x;
      Object.assign(tip.style, {top: `${top + 4}px`, left: room > 190 ? `${left + x + 10}px` : 'auto',
                                right: room > 190 ? 'auto' : `${room + 10}px`});
    });
  }

  // All charts over time show the same stretch of it.
  let following = false;
  function follow(from) {
    const own = Object.keys(from.view.getState().signals).find(name => /^zoom_(time_s|begin_s)$/.test(name));
    if (!own) return;
    from.zoom = own;
    from.view.addSignalListener(own, (_, domain) => {
      if (following) return;
      following = true;
      Promise.all(drawn.filter(other => other !== from && other.zoom && other.run === from.run)
                       .map(other => other.view.signal(other.zoom, domain).runAsync()))
          .finally(() => { following = false; });
    });
  }

  async function draw(chart, index) {
    const place = document.getElementById(`chart-${index}`);
    let spec = JSON.parse(JSON.stringify(chart.spec));
    if (coarse) spec = without_zoom(spec);
    for (const layer of spec.layer || []) {
      // Names of phases are long.
      const below = layer.encoding.fill && layer.encoding.fill.legend;
      if (below) below.columns = Math.max(1, Math.floor(place.clientWidth / 210));
    }
    spec.datasets = {};
    for (const [name, blocks] of Object.entries(chart.data)) spec.datasets[name] = rows(blocks);
    const result = await vegaEmbed(place, spec, {
      renderer: 'svg', ast: true, mode: 'vega-lite', config: config(place.clientWidth),
      actions: {export: true, source: false, compiled: false, editor: false}, downloadFileName: place.dataset.kind,
      // Whatever a specification would like to load is not there.
      loader: {load: () => Promise.reject(new Error('a report loads nothing')), sanitize: () => Promise.reject(new Error('no links'))},
      tooltip: {theme: 'custom'},
    });
    const one = {view: result.view, place, chart, run: place.closest('article')};
    drawn.push(one);
    if (chart.data.lines && chart.unit) add_tip(one);
    follow(one);
    place.dataset.drawn = String(place.querySelectorAll('svg [class*="mark-"] path, svg [class*="mark-"] rect').length);
  }

  Promise.allSettled(charts.map(draw)).then(results => {
    const failed = results.filter(result => result.status === 'rejected');
    for (const one of failed) console.error(one.reason);
    document.documentElement.dataset.charts = `${results.length - failed.length} of ${results.length}`;
  });
})();
