/**
 * The windows of statistics that are kept: buttons that choose one, the call that reads one, and
 * the bars of each.
 */
import { getJson } from '../base/api-calls.ts';
import { appendQuery } from '../base/screen-address.ts';
import { sum } from './chart.ts';
import { ChoiceButtons } from './buttons.ts';
import type { StatisticsHistory } from '../../monitoring/monitoring-schema.ts';

export type HistoryWindow = StatisticsHistory['window'];

const WINDOWS: readonly (readonly [HistoryWindow, string])[] =
  [['1h', '1 hour'], ['24h', '24 hours'], ['7d', '7 days']];
/** How many intervals of five minutes a bar has: there are 12, 48 or 84 bars. */
const INTERVALS_EACH: Readonly<Record<HistoryWindow, number>> = { '1h': 1, '24h': 6, '7d': 24 };

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

/** A week has 2,016 intervals, over 100 kB, and bars of two hours: it is not read more often. */
const WEEK_READ_MS = 60_000;

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
