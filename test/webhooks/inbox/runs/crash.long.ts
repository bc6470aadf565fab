/**
 * A crash at any operation on the disk while requests are accepted and run: whatever was answered
 * is there, is done in the end, and what was recorded as done is not run again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp } from '../../../../src/base/clock.ts';
import { createIdSource } from '../../../../src/base/uuid.ts';
import { findCommitted } from '../../../../src/store/find-record.ts';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { addRequest } from '../../../../src/webhooks/inbox/request-changes.ts';
import { decodeRequest, requestCollection } from '../../../../src/webhooks/inbox/request-codec.ts';
import type { StoredRequest } from '../../../../src/webhooks/incoming/stored-request.ts';
import { about, imagesOf, sample } from '../../../support/crashes.ts';
import { IS_LONG } from '../../../support/long.ts';
import { Disk } from '../../../support/simulated-disk.ts';
import { openRelayOn, recordsIn, type DiskRelay } from '../../relay-on-disk.ts';
import { makeRoute, makeStoredRequest } from '../sample-request.ts';

const ROUTES = ['sure', 'flaky'];
const REQUESTS = 12;
const IMAGES = IS_LONG ? 80 : 30;
const BODY = Buffer.from('{"n":1}');
const LARGE = Buffer.alloc(20_000, 'x');

/** Opens a relay: one route succeeds at once, the other the second time that anybody asks. */
function openOn(disk: Disk, startMs?: number): Promise<DiskRelay> {
  const asked = new Set<string>();
  return openRelayOn(disk, {
    ...startMs === undefined ? {} : { startMs },
    act({ request, route }) {
      const key = `${request} ${route}`;
      if (route === 'sure' || asked.has(key)) return ActionResult.ok({ n: 1 });
      asked.add(key);
      return ActionResult.fail('not yet');
    },
  });
}

async function addWebhook({ webhooks }: DiskRelay): Promise<string> {
  const { configurations, incoming } = webhooks.resources;
  for (const route of ROUTES) {
    await configurations.add({ identifier: route, actionType: 'scripted', options: { route } });
  }
  const view = await incoming.add({
    pathSegment: 'hook', inbox: 'all', answer: 'accepted',
    routes: ROUTES.map((name) => ({ name, actionConfiguration: name })),
  });
  return String(JSON.parse(view.bytes.toString()).identifier);
}

/** Keeps a request as the endpoint does before it answers; where in the history it was on disk. */
async function accept(
  { store, clock, files }: DiskRelay, hook: string, body: Buffer, makeId: () => string,
): Promise<{ readonly id: string; readonly index: number }> {
  const id = makeId();
  const at = formatTimestamp(clock.now());
  const deliveries = ROUTES.map((route) => makeRoute({ route }, at));
  const request = makeStoredRequest({
    body, given: { id, hook, receivedAt: at, updatedAt: at, deliveries },
  });
  await store.transact((transaction) => addRequest(transaction, request, body));
  return { id, index: files.history.length };
}

function requestsIn({ store }: Pick<DiskRelay, 'store'>): Map<string, StoredRequest> {
  return new Map([...recordsIn(store, requestCollection)].map(([id, json]) =>
    [id, decodeRequest(Buffer.from(json), findCommitted(store))]));
}

const isDone = ({ status }: { readonly status: string }): boolean => status === 'done';

const finish = (relay: DiskRelay): Promise<void> =>
  relay.finish(() => [...requestsIn(relay).values()].every(isDone));

test('a crash at any moment loses nothing that was answered, and undoes nothing that was done',
  async () => {
    const whole = await openOn(new Disk());
    const makeId = createIdSource(whole.clock);
    const hook = await addWebhook(whole);
    const begun = whole.files.history.length;
    whole.webhooks.start();
    const answered: { readonly id: string; readonly index: number }[] = [];
    for (let count = 0; count < REQUESTS; count += 1) {
      answered.push(await accept(whole, hook, count % 4 === 0 ? LARGE : BODY, makeId));
      if (count % 3 === 0) await whole.clock.advance(2000);
      if (count === 6) await whole.store.compact();
    }
    await finish(whole);
    assert.ok([...requestsIn(whole).values()].every(isDone));
    await whole.close();
    const images = imagesOf(whole.files, { seeds: 2, pageBytes: 512, tornEvery: 7 })
      .filter(({ index }) => index >= begun);
    const recordedRuns = new Set<number>();
    for (const { disk, index, origin } of sample(images, IMAGES, 1)) {
      await about(origin, () => checkImage(disk, answered, index, recordedRuns));
    }
    assert.ok(recordedRuns.size >= 6, `crashes came in between: ${[...recordedRuns].join()}`);
  });

async function checkImage(
  disk: Disk, answered: readonly { readonly id: string; readonly index: number }[], index: number,
  recordedRuns: Set<number>,
): Promise<void> {
  // What was asked before the crash is forgotten: the action fails once more.
  const opened = await openOn(disk.clone(), Date.UTC(2026, 0, 1, 1));
  try {
    const before = requestsIn(opened);
    for (const { id, index: atIndex } of answered) {
      assert.ok(atIndex > index || before.has(id), `${id} was answered and is lost`);
    }
    recordedRuns.add([...before.values()].flatMap(({ deliveries }) => deliveries)
      .reduce((sum, { attempts }) => sum + attempts.length, 0));
    opened.webhooks.start();
    await finish(opened);
    const after = requestsIn(opened);
    assert.deepEqual([...after.keys()], [...before.keys()]);
    assert.ok([...after.values()].every(isDone), 'every one is done in the end');
    for (const { request, route } of opened.runs) {
      const recorded = before.get(request)?.deliveries.find((delivery) => delivery.route === route);
      assert.equal(recorded?.status, 'pending', `${request} ${route} was done and ran again`);
    }
    for (const { deliveries } of after.values()) {
      for (const { attempts, failures } of deliveries) {
        const failed = attempts.filter(({ success }) => !success).length;
        assert.deepEqual([failed, attempts.length], [failures, failures + 1]);
      }
    }
    const { isReconciled, problems } = await opened.webhooks.requests.reconcile();
    assert.ok(isReconciled, problems.join('; '));
  } finally {
    await opened.close();
  }
}
