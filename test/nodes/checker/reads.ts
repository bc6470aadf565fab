/**
 * A read sees a whole prefix of the log: there is one position at which all that it saw was true.
 * That position never goes back on one node; it holds what the same node has acknowledged, what
 * others have since when the node had the engine for so long (`staleMsMax`), and the sequence asked
 * for; and nothing that began only later.
 */
import type { History, Read, Violation } from './history.ts';
import type { Effect, Merged } from './merged.ts';
import type { Chains } from './registers.ts';
import { groupBy } from './registers.ts';
import { dueMs, excusesOf } from './staleness.ts';

/** Positions from `from` to before `to`. */
type Range = { readonly from: number; readonly to: number };

export function checkReads(history: History, merged: Merged, chains: Chains): Violation[] {
  const reads = [...history.reads, ...history.images.map((image) => readOf(image, chains))];
  const effects = merged.effects.filter(({ sequence }) => sequence !== null);
  return [...groupBy(reads, ({ node }) => node)].flatMap(([node, own]) =>
    checkNode(node, own, effects, history, chains));
}

/** An image shows also what is not there. */
function readOf(image: History['images'][number], chains: Chains): Read {
  const { node, beginMs, endMs, records } = image;
  const keys = new Set([...chains.keys(), ...records.keys()]);
  const values = new Map([...keys].map((key) => [key, records.get(key)?.token ?? null]));
  return { node, beginMs, endMs, values, atLeast: null };
}

function checkNode(
  node: string, reads: readonly Read[], effects: readonly Effect[], history: History,
  chains: Chains,
): Violation[] {
  const byBegin = [...reads].sort((left, right) => left.beginMs - right.beginMs);
  const over: { readonly endMs: number; readonly position: number }[] = [];
  const low = lowerBound(node, effects, history);
  const high = upperBound(effects);
  return byBegin.flatMap((read): Violation[] => {
    const floor = over.reduce((highest, { endMs, position }) =>
      endMs < read.beginMs ? Math.max(highest, position) : highest, 0);
    const least = Math.max(floor, low(read));
    const position = firstPosition(read, least, high(read), chains);
    if (position === null) {
      return [{ rule: 'read', message: `${describeRead(read)}: this is no state of the log from `
        + `${least} (${floor} was read before) to before ${high(read)}`
        + describeEdges(read, chains) }];
    }
    over.push({ endMs: read.endMs, position });
    return [];
  });
}

/** The sequence up to which a read at this node has to see everything. */
function lowerBound(
  node: string, effects: readonly Effect[], history: History,
): (read: Read) => number {
  const excuses = excusesOf(history, node);
  const acknowledged = effects.filter(({ write }) => write.outcome === 'ok')
    .map(({ write, sequence }) => ({
      sequence: sequence ?? 0,
      seenMs: write.node === node ? write.endMs : dueMs(write.endMs, excuses, history.staleMsMax),
    }));
  return ({ beginMs, atLeast }) => acknowledged.reduce((highest, { sequence, seenMs }) =>
    seenMs < beginMs ? Math.max(highest, sequence) : highest, atLeast ?? 0);
}

/** The sequence that a read cannot have seen yet. */
function upperBound(effects: readonly Effect[]): (read: Read) => number {
  return ({ endMs }) => effects.reduce((lowest, { write, sequence }) =>
    write.beginMs > endMs ? Math.min(lowest, sequence ?? Infinity) : lowest, Infinity);
}

/** The first position in [least, end) at which everything that was read is so. */
function firstPosition(read: Read, least: number, end: number, chains: Chains): number | null {
  const all = [...read.values].map(([key, token]) => rangesOf(chains.get(key) ?? [], token));
  const starts = all.flatMap((ranges) => ranges.map(({ from }) => Math.max(from, least)));
  const candidates = [...new Set([least, ...starts])].sort((left, right) => left - right);
  const isSo = (position: number): boolean => all.every((ranges) =>
    ranges.some(({ from, to }) => from <= position && position < to));
  return candidates.find((position) => position < end && isSo(position)) ?? null;
}

/** Where in the log a record has this version; everywhere, when a sequence is not known. */
function rangesOf(chain: readonly Effect[], token: string | null): readonly Range[] {
  if (chain.some(({ sequence }) => sequence === null)) return [{ from: 0, to: Infinity }];
  const versions = [{ token: null, from: 0 }, ...chain.map(({ write, sequence }) =>
    ({ token: write.kind === 'delete' ? null : write.token, from: sequence ?? 0 }))];
  return versions.flatMap((version, index) => version.token === token
    ? [{ from: version.from, to: versions[index + 1]?.from ?? Infinity }] : []);
}

/** What it saw that is the youngest, and that is the first to have changed. */
function describeEdges(read: Read, chains: Chains): string {
  const seen = [...read.values].flatMap(([key, token]) =>
    rangesOf(chains.get(key) ?? [], token).slice(-1).map((range) => ({ key, token, ...range })));
  const youngest = seen.reduce<typeof seen[number] | null>((best, one) =>
    best === null || one.from > best.from ? one : best, null);
  const oldest = seen.reduce<typeof seen[number] | null>((best, one) =>
    best === null || one.to < best.to ? one : best, null);
  return [youngest, oldest].map((one) => one === null ? ''
    : `; ${one.key}=${one.token} is so from ${one.from} to before ${one.to}`).join('');
}

function describeRead({ node, beginMs, endMs, values, atLeast }: Read): string {
  const some = [...values].slice(0, 6).map(([key, token]) => `${key}=${token}`).join(' ');
  const least = atLeast === null ? '' : `, at least ${atLeast}`;
  return `read at ${node}, ${beginMs.toFixed(0)}…${endMs.toFixed(0)} ms${least}, of `
    + `${values.size} records (${some})`;
}
