/** The checker accepts what keeps every promise, and finds each promise broken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../support/random.ts';
import { check } from './check.ts';
import { generate } from './generate.ts';
import { EMPTY } from './history.ts';
import type {
  Attempt, DeliveryRecord, Emission, Event, History, Read, Span, Violation, Write,
} from './history.ts';

const SEEDS = 60;
const STEPS = 150;

test('histories that keep every promise pass', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const history = generate(createRandom(seed), STEPS);
    assert.deepEqual(check(history), [], `seed ${seed}`);
    assert.ok(history.writes.length > STEPS / 5 && history.reads.length > STEPS / 10);
    assert.ok(history.emissions.length > STEPS / 10);
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
  'a late webhook is not told of what it missed': ['delivery', (history) => {
    const { token } = first(missed(history));
    return { ...history, attempts: history.attempts.filter((attempt) =>
      attempt.token !== token || attempt.hook !== '/late') };
  }],
  'a late webhook is told of what it missed in two deliveries': ['delivery', (history) => {
    const { token } = first(missed(history));
    return { ...history, attempts: history.attempts.flatMap((attempt) =>
      attempt.token === token && attempt.hook === '/late'
        ? [attempt, { ...attempt, delivery: 'another' }] : [attempt]) };
  }],
  'a late webhook is told of a later write before it is of what it missed': ['overtaken',
    (history) => {
      const [late] = history.lateHooks;
      assert.ok(late !== undefined);
      const earlier = first(missed(history).filter((write) => successor(history, write) !== null));
      const later = successor(history, earlier);
      const lastMs = Math.max(...history.attempts.map(({ endMs }) => endMs));
      return { ...history, attempts: history.attempts.map((attempt) => {
        const isIt = attempt.hook === '/late' && attempt.token === earlier.token;
        return isIt && later !== null
          ? { ...attempt, beginMs: lastMs + 1, endMs: lastMs + 2 } : attempt;
      }) };
    }],
  'an event is never told': ['delivery', (history) => {
    const { token } = middle(history.emissions.filter(isTold));
    return { ...history, attempts: history.attempts.filter((attempt) => attempt.token !== token) };
  }],
  'an event is told in two deliveries': ['delivery', (history) => {
    const { token } = middle(history.emissions.filter(isTold));
    const attempt = first(history.attempts.filter((one) => one.token === token));
    return { ...history, attempts: [...history.attempts, { ...attempt, delivery: 'another' }] };
  }],
  'an event is told that was refused': ['delivery', (history) =>
    mapEmissions(history, middle(history.emissions.filter(isTold)), { outcome: 'refused' })],
  'a cancelled event begins': ['cancelled', (history) => {
    const late = history.emissions.filter((one) => isTold(one) && one.isDelayed);
    const cancellation = { beginMs: 0, endMs: 1, outcome: 'ok', refusal: null } as const;
    return mapEmissions(history, middle(late), { cancellation });
  }],
  'a delayed event begins before its time': ['early', (history) => {
    const late = middle(history.emissions.filter((one) => isTold(one) && one.isDelayed));
    return { ...history, attempts: history.attempts.map((attempt) =>
      attempt.token === late.token ? { ...attempt, beginMs: late.dueFromMs - 1 } : attempt) };
  }],
  'an event is told before an earlier one of its key': ['overtaken', (history) => {
    const told = history.emissions.filter(isTold);
    const earlier = first(told.filter((one) => !one.isDelayed && told.some((other) =>
      other.key === one.key && other.dueFromMs > one.dueToMs)));
    const lastMs = Math.max(...history.attempts.map(({ endMs }) => endMs));
    return { ...history, attempts: history.attempts.map((attempt) =>
      attempt.token === earlier.token
        ? { ...attempt, beginMs: lastMs + 1, endMs: lastMs + 2 } : attempt) };
  }],
  'a delivery that was attempted has no record': ['record', (history) =>
    ({ ...history, records: history.records?.slice(1) ?? null })],
  'a delivery is never finished': ['record', (history) =>
    mapRecords(history, (record, index) =>
      index === 0 ? { ...record, isDelivered: false } : record)],
  'a record was never attempted': ['record', (history) =>
    mapRecords(history, (record, index) =>
      index === 0 ? { ...record, delivery: 'another' } : record)],
  'a webhook has two deliveries of one event': ['record', (history) => {
    const records = history.records ?? [];
    return { ...history, records: [...records, { ...first(records), delivery: 'another' }] };
  }],
  'a delivery that was final is open again': ['delivery', (history) => {
    const state = middle(history.deliveries.filter(({ isFinal }) => isFinal));
    return { ...history, deliveries: [...history.deliveries,
      { ...state, sequence: state.sequence + 1000, isFinal: false }] };
  }],
};

/** An event that was acknowledged, and nobody has tried to cancel. */
function isTold({ outcome, cancellation }: Emission): boolean {
  return outcome === 'ok' && cancellation === null;
}

/** What was acknowledged before the late webhook was made. */
function missed({ writes, lateHooks: [late] }: History): readonly Write[] {
  return writes.filter((write) => isPut(write) && write.endMs < (late?.beginMs ?? 0));
}

