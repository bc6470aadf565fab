/**
 * Stacked bars over time as SVG, with axes and units, and the same values as a table. The bars fill
 * the width that there is; their labels are HTML beside them, which does not shrink with it.
 */
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

/** In units of the drawing, which is stretched. */
const WIDTH = 600;
const HEIGHT = 100;
/** The axis of time says so many times. */
const TIMES_SHOWN = 6;

export function chart({ title, unit, times, series }: ChartOptions): HTMLElement {
  const totals = times.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const top = roundUpScale(Math.max(...totals, 1));
  const levels = [top, top / 2, 0];
  const every = Math.max(1, Math.round(times.length / TIMES_SHOWN));
  const shownTimes = times.filter((_, index) => index % every === 0);
  const drawing = h('div.chart', {
    role: 'img', 'aria-label': `${title}: ${series.map(({ name, values }) =>
      `${formatCount(sum(values))} ${name}`).join(', ')}`,
  },
  h('span.unit', unit),
  h('div.levels', {}, ...levels.map((value) => h('span', formatCount(value)))),
  svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
    ...levels.map((value) => {
      const y = HEIGHT - value / top * HEIGHT;
      return svg('line', { x1: 0, x2: WIDTH, y1: y, y2: y });
    }), ...bars(times, series, top)),
  h('div.times', {}, ...shownTimes.map((time) => h('span', formatTimeOfDay(time)))));
  return h('figure', h('figcaption', title, ...legend(series)), drawing,
    h('details', h('summary', 'As a table'), seriesTable(times, series)));
}

function legend(series: readonly ChartSeries[]): HTMLElement[] {
  return series.map(({ name, tone, values }) =>
    h('span', { class: `legend ${tone}` }, `${formatCount(sum(values))} ${name}`));
}

function bars(times: readonly string[], series: readonly ChartSeries[], top: number): SVGElement[] {
  const step = WIDTH / Math.max(1, times.length);
  return times.map((time, index) => {
    let y = HEIGHT;
    const parts = series.map(({ name, tone, values }) => {
      const value = values[index] ?? 0;
      const height = value / top * HEIGHT;
      y -= height;
      return svg('rect', {
        class: tone, x: index * step + 0.5, y, height, width: Math.max(0.5, step - 1),
      }, svg('title', {}, `${formatTimeOfDay(time)}: ${formatCount(value)} ${name}`));
    });
    return svg('g', {}, ...parts);
  });
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
