import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestList } from '../../../src/webhooks/inbox/request-list.ts';
import {
  REQUEST_STATUSES, type StoredRequest,
} from '../../../src/webhooks/incoming/stored-request.ts';
import { changeItem, removeItems } from '../../../src/webhooks/work/change-items.ts';
import { addRequest, requestSpec } from '../../../src/webhooks/inbox/request-changes.ts';
import type { RequestFilter } from '../../../src/webhooks/inbox/request-fields.ts';
import { RequestStates } from '../../../src/webhooks/inbox/request-states.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { below, createRandom } from '../../support/random.ts';
import { makeStoredRequest, runAll } from './sample-request.ts';

const HOOKS = ['a', 'b', 'c'].map((end) => `01890000-0000-7000-8000-00000000000${end}`);
const EVENTS = [null, 'push', 'ping', '{"event":"x"}', '\\"', 'ü'];
const EVENT_IDS = [null, 'evt_1', '"', '\\","event":"push', 'ü'];
const STORED = REQUEST_STATUSES.filter((status) => status !== 'rejected');

function openList(store: MemoryStore, all: () => readonly StoredRequest[]): RequestList {
  return new RequestList(store, new RequestStates(store), { all, find: () => undefined },
    () => assert.fail('nothing is searched'));
}

/** The request after its routes have run; one without routes stays as it is. */
function finish(request: StoredRequest): StoredRequest {
  return runAll(request, Date.parse(request.updatedAt), { data: { event: 'push' } });
}

test('a page goes through the rejected requests once', async () => {
  const store = createMemoryStore(webhookCollections);
  let walks = 0;
  const all = (): readonly StoredRequest[] => {
    walks += 1;
    return [makeStoredRequest({ given: { status: 'rejected' } })];
  };
  const list = openList(store, all);
  const filter = {
    hook: null, status: null, event: null, eventId: null, time: null,
  };
  assert.deepEqual([(await list.list(filter, null, 3)).length, walks], [1, 1]);
});

test('every list is what a naive one finds, whatever is stored, changed and deleted', async () => {
  const random = createRandom(7);
  const pick = <T>(values: readonly T[]): T => values[below(random, values.length)] as T;
  const store = createMemoryStore(webhookCollections);
  const rejected: StoredRequest[] = [];
  const kept = new Map<string, StoredRequest>();
  const list = openList(store, () => rejected);
  const maybe = <T>(values: readonly T[]): T | null => below(random, 2) === 0 ? null : pick(values);
  for (let round = 0; round < 150; round += 1) {
    const atMs = Date.UTC(2026, 0, 1) + below(random, 50) * 1000;
    const at = new Date(atMs).toISOString();
    const id = `01890000-0000-7000-8000-${String(below(random, 1e9)).padStart(12, '0')}`;
    const made = makeStoredRequest({ given: {
      id, hook: pick(HOOKS), event: pick(EVENTS), eventId: pick(EVENT_IDS),
      receivedAt: at, updatedAt: at,
      status: pick(STORED), pinned: below(random, 2) === 0,
    } });
    const old = pick([...kept.keys(), '']);
    if (below(random, 4) === 0) rejected.push({ ...made, status: 'rejected' });
    else {
      await store.transact((transaction) => {
        addRequest(transaction, made, Buffer.from('{}'));
        if (round % 3 === 0) removeItems(requestSpec, transaction, [old], 'deleted');
        if (round % 3 === 1) changeItem(requestSpec, transaction, old, finish);
      });
      kept.set(id, made);
      const before = kept.get(old);
      if (round % 3 === 0) kept.delete(old);
      if (round % 3 === 1 && before !== undefined) kept.set(old, finish(before));
    }
    const time = (): number => Date.UTC(2026, 0, 1) + below(random, 50) * 1000;
    const filter: RequestFilter = {
      hook: maybe(HOOKS), status: maybe(REQUEST_STATUSES), event: maybe(['push', '{"event":"x"}',
        '\\"', 'ü', 'none']),
      eventId: below(random, 4) === 0 ? pick(['none', ...EVENT_IDS]) : null,
      time: maybe([{ sinceMs: maybe([time()]), untilMs: maybe([time()]) }]),
    };
    const wanted = [...kept.values(), ...rejected].filter((request) => {
      const { hook, status, event, eventId, time: span } = filter;
      const receivedMs = Date.parse(request.receivedAt);
      return [[hook, request.hook], [status, request.status], [event, request.event],
        [eventId, request.eventId]]
        .every(([one, other]) => one === null || one === other)
        && receivedMs >= (span?.sinceMs ?? 0) && receivedMs < (span?.untilMs ?? Infinity);
    }).map((request) => request.id).sort().reverse();
    assert.equal(await list.count(filter), wanted.length);
    const found: string[] = [];
    for (let isMore = true; isMore;) {
      const page = await list.list(filter, found.at(-1) ?? null, 3);
      found.push(...page.map((request) => request.id));
      isMore = page.length === 3;
    }
    assert.deepEqual(found, wanted, JSON.stringify(filter));
  }
});