/** The write that replaced the version of another, and was told; null: there is none. */
function successor(
  { writes, attempts, lateHooks: [late] }: History, { token }: Write,
): Write | null {
  return writes.find((write) => write.expected === token && isPut(write)
    && (write.endMs < (late?.beginMs ?? 0) || write.beginMs > (late?.endMs ?? 0))
    && attempts.some((attempt) => attempt.token === write.token)) ?? null;
}

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
  'a late webhook is told at once of what comes while it is made': [null, late(11, 50)],
  'a late webhook is told at once of what comes later': ['overtaken', late(11, 19)],
  'an event is told on the moment': [null,
    { ...emitted([emission('e', 100)], [[100, 110]]), clockOffMs: 0 }],
  'an event is told a moment early by a clock that is off': [null,
    { ...emitted([emission('e', 100)], [[60, 70]]), clockOffMs: 40 }],
  'an event is told too early for a clock that is off': ['early',
    { ...emitted([emission('e', 100)], [[59, 70]]), clockOffMs: 40 }],
  'a delayed event is told after a later one': ['overtaken',
    emitted([emission('e', 100), emission('f', 102)], [[140, 150], [130, 141]])],
  'a delayed event is told after one of the same moment': [null,
    emitted([emission('e', 100), emission('f', 101)], [[140, 150], [130, 141]])],
  'a delayed event is told after a later one of another key': [null,
    emitted([emission('e', 100), emission('f', 102, { key: 'other' })], [[140, 150], [130, 141]])],
  'a delayed event is told after a later one where a process stood still': [null,
    { ...emitted([emission('e', 100), emission('f', 102)], [[140, 150], [130, 141]]),
      frozen: [{ node: 'a', beginMs: 145, endMs: 146 }] }],
  'an event that comes later passes a delayed one that is about to begin': [null,
    emitted([emission('e', 100), emission('f', 102, { isDelayed: false })],
      [[140, 150], [130, 141]])],
  'an event passes one that came earlier': ['overtaken',
    emitted([emission('e', 0, { isDelayed: false }), emission('f', 100)],
      [[140, 150], [130, 141]])],
  'an unknown event that never came': [null,
    emitted([emission('e', 100, { outcome: 'unknown', dueToMs: Infinity })], [])],
  'an event that may be cancelled is not told': [null,
    emitted([emission('e', 100, { cancellation: cancelled('unknown', 50, Infinity) })], [])],
  'an event is not told although it was refused to cancel it': ['delivery',
    emitted([emission('e', 100, { cancellation: cancelled('refused', 150, 160, 'begun') })], [])],
  'it is refused to cancel an event that has begun': [null,
    emitted([emission('e', 100, { cancellation: cancelled('refused', 90, 100, 'begun') })],
      [[100, 110]])],
  'it is refused to cancel an event that has not begun': ['refusal',
    emitted([emission('e', 100, { cancellation: cancelled('refused', 90, 99, 'begun') })],
      [[100, 110]])],
  'an event is not there when it is to be cancelled': ['refusal',
    emitted([emission('e', 100, { cancellation: cancelled('refused', 50, 60, 'missing') })],
      [[100, 110]])],
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

/** A webhook that was made within the span, and told of the second write before the first. */
function late(beginMs: number, endMs: number): Partial<History> {
  return { ...told([100, 120], [60, 70]), lateHooks: [{ hook: '/', beginMs, endMs }] };
}

function emission(token: string, dueMs: number, more: Partial<Emission> = {}): Emission {
  return { node: 'a', beginMs: 0, endMs: 10, outcome: 'ok', token, key: 'k', isDelayed: true,
    dueFromMs: dueMs, dueToMs: dueMs + 1, cancellation: null, ...more };
}

function cancelled(
  outcome: Emission['outcome'], beginMs: number, endMs: number,
  refusal: 'begun' | 'missing' | null = null,
): Emission['cancellation'] {
  return { outcome, beginMs, endMs, refusal };
}

/** Events of which each has one attempt, if it has one. */
function emitted(
  emissions: readonly Emission[], spans: readonly (readonly [number, number])[],
): Partial<History> {
  const attempts = spans.map(([beginMs, endMs], index): Attempt => {
    const token = emissions[index]?.token ?? '';
    return { delivery: `of ${token}`, hook: '/', token, beginMs, endMs };
  });
  return { emissions, attempts, emissionHooks: ['/'], orderedEmissionHooks: ['/'] };
}

function overlapping(): Attempt[] {
  return [[0, 20], [10, 30]].map(([beginMs = 0, endMs = 0]) =>
    ({ delivery: 'd', hook: '/', token: 't', beginMs, endMs }));
}

function event(sequence: number, key: string, token: string): Event {
  return { sequence, key, token, bytes: token };
}

function first<T>(items: readonly T[]): T {
  const [item] = items;
  assert.ok(item !== undefined, 'the history has one');
  return item;
}

function mapEmissions(history: History, one: Emission, change: Partial<Emission>): History {
  return { ...history, emissions: history.emissions.map((emission) =>
    emission === one ? { ...emission, ...change } : emission) };
}

function mapRecords(
  history: History, change: (record: DeliveryRecord, index: number) => DeliveryRecord,
): History {
  return { ...history, records: history.records?.map(change) ?? null };
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
