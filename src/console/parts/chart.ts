/**
 * Values over time as SVG, with axes and units, and the same values as a table: stacked bars here,
 * lines in line-chart.ts; and the windows of statistics that are kept. The drawing fills the width
 * that there is; its labels are HTML beside it, which does not shrink with it.
 */
import { getJson } from '../base/api-calls.ts';
import { h, svg, type Child } from '../base/dom.ts';
import { formatCount } from '../base/format.ts';
import { appendQuery, href, type Query } from '../base/screen-address.ts';
import type { StatisticsHistory } from '../../monitoring/monitoring-schema.ts';
import { ChoiceButtons } from './buttons.ts';
import { plainTable } from './tables.ts';

type ChartSeries = {
  readonly name: string;
  /** The CSS class that sets the colour. */
  readonly tone: 'good' | 'bad' | 'waiting';
  /** One for each interval. */
  readonly values: readonly number[];
  /** The filters that choose it in the list of what is counted: its figure leads there. */
  readonly query: Query;
};

type ChartOptions = {
  readonly title: string;
  /** The things that are counted: `requests`. */
  readonly noun: string;
  /** The list of what is counted. */
  readonly screen: string;
  /** The beginning of each interval, RFC 3339. */
  readonly times: readonly string[];
  /** How long an interval is. */
  readonly minutesEach: number;
  readonly series: readonly ChartSeries[];
};

type Frame = {
  readonly title: string;
  readonly unit: string;
  readonly times: readonly string[];
  readonly legend: readonly Child[];
  readonly label: string;
  /** The values of three lines across it, the highest first, in words. */
  readonly levels: readonly string[];
  readonly drawing: readonly SVGElement[];
  readonly table: HTMLElement;
};

/** In units of the drawing, which is stretched. */
export const CHART_WIDTH = 600;
export const CHART_HEIGHT = 100;
/** The axis of time says so many times, or all days. */
const TIMES_SHOWN = 6;
/** The bars of a day where a chart covers several. */
const DAY_BARS = 12;
const DAY_MS = 86_400_000;
const WINDOWS: readonly (readonly [HistoryWindow, string])[] =
  [['1h', '1 hour'], ['24h', '24 hours'], ['7d', '7 days']];
/** How many intervals of five minutes a bar has: there are 12, 48 or 84 bars. */
const INTERVALS_EACH: Readonly<Record<HistoryWindow, number>> = { '1h': 1, '24h': 6, '7d': 24 };
/** A week has 2,016 intervals, over 100 kB, and bars of two hours: it is not read more often. */
const WEEK_READ_MS = 60_000;

function chart(
  { title, noun, screen, times, minutesEach, series }: ChartOptions,
): HTMLElement {
  const totals = times.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const top = roundUpScale(Math.max(1, ...totals));
  const formatTime = createTimeFormat(times);
  return chartFrame({
    title, times, levels: [top, top / 2, 0].map(formatCount),
    unit: `${noun} in each ${formatBarLength(minutesEach)}`,
    legend: series.map(({ name, tone, values, query }) => h('a', {
      class: `legend ${tone}`, href: href([screen], { ...query, since: times[0] ?? '' }),
    }, `${formatCount(sum(values))} ${name}`)),
    label: series.map(({ name, values }) => `${formatCount(sum(values))} ${name}`).join(', '),
    drawing: bars(times.map((time) => formatTime(time)), series, top),
    table: valueTable(times, series.map(({ name }) => name), (index) => totals[index] === 0 ? null
      : series.map(({ values }) => formatCount(values[index] ?? 0))),
  });
}

type Bars = Pick<ChartOptions, 'times' | 'minutesEach'>;

