/** The checker accepts what keeps every promise, and finds each promise broken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../support/random.ts';
import { check } from './check.ts';
import { generate } from './generate.ts';
import { EMPTY } from './history.ts';
import type { Attempt, Event, History, Read, Span, Violation, Write } from './history.ts';

const SEEDS = 60;
const STEPS = 150;

test('histories that keep every promise pass', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const history = generate(createRandom(seed), STEPS);
    assert.deepEqual(check(history), [], `seed ${seed}`);
    assert.ok(history.writes.length > STEPS / 4 && history.reads.length > STEPS / 8);
  }
});

type Damage = (history: History) => History;

const isPut = ({ kind, outcome }: Write): boolean => kind !== 'delete' && outcome === 'ok';

/** Each breaks one promise, in the middle of the history. */
const DAMAGES: Readonly<Record<string, readonly [Violation['rule'], Damage]>> = {
  'an acknowledged write is lost': ['once', (history) => {
    const { token } = middle(history.writes.filter(isPut));
    return withoutEvents(history, (event) => event.token === token);
  }],
  'a write is in the log twice': ['once', (history) => {
    const event = middle(history.followers[0]?.events ?? []);
    return mapEvents(history, (events) =>
      [...events, { ...event, sequence: events.length + 1 }]);
  }],
  'a refused write is there': ['once', (history) => {
    const { token } = middle(history.writes.filter(isPut));
    return mapWrites(history, (write) => write.token === token
      ? { ...write, outcome: 'refused', refusal: 'unavailable', sequence: null } : write);
  }],
  'the log holds what nobody wrote': ['once', (history) => mapEvents(history, (events) =>
    [...events, { sequence: events.length + 1, key: 'other', token: 'other', bytes: '{}' }])],
  'one node misses a change': ['stream', (history) => {
    const [first, ...rest] = history.followers;
    assert.ok(first !== undefined);
    const hole = Math.floor(first.events.length / 2);
    const events = first.events.filter((_, index) => index !== hole);
    return { ...history, followers: [{ ...first, events }, ...rest] };
  }],
  'one node was told otherwise': ['image', (history) => {
    const [first, ...rest] = history.followers;
    assert.ok(first !== undefined);
    const events = first.events.map((event, index) =>
      index === 5 ? { ...event, bytes: `${event.bytes} ` } : event);
    return { ...history, followers: [{ ...first, events }, ...rest] };
  }],
  'one image differs at the end': ['image', (history) => {
    const [first, ...rest] = history.images;
    assert.ok(first !== undefined);
    const records = new Map(first.records);
    records.delete([...records.keys()][0] ?? '');
    return { ...history, images: [...rest, { ...first, records }] };
  }],
  'an answer names a sequence that is too early': ['sequence', (history) => {
    const { token } = middle(history.writes.filter(isPut));
    return mapWrites(history, (write) => write.token === token && write.sequence !== null
      ? { ...write, sequence: write.sequence - 1 } : write);
  }],
  'a later write stands before an earlier one': ['sequence', (history) => {
    const { token } = middle(history.writes.filter(isPut));
    return mapWrites(history, (write) => write.token === token
      ? { ...write, beginMs: write.beginMs - 5000, endMs: write.beginMs - 4000 } : write);
  }],
  'an attempt begins before the last is over': ['delivery', (history) => {
    const attempt = middle(history.attempts);
    const early = { ...attempt, beginMs: attempt.endMs - 1 };
    return { ...history, attempts: [...history.attempts, early] };
  }],
  'a write is never told': ['delivery', (history) => {
    const { token } = middle(history.writes.filter(isPut));
    return { ...history, attempts: history.attempts.filter((attempt) => attempt.token !== token) };
  }],
  'a write is told in two deliveries': ['delivery', (history) => {
    const attempt = middle(history.attempts.filter(({ token }) =>
      history.writes.some((write) => write.token === token)));
    return { ...history, attempts: [...history.attempts, { ...attempt, delivery: 'another' }] };
  }],
  'a write is told again after a later one of its record': ['overtaken', (history) => {
    const late = middle(history.attempts.filter(({ token }) => replaced(history, token) !== null));
    const first = history.attempts.find(({ token }) => token === replaced(history, late.token));
    assert.ok(first !== undefined);
    const again = { ...first, beginMs: late.endMs + 1, endMs: late.endMs + 2 };
    return { ...history, attempts: [...history.attempts, again] };
  }],
  'a delivery that was final is open again': ['delivery', (history) => {
    const state = middle(history.deliveries.filter(({ isFinal }) => isFinal));
    return { ...history, deliveries: [...history.deliveries,
      { ...state, sequence: state.sequence + 1000, isFinal: false }] };
  }],
};

/** The version that a write replaced, by the log; null: there is none. */
function replaced({ writes }: History, token: string): string | null {
  return writes.find((write) => write.token === token && write.outcome === 'ok')?.expected ?? null;
}

