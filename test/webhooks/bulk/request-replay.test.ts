import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredRequest } from '../../../src/webhooks/incoming/stored-request.ts';
import { findCommitted } from '../../../src/store/find-record.ts';
import { decodeRequest, requestCollection } from '../../../src/webhooks/inbox/request-codec.ts';
import { addRequest } from '../../../src/webhooks/inbox/request-changes.ts';
import { startRelay, startRelayFor, type Answer, type Relay } from '../relay.ts';
import { makeRoute, makeStoredRequest } from '../inbox/sample-request.ts';
import { endedJob } from './ended-job.ts';

const FAILED = makeRoute({ status: 'failed', nextAttemptAt: null });

const DONE = makeRoute({ status: 'delivered', nextAttemptAt: null });

class Place {
  readonly relay: Relay;
  readonly hook: string;

  constructor(relay: Relay, hook: string) {
    this.relay = relay;
    this.hook = hook;
  }

  /** Stores requests; each has its number as body and id, and is received in its second. */
  async keep(
    first: number, count: number, given: Partial<StoredRequest> = {},
  ): Promise<void> {
    await this.relay.store.transact((transaction) => {
      for (let number = first; number < first + count; number += 1) {
        const body = Buffer.from(String(number));
        addRequest(transaction, makeStoredRequest({
          body, given: {
            id: idOf(number), hook: this.hook, receivedAt: at(number), updatedAt: at(number),
            deliveries: [FAILED], status: 'failed', ...given,
          },
        }), body);
      }
    });
  }

  replay(body: object): Promise<Answer> {
    return this.relay.ask('POST', '/api/requests/replay', body);
  }

  /** The job once it has ended. */
  replayed(body: object): Promise<Answer['json']> {
    return endedJob(this.relay, '/api/requests/replay', body);
  }

  requests(): StoredRequest[] {
    const records = this.relay.store.collection(requestCollection.name);
    const walk = records.walk();
    const found: StoredRequest[] = [];
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = records.bytesAt(slot);
      if (bytes !== undefined) found.push(decodeRequest(bytes, findCommitted(this.relay.store)));
    }
    return found;
  }

  /** The numbers of the requests that an operator has sent again. */
  replays(): number[] {
    return this.requests().filter(({ isReplay }) => isReplay)
      .map(({ id }) => Number(id.slice(-12)));
  }
}

function idOf(number: number): string {
  return `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

async function withPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const relay = await startRelay();
  try {
    const made = await relay.hook({ actionType: 'log' });
    relay.webhooks.start();
    await use(new Place(relay, String(made.json['identifier'])));
  } finally {
    await relay.close();
  }
}

test('runs again what failed, each once', () => withPlace(async (place) => {
  await place.keep(0, 250);
  await place.keep(250, 3, { status: 'done', deliveries: [DONE] });
  const job = await place.replayed({ status: 'failed' });
  assert.deepEqual(job, {
    id: job['id'], kind: 'request-replay', status: 'done', reason: null, total: 250, done: 250,
    failed: 0, hook: null,
  });
  assert.deepEqual(place.replays(), Array.from({ length: 250 }, (_, number) => number));
  assert.equal(place.requests().length, 253);
}));

test('copies that are staged together do not all find the same room', async (context) => {
  const limits = { retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 8, maxBytes: 1 << 20 };
  const relay = await startRelayFor(context, { inbox: limits });
  const made = await relay.hook({ actionType: 'log' });
  const place = new Place(relay, String(made.json['identifier']));
  await place.keep(0, 1);
  const results = await Promise.allSettled(Array.from({ length: 12 }, () =>
    relay.webhooks.requests.replay(idOf(0), { routes: null, isNew: true })));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 8);
  assert.equal(relay.webhooks.requests.totals().accepted, 9);
});

test('a dry run counts and changes nothing', () => withPlace(async (place) => {
  await place.keep(0, 5);
  const answer = await place.replay({ status: 'failed', dryRun: true });
  assert.deepEqual([answer.status, answer.json], [200, { count: 5 }]);
  assert.deepEqual(place.replays(), []);
  assert.equal((await place.relay.ask('GET', '/api/jobs')).text, '[]');
}));

test('takes those that the filter means', () => withPlace(async (place) => {
  await place.keep(0, 2, { event: 'push' });
  await place.keep(2, 2, { status: 'done', deliveries: [DONE] });
  await place.keep(4, 2, { hook: '01890000-0000-7000-8000-00000000000b' });
  const cases: readonly (readonly [object, number])[] = [
    [{}, 6], [{ status: 'failed' }, 4], [{ status: 'done' }, 2], [{ event: 'push' }, 2],
    [{ event: 'pull' }, 0], [{ hook: place.hook }, 4], [{ hook: 'hook' }, 4],
    [{ hook: '01890000-0000-7000-8000-00000000000b' }, 2], [{ hook: 'none' }, 0],
    [{ since: at(1), until: at(4) }, 3], [{ since: '2026-01-01T01:00:05+01:00' }, 1],
    [{ status: 'failed', hook: 'hook', until: at(1) }, 1],
    [{ where: ['method=POST'], status: 'done' }, 2], [{ where: ['event=push', 'method=PUT'] }, 0],
    [{ where: ['headers.content-type~json', 'event=push'] }, 2],
  ];
  for (const [filter, count] of cases) {
    const { json } = await place.replay({ ...filter, dryRun: true });
    assert.deepEqual(json, { count }, JSON.stringify(filter));
  }
  await place.replayed({ hook: 'hook', status: 'failed' });
  assert.deepEqual(place.replays(), [0, 1]);
}));

test('counts as failed what has no webhook any more', () => withPlace(async (place) => {
  await place.keep(0, 3, { hook: '01890000-0000-7000-8000-00000000000b' });
  await place.keep(3, 2);
  const { total, done, failed } = await place.replayed({});
  assert.deepEqual({ total, done, failed }, { total: 5, done: 2, failed: 3 });
}));

test('makes new requests, and leaves those that it made alone', () => withPlace(async (place) => {
  await place.keep(0, 250);
  const { total, done } = await place.replayed({ as: 'new' });
  assert.deepEqual({ total, done }, { total: 250, done: 250 });
  const made = place.requests().filter(({ replayOf }) => replayOf !== null);
  assert.deepEqual(made.map(({ replayOf }) => replayOf),
    Array.from({ length: 250 }, (_, number) => idOf(number)));
  assert.equal(place.requests().length, 500);
}));

test('refuses a filter that says nothing sound', () => withPlace(async (place) => {
  const cases: readonly (readonly [object, string])[] = [
    [{ status: 'rejected' }, '/status'], [{ since: 'yesterday' }, '/since'],
    [{ as: 'copy' }, '/as'], [{ nope: 1 }, '/nope'], [{ dryRun: 'yes' }, '/dryRun'],
  ];
  for (const [body, pointer] of cases) {
    const answer = await place.replay(body);
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, new RegExp(`"pointer":"${pointer}"`));
  }
}));
