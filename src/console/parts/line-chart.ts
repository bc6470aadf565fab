/** One value over time as a line. Where there is none, the line ends. */
import { h, svg } from '../base/dom.ts';
import {
  CHART_HEIGHT, CHART_WIDTH, chartFrame, createTimeFormat, roundUpScale, valueTable,
} from './chart.ts';

type LineChartOptions = {
  readonly title: string;
  readonly unit: string;
  readonly times: readonly string[];
  /** null: there is none. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
  /** The value of all intervals together, in words. */
  readonly summary: string;
  /** The highest value that there can be; by default that follows from the values. */
  readonly top?: number;
};

export function lineChart(
  { title, unit, times, values, format, summary, top }: LineChartOptions,
): HTMLElement {
  const highest = Math.max(...values.map((value) => value ?? 0));
  const scale = top ?? roundUpScale(highest === 0 ? 1 : highest);
  const formatTime = createTimeFormat(times);
  const step = CHART_WIDTH / Math.max(1, times.length);
  const points = values.map((value, index) => value === null ? null : {
    x: (index + 0.5) * step, y: CHART_HEIGHT - value / scale * CHART_HEIGHT,
  });
  return chartFrame({
    title, unit, times, label: summary, legend: [h('span.legend.line', summary)],
    levels: [format(scale), format(scale / 2), '0'],
    drawing: [
      svg('path', { d: describeLines(points) }),
      svg('path', { class: 'points', d: describeSinglePoints(points) }),
      // A pointer finds the whole height of each interval.
      ...values.flatMap((value, index) => value === null ? [] : [svg('rect', {
        class: 'pointed', x: index * step, y: 0, width: step, height: CHART_HEIGHT,
      }, svg('title', {}, `${formatTime(times[index] ?? '')}: ${format(value)}`))]),
    ],
    table: valueTable(times, [unit], (index) => {
      const value = values[index] ?? null;
      return value === null ? null : [format(value)];
    }),
  });
}

type Points = readonly ({ readonly x: number; readonly y: number } | null)[];

/** A line through the points that have neighbours. */
function describeLines(points: Points): string {
  return points.map((point, index) => point === null ? ''
    : `${(points[index - 1] ?? null) === null ? 'M' : 'L'}${formatPlace(point)}`).join('');
}

/** The points without neighbours, as lines without length: their round ends are seen. */
function describeSinglePoints(points: Points): string {
  return points.map((point, index) => {
    const isSingle = [index - 1, index + 1].every((other) => (points[other] ?? null) === null);
    return point === null || !isSingle ? '' : `M${formatPlace(point)}h0`;
  }).join('');
}

function formatPlace({ x, y }: NonNullable<Points[number]>): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