/** `query` chooses the requests that are counted, in the list of them. */
export function requestsChart(
  bars: Bars, { accepted, rejected, failed }:
  Readonly<Record<'accepted' | 'rejected' | 'failed', readonly number[]>>, query: Query = {},
): HTMLElement {
  return chart({
    title: 'Requests', noun: 'requests', screen: 'requests', ...bars, series: [
      { name: 'accepted', tone: 'good', values: accepted, query },
      {
        name: 'rejected', tone: 'waiting', values: rejected,
        query: { ...query, status: 'rejected' },
      },
      { name: 'failed', tone: 'bad', values: failed, query: { ...query, status: 'failed' } },
    ],
  });
}

export function runsChart(
  bars: Bars, succeeded: readonly number[], failed: readonly number[], query: Query = {},
): HTMLElement {
  return chart({
    title: 'Runs of actions', noun: 'runs', screen: 'deliveries', ...bars,
    series: listOutcomes('succeeded', succeeded, failed, { ...query, kind: 'route' }),
  });
}

export function attemptsChart(
  bars: Bars, delivered: readonly number[], failed: readonly number[], query: Query = {},
): HTMLElement {
  return chart({
    title: 'Delivery attempts', noun: 'attempts', screen: 'deliveries', ...bars,
    series: listOutcomes('delivered', delivered, failed, query),
  });
}

function listOutcomes(
  name: string, delivered: readonly number[], failed: readonly number[], query: Query,
): readonly ChartSeries[] {
  return [
    { name, tone: 'good', values: delivered, query: { ...query, status: 'delivered' } },
    { name: 'failed', tone: 'bad', values: failed, query: { ...query, status: 'failed' } },
  ];
}

function formatBarLength(minutes: number): string {
  if (minutes === 1) return 'minute';
  return minutes < 60 ? `${minutes} minutes` : `${minutes / 60} hours`;
}

