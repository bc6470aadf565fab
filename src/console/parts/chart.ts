/** Stacked bars over time as SVG, with axes and units, and the same values as a table. */
import { h, svg } from '../base/dom.ts';
import { formatCount } from '../base/format.ts';

type ChartSeries = {
  readonly name: string;
  /** The CSS class that sets the colour. */
  readonly tone: 'good' | 'bad' | 'waiting';
  readonly values: readonly number[];
};

type ChartOptions = {
  readonly title: string;
  /** The unit of the values: `requests a minute`. */
  readonly unit: string;
  /** The beginning of each bar, RFC 3339. */
  readonly times: readonly string[];
  readonly series: readonly ChartSeries[];
};

const WIDTH = 600;
const HEIGHT = 150;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 20;

export function chart({ title, unit, times, series }: ChartOptions): HTMLElement {
  const totals = times.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const top = roundUpScale(Math.max(...totals, 1));
  const drawing = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', class: 'chart',
    'aria-label': `${title}: ${series.map(({ name, values }) =>
      `${formatCount(sum(values))} ${name}`).join(', ')}`,
  }, ...axes(times, top, unit), ...bars(times, series, top));
  return h('figure', h('figcaption', title, ...legend(series)), drawing,
    h('details', h('summary', 'As a table'), seriesTable(times, series)));
}

function legend(series: readonly ChartSeries[]): HTMLElement[] {
  return series.map(({ name, tone, values }) =>
    h('span', { class: `legend ${tone}` }, `${formatCount(sum(values))} ${name}`));
}

function bars(times: readonly string[], series: readonly ChartSeries[], top: number): SVGElement[] {
  const step = (WIDTH - LEFT) / Math.max(1, times.length);
  return times.map((time, index) => {
    let y = HEIGHT - BOTTOM;
    const parts = series.map(({ name, tone, values }) => {
      const value = values[index] ?? 0;
      const height = value / top * (HEIGHT - BOTTOM - TOP);
      y -= height;
      return svg('rect', {
        class: tone, x: LEFT + index * step + 0.5, y, height, width: Math.max(0.5, step - 1),
      }, svg('title', {}, `${formatTimeOfDay(time)}: ${formatCount(value)} ${name}`));
    });
    return svg('g', {}, ...parts);
  });
}

function axes(times: readonly string[], top: number, unit: string): SVGElement[] {
  const levels = [0, top / 2, top].map((value) => {
    const y = HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP);
    return svg('g', { class: 'axis' },
      svg('line', { x1: LEFT, x2: WIDTH, y1: y, y2: y }),
      svg('text', { x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, formatCount(value)));
  });
  const every = Math.max(1, Math.round(times.length / 6));
  const step = (WIDTH - LEFT) / Math.max(1, times.length);
  const labels = times.flatMap((time, index) => index % every === 0 ? [svg('text', {
    class: 'axis', x: LEFT + index * step, y: HEIGHT - 6,
  }, formatTimeOfDay(time))] : []);
  return [...levels, ...labels, svg('text', {
    class: 'axis unit', x: WIDTH, y: 11, 'text-anchor': 'end',
  }, unit)];
}

function seriesTable(times: readonly string[], series: readonly ChartSeries[]): HTMLElement {
  const rows = times.flatMap((time, index) => {
    const values = series.map(({ values: all }) => all[index] ?? 0);
    return sum(values) === 0 ? [] : [h('tr', h('th', { scope: 'row' }, formatTimeOfDay(time)),
      ...values.map((value) => h('td', formatCount(value))))];
  });
  return h('table.plain',
    h('thead', h('tr', h('th', { scope: 'col' }, 'From'),
      ...series.map(({ name }) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, ...rows));
}

/** A small line chart for a cell of a list. */
export function sparkline(values: readonly number[], label: string): SVGElement {
  const top = Math.max(...values, 1);
  const points = values.map((value, index) => {
    const x = index / Math.max(1, values.length - 1) * 96 + 2;
    return `${x.toFixed(1)},${(22 - value / top * 20).toFixed(1)}`;
  });
  return svg('svg', { viewBox: '0 0 100 24', class: 'sparkline', role: 'img', 'aria-label': label },
    svg('polyline', { points: points.join(' ') }));
}

function formatTimeOfDay(iso: string): string {
  return new Date(iso).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** The sum of a series. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Rounds up to 2, 4, 10, 20, 40, 100, …: numbers whose half is an integer too. */
function roundUpScale(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [2, 4, 10]) if (value <= factor * power) return factor * power;
  return 20 * power;
}