for (const [name, [rule, damage]] of Object.entries(DAMAGES)) {
  test(`found: ${name}`, () => {
    for (let seed = 1; seed <= SEEDS / 4; seed += 1) {
      const found = check(damage(generate(createRandom(seed), STEPS)));
      assert.ok(found.some((violation) => violation.rule === rule),
        `seed ${seed}: ${JSON.stringify(found.slice(0, 3))}`);
    }
  });
}

const write = (
  token: string, beginMs: number, endMs: number, more: Partial<Write> = {},
): Write => ({
  node: 'a', beginMs, endMs, outcome: 'ok', refusal: null, kind: 'create', key: `of ${token}`,
  token, expected: null, name: null, sequence: null, ...more,
});
const replace = (
  token: string, key: string, expected: string, beginMs: number, endMs: number,
  more: Partial<Write> = {},
): Write => write(token, beginMs, endMs, { kind: 'replace', key, expected, ...more });
const remove = (key: string, expected: string, beginMs: number, endMs: number): Write =>
  write(`no ${key}`, beginMs, endMs, { kind: 'delete', key, expected });
const refused = { outcome: 'refused', refusal: 'mismatch' } as const;
const taken = { outcome: 'refused', refusal: 'taken', key: null } as const;
const read = (node: string, atMs: number, token: string | null, more: Partial<Read> = {}): Read =>
  ({ node, beginMs: atMs, endMs: atMs, values: new Map([['k', token]]), atLeast: null, ...more });
const cut = (node: string, beginMs: number, endMs: number): Span => ({ node, beginMs, endMs });

const created = write('1', 0, 10, { key: 'k', sequence: 1 });
const second = replace('2', 'k', '1', 20, 30, { sequence: 2 });

/** Small histories by hand: those of `rule` null keep the promise, by a hair. */
const BY_HAND: Readonly<Record<string, readonly [Violation['rule'] | null, Partial<History>]>> = {
  'two replace the same version': ['winner',
    { writes: [created, second, replace('3', 'k', '1', 20, 30)] }],
  'a write stands on a version that was refused': ['winner',
    { writes: [created, { ...second, ...refused, refusal: 'unavailable' },
      replace('3', 'k', '2', 40, 50)] }],
  'a version is replaced before it was begun': ['order',
    { writes: [created, { ...second, beginMs: 100, endMs: 110 }, replace('3', 'k', '2', 40, 50)] }],
  'a mismatch while another changes it': [null,
    { writes: [created, second, replace('3', 'k', '1', 12, 21, refused)] }],
  'a mismatch before anybody changes it': ['refusal',
    { writes: [created, second, replace('3', 'k', '1', 12, 19, refused)] }],
  'a mismatch on a node that does not know the version yet': ['refusal',
    { writes: [created, second, replace('3', 'k', '2', 31, 40, { ...refused, node: 'b' })] }],
  'two hold a name at once': ['unique',
    { writes: [write('1', 0, 10, { name: 'n' }), write('2', 20, 30, { name: 'n' })] }],
  'a name is given on': [null,
    { writes: [write('1', 0, 10, { name: 'n' }), remove('of 1', '1', 15, 25),
      write('2', 20, 30, { name: 'n' })] }],
  'a name is given on too early': ['unique',
    { writes: [write('1', 0, 10, { name: 'n' }), remove('of 1', '1', 35, 45),
      write('2', 20, 30, { name: 'n' })] }],
  'a name is held for a moment within the time of another': ['unique',
    { writes: [write('1', 0, 10, { name: 'n' }), write('2', 20, 30, { name: 'n' }),
      remove('of 2', '2', 25, 40)] }],
  'a name is free again, but refused': ['refusal',
    { writes: [write('1', 0, 10, { name: 'n' }), remove('of 1', '1', 15, 25),
      write('2', 30, 40, { name: 'n', ...taken })] }],
  'a name is refused while it may be held': [null,
    { writes: [write('1', 0, Infinity, { name: 'n', outcome: 'unknown' }),
      write('2', 30, 40, { name: 'n', ...taken })] }],
  'a read of another node is old, but not too old': [null,
    { writes: [created, second], reads: [read('b', 279, '1')] }],
  'a read of another node is too old': ['read',
    { writes: [created, second], reads: [read('b', 281, '1')] }],
  'a node that is cut off shows old records': [null,
    { writes: [created, second], reads: [read('b', 600, '1')], cuts: [cut('b', 279, 700)] }],
  'a node that is cut off shows older records than it had': ['read',
    { writes: [created, second], reads: [read('b', 600, '1')], cuts: [cut('b', 281, 700)] }],
  'a node is as old while another is cut off': ['read',
    { writes: [created, second], reads: [read('b', 600, '1')], cuts: [cut('a', 15, 700)] }],
  'a node has the engine again, for the first moment': [null,
    { writes: [created, second], reads: [read('b', 699, '1')], cuts: [cut('b', 100, 150)] }],
  'a node has had the engine again for longer than it was away': ['read',
    { writes: [created, second], reads: [read('b', 701, '1')], cuts: [cut('b', 100, 150)] }],
  'a node was away for long, and catches up': [null,
    { writes: [created, second], reads: [read('b', 12_249, '1')], cuts: [cut('b', 15, 10_000)] }],
  'a node was away for long, and does not catch up': ['read',
    { writes: [created, second], reads: [read('b', 12_251, '1')], cuts: [cut('b', 15, 10_000)] }],
  'a node is cut off again and again': [null,
    { writes: [created, second], reads: [read('b', 1589, '1')],
      cuts: [cut('b', 20, 20), cut('b', 250, 250), cut('b', 480, 480), cut('b', 555, 555)] }],
  'a node was cut off again and again': ['read',
    { writes: [created, second], reads: [read('b', 1591, '1')],
      cuts: [cut('b', 20, 20), cut('b', 250, 250), cut('b', 480, 480), cut('b', 555, 555)] }],
  'a node does not show what it has acknowledged': ['read',
    { writes: [created, second], reads: [read('a', 31, '1')] }],
  'a node goes back': ['read',
    { writes: [created, second], reads: [read('b', 40, '2'), read('b', 41, '1')] }],
  'a node shows what was not begun yet': ['read',
    { writes: [created, second], reads: [read('b', 19, '2')] }],
  'a read does not wait for the sequence that it names': ['read',
    { writes: [created, second], reads: [read('b', 31, '1', { atLeast: 2 })] }],
  'a read shows the later of two writes without the earlier': ['read',
    { writes: [created, write('5', 20, 30, { key: 'm', sequence: 2 }),
      write('6', 40, 50, { key: 'n', sequence: 3 })],
    reads: [read('b', 60, '1', { values: new Map([['m', null], ['n', '6']]) })] }],
  'a deleted record comes back': ['read',
    { writes: [created, { ...remove('k', '1', 20, 30), sequence: 2 }],
      reads: [read('b', 40, null), read('b', 300, '1')] }],
  'attempts overlap where a process stood still': [null,
    { attempts: overlapping(), frozen: [{ node: 'a', beginMs: 5, endMs: 8 }] }],
  'attempts overlap where none did': ['delivery', { attempts: overlapping() }],
  'a later write is told while an earlier one is': ['overtaken', told([0, 20], [19, 40])],
  'a later write is told when an earlier one is over': [null, told([0, 20], [20, 40])],
  'a later write is told between attempts of an earlier one': ['overtaken',
    told([0, 20], [30, 40], [50, 60])],
  'a later write is told too early where a process stood still': [null,
    { ...told([0, 20], [19, 40]), frozen: [{ node: 'a', beginMs: 5, endMs: 8 }] }],
  'a later write is told early to a receiver without order': [null,
    { ...told([0, 20], [19, 40]), orderedHooks: [] }],
  'a stream goes back': ['stream',
    { writes: [created, second], followers: [{ node: 'a', from: 0,
      events: [event(2, 'k', '2'), event(1, 'k', '1')] }] }],
  'an unknown write that never came': [null,
    { writes: [created, { ...second, outcome: 'unknown', endMs: Infinity, sequence: null }],
      followers: [{ node: 'a', from: 0, events: [event(1, 'k', '1')] }] }],
};