export function chartFrame(
  { title, unit, times, legend, label, levels, drawing, table }: Frame,
): HTMLElement {
  const element = h('div.chart', { role: 'img', 'aria-label': `${title}: ${label}` },
    h('span.unit', unit),
    h('div.levels', {}, ...levels.map((level) => h('span', level))),
    svg('svg', { viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`, preserveAspectRatio: 'none' },
      ...levels.map((_, index) => {
        const y = index / (levels.length - 1) * CHART_HEIGHT;
        return svg('line', { x1: 0, x2: CHART_WIDTH, y1: y, y2: y });
      }), ...drawing),
    h('div.times', {}, ...axisLabels(times)));
  return h('figure', h('figcaption', title, ...legend), element,
    h('details', h('summary', 'As a table'), table));
}

/** Labels of the axis of time, each as wide as the bars until the next. */
function axisLabels(times: readonly string[]): HTMLElement[] {
  const formatTime = createTimeFormat(times);
  const every = Math.max(1, Math.round(times.length / TIMES_SHOWN));
  const labels = times.map((time, index) => {
    if (coversDays(times)) return formatDay(time);
    return index % every === 0 ? formatTime(time) : '';
  });
  const begins = [...labels.keys()].filter((index) =>
    labels[index] !== '' && labels[index] !== labels[index - 1]);
  return begins.map((begin, place) => {
    const next = begins[place + 1];
    const count = (next ?? times.length) - begin;
    const [text = '', date] = (labels[begin] ?? '').split(' ');
    // The first and the last day are there in part. A name may reach beyond the last bar alone.
    const isLast = next === undefined && count >= DAY_BARS / 3;
    const part = date === undefined || isLast ? 1 : count / DAY_BARS;
    const label = h('span', part >= 3 / 4 ? text : part >= 1 / 2 && h('span.date', text),
      date !== undefined && count >= DAY_BARS - 1 && h('span.date', ` ${date}`));
    label.style.flexGrow = String(count);
    return label;
  });
}

function bars(
  times: readonly string[], series: readonly ChartSeries[], top: number,
): SVGElement[] {
  const step = CHART_WIDTH / Math.max(1, times.length);
  return times.map((time, index) => {
    let y = CHART_HEIGHT;
    const parts = series.map(({ name, tone, values }) => {
      const value = values[index] ?? 0;
      const height = value / top * CHART_HEIGHT;
      y -= height;
      return svg('rect', {
        class: tone, x: index * step + 0.5, y, height, width: Math.max(0.5, step - 1),
      }, svg('title', {}, `${time}: ${formatCount(value)} ${name}`));
    });
    return svg('g', {}, ...parts);
  });
}

/** The rows of the intervals for which `read` gives cells, with a head of `names`. */
export function valueTable(
  times: readonly string[], names: readonly string[],
  read: (index: number) => readonly string[] | null,
): HTMLElement {
  const formatTime = createTimeFormat(times);
  return plainTable(['From', ...names], times.flatMap((time, index) => {
    const cells = read(index);
    return cells === null ? [] : [[formatTime(time), ...cells]];
  }));
}

/** A small line for a cell of a list. */
export function sparkline(values: readonly number[], label: string): SVGElement {
  const top = Math.max(...values, 1);
  const points = values.map((value, index) => {
    const x = index / Math.max(1, values.length - 1) * 96 + 2;
    return `${x.toFixed(1)},${(22 - value / top * 20).toFixed(1)}`;
  });
  return svg('svg', { viewBox: '0 0 100 24', class: 'sparkline', role: 'img', 'aria-label': label },
    svg('polyline', { points: points.join(' ') }));
}

/** Formats times of a chart, with the day where it covers several. */
export function createTimeFormat(times: readonly string[]): (iso: string) => string {
  const hasDays = coversDays(times);
  return (iso) => {
    const time = new Date(iso).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    return hasDays ? `${formatDay(iso)}, ${time}` : time;
  };
}

function coversDays(times: readonly string[]): boolean {
  return Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '') > DAY_MS;
}

/** `Mon 23` */
function formatDay(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric' });
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Rounds up to 2, 4, 10, 20, 40, 100, …, or to 0.2, 0.4, 1: numbers that are easily halved. */
export function roundUpScale(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [2, 4, 10]) if (value <= factor * power) return factor * power;
  return 20 * power;
}

export type HistoryWindow = StatisticsHistory['window'];

export function isHistoryWindow(name: string | null): name is HistoryWindow {
  return WINDOWS.some(([window]) => window === name);
}

/** `onChange` is called when the user chooses a window. */
export function windowButtons(
  chosen: HistoryWindow, onChange: (window: HistoryWindow) => void,
): ChoiceButtons<HistoryWindow> {
  return new ChoiceButtons(WINDOWS, chosen, onChange);
}

type Intervals = {
  readonly window: HistoryWindow; readonly intervalSeconds: number;
  readonly times: readonly string[];
};

/** Creates a function that reads a window of what `path` has. Throws ApiError. */
export function createHistoryReader<History extends Intervals>(
  path: string,
): (window: HistoryWindow) => Promise<History> {
  let last: { readonly history: History; readonly atMs: number } | null = null;
  return async (window) => {
    const isFresh = last !== null && Date.now() - last.atMs < WEEK_READ_MS;
    if (isFresh && window === '7d' && last?.history.window === window) return last.history;
    const history = await getJson<History>(appendQuery(path, { window }));
    last = { history, atMs: Date.now() };
    return history;
  };
}

/** The bars of a window: when each begins, and how many minutes it has. */
export function getBars(
  { window, intervalSeconds, times }: Intervals,
): { readonly times: readonly string[]; readonly minutesEach: number } {
  const size = INTERVALS_EACH[window];
  return {
    times: times.filter((_, index) => index % size === 0),
    minutesEach: size * intervalSeconds / 60,
  };
}

/** The sums of a series, one for each bar. */
export function sumBars({ window, times }: Intervals, values: readonly number[]): number[] {
  const size = INTERVALS_EACH[window];
  return Array.from({ length: times.length / size }, (_, index) =>
    sum(values.slice(index * size, (index + 1) * size)));
}
