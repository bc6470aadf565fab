/**
 * Real processes: a bulk replay through kill -9, and one that is cancelled. A long run:
 * HOOKSHELF_BULK_REQUESTS=100000.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findCommitted } from '../../src/store/find-record.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { decodeRequest, requestCollection } from '../../src/webhooks/inbox/request-codec.ts';
import type { StoredRequest } from '../../src/webhooks/incoming/stored-request.ts';
import { addRequest } from '../../src/webhooks/inbox/request-changes.ts';
import { withAppStore } from '../support/app-store.ts';
import { IS_LONG } from '../support/long.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { makeRoute, makeStoredRequest } from '../webhooks/inbox/sample-request.ts';
import { addRecord, ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const COUNT = Number(process.env['HOOKSHELF_BULK_REQUESTS'] ?? (IS_LONG ? 3000 : 1500));
const KILLS = IS_LONG ? 5 : 3;
const STEP = 250;
const LOOKS_MAX = 20_000;
const PAUSE_MS = 20;
const BODY = Buffer.from(JSON.stringify({ text: 'b'.repeat(700) }));
const AT = new Date().toISOString();
const FAILED = makeRoute({ status: 'failed', nextAttemptAt: null }, AT);
/** Copies that there is room for where a job is to stop in the middle. */
const ROOM = 500;

type Job = {
  readonly id: string; readonly status: string;
  readonly total: number; readonly done: number; readonly failed: number;
};

/** Stores failed requests that nothing pushes out; no one else has the directory. */
function keepFailed(data: string, hook: string): Promise<void> {
  const makeId = createIdSource(systemClock);
  return withAppStore(data, async (store) => {
    for (let first = 0; first < COUNT; first += STEP) {
      const ids = Array.from({ length: Math.min(STEP, COUNT - first) }, makeId);
      await store.transact((transaction) => {
        for (const id of ids) {
          const given = {
            id, hook, receivedAt: AT, updatedAt: AT, status: 'failed', deliveries: [FAILED],
            pinned: true,
          } as const;
          addRequest(transaction, makeStoredRequest({ body: BODY, given }), BODY);
        }
      });
    }
  });
}

/** What is on disk; no one else has the directory. */
function requestsIn(data: string): Promise<StoredRequest[]> {
  return withAppStore(data, (store) => {
    const records = store.collection(requestCollection.name);
    const walk = records.walk();
    const found: StoredRequest[] = [];
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = records.bytesAt(slot);
      if (bytes !== undefined) found.push(decodeRequest(bytes, findCommitted(store)));
    }
    return Promise.resolve(found);
  });
}

/** The identifier of a webhook in a new directory; it is disabled, so that what is due waits. */
async function makeHook(data: string): Promise<string> {
  const server = await start(data);
  try {
    await addRecord(`${server.url}/api/action-configurations`,
      { identifier: 'to-log', actionType: 'log' });
    return await addRecord(`${server.url}/api/incoming-webhooks`,
      { pathSegment: 'hook', actionConfiguration: 'to-log', enabled: false });
  } finally {
    await server.stop();
  }
}

async function replay(server: Running, body: object): Promise<Job> {
  const answer = await ask(`${server.url}/api/requests/replay`, { method: 'POST', body });
  assert.equal(answer.status, 202, answer.text);
  return JSON.parse(answer.text);
}

/** Looks at the job until it is as wanted. */
async function untilJob(
  server: Running, id: string, isWanted: (job: Job) => boolean,
): Promise<Job> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const job: Job = JSON.parse((await ask(`${server.url}/api/jobs/${id}`)).text);
    if (isWanted(job)) return job;
  }
  return assert.fail(`job ${id} is not as wanted`);
}

/** Waits until no request is pending. */
async function untilRun(server: Running): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const { text } = await ask(`${server.url}/api/requests/reconcile`);
    const { pending, isReconciled } = JSON.parse(text);
    assert.equal(isReconciled, true, text);
    if (pending === 0) return;
    await wait(PAUSE_MS);
  }
  assert.fail('the requests were not run');
}

/** With room for so many copies of the requests. */
function start(data: string, room = COUNT * 2): Promise<Running> {
  return startServer(['--data', data], {
    environment: {
      HOOKSHELF_INBOX_MAX_COUNT: String(COUNT + room), HOOKSHELF_INBOX_MAX_BYTES: '4000000000',
    },
  });
}

test('a bulk replay goes on through kill -9, and repeats and skips nothing', (t) =>
  inFolder(async (data) => {
    const hook = await makeHook(data);
    await keepFailed(data, hook);
    let server = await start(data, ROOM);
    try {
      const { id, total } = await replay(server, { status: 'failed', as: 'new' });
      assert.equal(total, COUNT);
      const first = await untilJob(server, id, ({ done }) => done >= ROOM);
      assert.ok(first.done < COUNT && first.status === 'running', 'it waits in the middle');
      const seen: number[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const share = Math.floor(COUNT / (KILLS + 1)) * (kill + 1);
        const { done } = await untilJob(server, id, (job) =>
          job.status === 'done' || kill === 0 || job.done >= share);
        seen.push(done);
        await server.stop('SIGKILL');
        server = await start(data);
      }
      t.diagnostic(`killed at ${seen.join(', ')} of ${COUNT}`);
      const { status, done, failed } = await untilJob(server, id, (job) => job.status === 'done');
      assert.deepEqual({ status, done, failed }, { status: 'done', done: COUNT, failed: 0 });
      await ask(`${server.url}/api/incoming-webhooks/${hook}`, {
        method: 'PATCH', body: { enabled: true },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      await untilRun(server);
      await server.stop();
      const requests = await requestsIn(data);
      const originals = requests.filter(({ replayOf }) => replayOf === null).map((one) => one.id);
      const copies = requests.filter(({ replayOf }) => replayOf !== null);
      assert.equal(copies.length, COUNT, 'one for each');
      assert.deepEqual(copies.map(({ replayOf }) => replayOf).sort(), originals, 'none twice');
      assert.ok(copies.every(({ deliveries: [one] }) => one?.attempts.length === 1), 'run once');
    } finally {
      await server.stop('SIGKILL');
    }
  }));

test('what a cancelled bulk replay has done stays done, and no more comes', (t) =>
  inFolder(async (data) => {
    await keepFailed(data, await makeHook(data));
    let server = await start(data, ROOM);
    try {
      const { id } = await replay(server, { status: 'failed', as: 'new' });
      await untilJob(server, id, ({ done }) => done > 0);
      const answer = await ask(`${server.url}/api/jobs/${id}`, { method: 'DELETE' });
      const job: Job = JSON.parse(answer.text);
      t.diagnostic(`cancelled at ${job.done} of ${COUNT}`);
      assert.equal(job.status, 'cancelled');
      assert.ok(job.done < COUNT, 'in the middle');
      await server.stop('SIGKILL');
      server = await start(data);
      assert.deepEqual(await untilJob(server, id, () => true), job);
      await server.stop();
      const copies = (await requestsIn(data)).filter(({ replayOf }) => replayOf !== null);
      assert.equal(copies.length, job.done);
    } finally {
      await server.stop('SIGKILL');
    }
  }));
