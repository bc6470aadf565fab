/** The checker accepts what keeps every promise, and finds each promise broken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from './check.ts';
import { EMPTY } from './history.ts';
import type {
  Attempt, DeliveryRecord, Emission, Event, History, Image, Read, Span, Violation, Write,
} from './history.ts';

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
  'every write is told, stored and delivered': [null, whole()],
  'an acknowledged write is lost': ['once', whole({ events: [event(1, 'k', '1')], images: [] })],
  'a write is in the log twice': ['once',
    { writes: [created, { ...second, sequence: null }], followers: [{ node: 'a', from: 0,
      events: [event(1, 'k', '1'), event(2, 'k', '2'), event(3, 'k', '2')] }] }],
  'a refused write is there': ['once',
    { writes: [created, { ...second, ...refused, refusal: 'unavailable' }], followers: [
      { node: 'a', from: 0, events: [event(1, 'k', '1'), event(2, 'k', '2')] }] }],
  'the log holds what nobody wrote': ['once', whole({
    events: [event(1, 'k', '1'), event(2, 'k', '2'), event(3, 'm', 'x')], images: [] })],
  'one node misses a change': ['stream', { ...whole(), followers: [
    { node: 'a', from: 0, events: [event(1, 'k', '1'), event(2, 'k', '2')] },
    { node: 'b', from: 0, events: [event(2, 'k', '2')] }] }],
  'one node was told otherwise': ['image', { ...whole(), images: [], followers: [
    { node: 'a', from: 0, events: [event(1, 'k', '1'), event(2, 'k', '2')] },
    { node: 'b', from: 0, events: [event(1, 'k', '1'), { ...event(2, 'k', '2'), bytes: ' ' }] }] }],
  'one image differs at the end': ['image', whole({ images: [image('a', '2'), image('b', '1')] })],
  'an answer names a sequence that is too early': ['sequence',
    { ...whole(), writes: [created, { ...second, sequence: 1 }] }],
  'a later write stands before an earlier one': ['sequence', {
    writes: [{ ...created, beginMs: 20, endMs: 30 }, write('2', 0, 10, { sequence: 2 })],
    followers: [{ node: 'a', from: 0, events: [event(1, 'k', '1'), event(2, 'of 2', '2')] }] }],
  'a write is never told': ['delivery', whole({
    attempts: [attempt('a', '1', 0, 20)], records: null })],
  'a write is told in two deliveries': ['delivery', whole({ records: null, attempts: [
    attempt('a', '1', 0, 20), attempt('b', '2', 30, 40), attempt('c', '2', 30, 40)] })],
  'a refused write is told': ['delivery',
    { ...told([0, 20], [30, 40]), hooks: ['/'], followers: [],
      writes: [created, { ...second, ...refused, refusal: 'unavailable' }] }],
  'a delivery that was final is open again': ['delivery', { ...whole(), deliveries: [
    { delivery: 'a', sequence: 3, attempts: 1, isFinal: true },
    { delivery: 'a', sequence: 4, attempts: 1, isFinal: false }] }],
  'an attempt of a delivery is forgotten': ['delivery', { ...whole(), deliveries: [
    { delivery: 'a', sequence: 3, attempts: 2, isFinal: false },
    { delivery: 'a', sequence: 4, attempts: 1, isFinal: false }] }],
  'a delivery that was attempted has no record': ['record', whole({ records: [record('a')] })],
  'a delivery is never finished': ['record',
    whole({ records: [record('a'), { ...record('b'), isDelivered: false }] })],
  'a record was never attempted': ['record',
    whole({ records: [record('a'), record('b'), record('c')] })],
  'a webhook has two deliveries of one event': ['record',
    whole({ records: [record('a'), { ...record('b'), event: 'a' }] })],
  'an event is told in two deliveries': ['delivery', {
    emissionHooks: ['/'], emissions: [emission('1', 0)],
    attempts: [attempt('a', '1', 0, 20), attempt('b', '1', 0, 20)] }],
  'an event is told that was refused': ['delivery',
    emitted([emission('e', 100, { outcome: 'refused' })], [[100, 110]])],
  'a cancelled event begins': ['cancelled',
    emitted([emission('e', 100, { cancellation: cancelled('ok', 50, 60) })], [[100, 110]])],
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

/** Two writes of one record that are in the log, in all images, and were told and delivered. */
function whole({ events = [event(1, 'k', '1'), event(2, 'k', '2')], ...more }: Partial<History> & {
  readonly events?: readonly Event[];
} = {}): Partial<History> {
  return {
    ...told([0, 20], [30, 40]), hooks: ['/'], followers: [{ node: 'a', from: 0, events }],
    images: [image('a', '2'), image('b', '2')], records: [record('a'), record('b')], ...more,
  };
}

function image(node: string, token: string): Image {
  return { node, beginMs: 50, endMs: 60, sequence: 2,
    records: new Map([['k', { token, bytes: token }]]) };
}

function attempt(delivery: string, token: string, beginMs: number, endMs: number): Attempt {
  return { delivery, hook: '/', token, beginMs, endMs };
}

function record(delivery: string): DeliveryRecord {
  return { delivery, hook: '/', event: delivery, isDelivered: true };
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
