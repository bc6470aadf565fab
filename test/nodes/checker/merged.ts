/** The log as all followers together saw it, and what became of each write: all rules' base. */
import { describe } from './history.ts';
import type { Event, History, Violation, Write } from './history.ts';

/** A write that took effect: acknowledged, or seen somewhere. */
export type Effect = {
  readonly write: Write;
  readonly key: string;
  /** Null where neither an answer nor a stream told it. */
  readonly sequence: number | null;
};

export type Merged = {
  /** By sequence, then in the order of their transaction. */
  readonly events: readonly Event[];
  readonly effects: readonly Effect[];
  /** Key by token, wherever it was seen. */
  readonly seen: ReadonlyMap<string, string>;
  readonly violations: readonly Violation[];
};

export function merge(history: History): Merged {
  const violations: Violation[] = [];
  const events = mergeFollowers(history, violations);
  const seen = seenTokens(history, events);
  const puts = new Map(events.map(({ token, sequence }) => [token, sequence]));
  const deletes = deletesOf(history, events);
  const effects = history.writes.flatMap((write): Effect[] => {
    const { kind, token, outcome } = write;
    const key = write.key ?? seen.get(token) ?? null;
    const logged = kind === 'delete' ? deletes.get(write) : puts.get(token);
    const isSeen = kind === 'delete'
      ? logged !== undefined || isAbsent(history, key) : seen.has(token);
    const isEffective = outcome === 'ok' || (outcome === 'unknown' && isSeen);
    return isEffective && key !== null ? [{ write, key, sequence: logged ?? write.sequence }] : [];
  });
  return { events, effects, seen, violations };
}

/** Where no stream tells of it, a deletion is seen by the record's absence at the end. */
function isAbsent(history: History, key: string | null): boolean {
  const last = history.images.at(-1);
  return history.followers.length === 0 && last !== undefined && key !== null
    && !last.records.has(key);
}

/**
 * The sequences of deletions. The log does not say who deleted: who was told so; else, of those
 * that were told nothing, who named the version that was there.
 */
function deletesOf(history: History, events: readonly Event[]): Map<Write, number> {
  const found = new Map<Write, number>();
  const byKey = new Map<string | null, Write[]>();
  for (const write of history.writes) {
    if (write.kind !== 'delete' || write.outcome === 'refused') continue;
    byKey.set(write.key, [...byKey.get(write.key) ?? [], write]);
  }
  const current = new Map<string, string | null>();
  for (const { key, token, sequence } of events) {
    if (token === null) {
      const all = byKey.get(key) ?? [];
      const one = all.find(({ outcome }) => outcome === 'ok')
        ?? all.find(({ expected }) => expected === current.get(key));
      if (one !== undefined) found.set(one, sequence);
    }
    current.set(key, token);
  }
  return found;
}

/** Followers must agree, miss nothing, and be told in the order of the log. */
function mergeFollowers(history: History, violations: Violation[]): Event[] {
  const merged = new Map<string, Event>();
  for (const { node, events } of history.followers) {
    let last = -1;
    for (const event of events) {
      if (event.sequence < last) {
        violations.push({ rule: 'stream',
          message: `the stream of ${node} went back from ${last} to ${event.sequence}` });
      }
      last = event.sequence;
      const id = `${event.sequence} ${event.key}`;
      const other = merged.get(id);
      if (other !== undefined && other.bytes !== event.bytes) {
        violations.push({ rule: 'image',
          message: `${event.key} at ${event.sequence} is another at ${node}: `
            + `${event.token} beside ${other.token}` });
      }
      merged.set(id, other ?? event);
    }
  }
  const all = [...merged.values()].sort((left, right) => left.sequence - right.sequence);
  for (const follower of history.followers) findHoles(follower, all, violations);
  return all;
}

function findHoles(
  { node, from, events }: History['followers'][number], all: readonly Event[],
  violations: Violation[],
): void {
  const last = events.at(-1)?.sequence ?? -1;
  const counts = new Map<string, number>();
  for (const { sequence, key } of events) {
    const id = `${sequence} ${key}`;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const { sequence, key } of all) {
    if (sequence <= from || sequence > last) continue;
    const count = counts.get(`${sequence} ${key}`) ?? 0;
    if (count !== 1) {
      violations.push({ rule: 'stream',
        message: `the stream of ${node} told ${key} at ${sequence} ${count} times` });
    }
  }
}

function seenTokens(history: History, events: readonly Event[]): Map<string, string> {
  const seen = new Map<string, string>();
  for (const { key, token } of events) if (token !== null) seen.set(token, key);
  for (const { records } of history.images) {
    for (const [key, { token }] of records) seen.set(token, key);
  }
  for (const { values } of history.reads) {
    for (const [key, token] of values) if (token !== null) seen.set(token, key);
  }
  return seen;
}

/** Acknowledged: exactly once. Refused: never. Unknown: at most once. And nothing of nobody. */
export function checkOnce(history: History, { events, seen }: Merged): Violation[] {
  const counts = new Map<string, number>();
  for (const { key, token } of events) {
    const id = token ?? `deleted ${key}`;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const isLogged = history.followers.length > 0;
  const deleted = new Set(history.writes.flatMap(({ kind, outcome, key }) =>
    kind === 'delete' && outcome !== 'refused' ? [key] : []));
  const found = history.writes.flatMap((write): Violation[] => {
    const { kind, token, key, outcome } = write;
    const count = counts.get(kind === 'delete' ? `deleted ${key}` : token) ?? 0;
    const isThere = kind === 'delete' ? count > 0 && !deleted.has(key) : seen.has(token);
    const times = `${describe(write)}: it is in the log ${count} times`;
    if (count > 1) return [{ rule: 'once', message: times }];
    if (outcome === 'ok' && isLogged && count === 0) return [{ rule: 'once', message: times }];
    if (outcome === 'refused' && isThere) {
      return [{ rule: 'once', message: `${describe(write)}: it is there all the same` }];
    }
    return [];
  });
  const written = new Set(history.writes.map(({ token }) => token));
  const alien = [...seen].filter(([token]) => !written.has(token)).map(([token, key]): Violation =>
    ({ rule: 'once', message: `${key} holds ${token}, which nobody wrote` }));
  return [...found, ...alien];
}