for (const [name, [rule, history]] of Object.entries(BY_HAND)) {
  test(`${rule === null ? 'accepted' : 'found'}: ${name}`, () => {
    const found = check({ ...EMPTY, ...history });
    assert.deepEqual([...new Set(found.map((violation) => violation.rule))],
      rule === null ? [] : [rule], JSON.stringify(found));
  });
}

/** Two writes of one record: one attempt of the second, before the last one of the first. */
function told(...spans: readonly (readonly [number, number])[]): Partial<History> {
  const attempts = spans.map(([beginMs, endMs], index): Attempt =>
    ({ delivery: index === 1 ? 'b' : 'a', hook: '/', token: index === 1 ? '2' : '1', beginMs,
      endMs }));
  return {
    attempts, orderedHooks: ['/'],
    followers: [{ node: 'a', from: 0, events: [event(1, 'k', '1'), event(2, 'k', '2')] }],
    writes: [created, second],
  };
}

function overlapping(): Attempt[] {
  return [[0, 20], [10, 30]].map(([beginMs = 0, endMs = 0]) =>
    ({ delivery: 'd', hook: '/', token: 't', beginMs, endMs }));
}

function event(sequence: number, key: string, token: string): Event {
  return { sequence, key, token, bytes: token };
}

function middle<T>(items: readonly T[]): T {
  const item = items[Math.floor(items.length / 2)];
  assert.ok(item !== undefined, 'the history has one');
  return item;
}

function mapWrites(history: History, change: (write: Write) => Write): History {
  return { ...history, writes: history.writes.map(change) };
}

function mapEvents(
  history: History, change: (events: readonly Event[]) => readonly Event[],
): History {
  return { ...history, followers: history.followers.map((follower) =>
    ({ ...follower, events: change(follower.events) })) };
}

function withoutEvents(history: History, isGone: (event: Event) => boolean): History {
  return mapEvents({ ...history, images: [], reads: [] }, (events) =>
    events.filter((event) => !isGone(event)));
}
