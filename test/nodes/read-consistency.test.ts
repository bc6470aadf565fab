import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createReadConsistency } from '../../src/nodes/read-consistency.ts';
import { callApiAnyStatus, openResponse, type ApiTarget } from '../../src/server/local/api-call.ts';
import { createMemoryTarget } from '../../src/server/local/memory-target.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import type { HttpRoute } from '../../src/server/http-route.ts';
import { Dispatcher } from '../../src/server/routing/dispatcher.ts';
import type { Replica } from '../../src/store/store-port.ts';
import { turnsUntil } from '../support/turns.ts';

type MutableReplica = { -readonly [Name in keyof Replica]: Replica[Name] };

const route = (members: Partial<HttpRoute>): HttpRoute => ({
  method: 'GET', path: '/api/things', operationId: 'listThings', summary: '', access: 'read',
  responses: [], handle: (exchange) => exchange.sendJson(200, {}), ...members,
});
const ROUTES: readonly HttpRoute[] = [
  route({}), route({ method: 'POST', operationId: 'addThing' }),
  route({
    path: '/api/texts', method: 'POST', operationId: 'addText',
    handle: (exchange) => exchange.send(200, 'Content-Type: application/json\r\n', '{}'),
  }),
  route({ path: '/healthz', operationId: 'getHealth', access: 'public' }),
  route({ path: '/api/status', operationId: 'getStatus' }),
  ...['/webhook/in', '/hooks'].map((path) => route({
    path: `${path}/{rest...}`, method: 'ANY', operationId: 'receive', access: 'public',
    isIncomingWebhook: true,
  })),
];

function targetOf(replica: Replica, routes = ROUTES): ApiTarget {
  const dispatcher = new Dispatcher({
    routes, guard: null, clock: systemClock, logger: silentLogger, metrics: new Metrics(),
    bodyBytesMax: 1000, accessLog: 'off', trustProxy: false,
    readConsistency: createReadConsistency(replica),
  });
  return createMemoryTarget(dispatcher.listeners('control').request);
}

function replicaOf(members: Partial<MutableReplica> = {}): MutableReplica {
  const steadyMembers = { sequence: 7, isReloading: false, isBehindSincePause: () => false };
  return { ...steadyMembers, ...members } as MutableReplica;
}

function serve(replica: Partial<MutableReplica>): (
  method: 'GET' | 'POST', path: string, headers?: Readonly<Record<string, string>>,
) => ReturnType<typeof callApiAnyStatus> {
  const target = targetOf(replicaOf(replica));
  return (method, path, headers = {}) => callApiAnyStatus(target, { method, path, headers });
}

test('answers to writes tell the sequence, those to reads do not', async () => {
  const ask = serve({});
  const sequenceOf = async (method: 'GET' | 'POST', path: string): Promise<unknown> => {
    const { status, headers } = await ask(method, path);
    assert.equal(status, 200, path);
    return headers['hookshelf-sequence'];
  };
  assert.equal(await sequenceOf('POST', '/api/things'), '7');
  assert.equal(await sequenceOf('POST', '/webhook/in/x'), '7');
  assert.equal(await sequenceOf('GET', '/webhook/in/x'), '7');
  assert.equal(await sequenceOf('GET', '/hooks/x'), '7');
  assert.equal(await sequenceOf('POST', '/api/texts'), '7');
  assert.equal(await sequenceOf('GET', '/api/things'), undefined);
});

test('an answer that streams while it writes tells the last sequence in a trailer', async () => {
  const replica = replicaOf();
  const lines = ['{}\n', '{}\n'];
  const target = targetOf(replica, [route({
    method: 'POST',
    handle: (exchange) => exchange.sendStream(200, [], () => {
      const line = lines.shift();
      if (line === undefined) return null;
      replica.sequence += 1;
      return [Buffer.from(line)];
    }),
  })]);
  const response = await openResponse(target, { method: 'POST', path: '/api/things' });
  assert.equal(response.headers.trailer, 'Hookshelf-Sequence');
  await once(response.resume(), 'end');
  assert.deepEqual({ ...response.trailers }, { 'hookshelf-sequence': '9' });
});

test('what no record is in waits for no sequence', async () => {
  const ask = serve({ waitFor: async () => false });
  for (const path of ['/healthz', '/api/status', '/webhook/in/x', '/hooks/x']) {
    const { status } = await ask('GET', path, { 'Hookshelf-Sequence': '9' });
    assert.equal(status, 200, path);
  }
});

test('the OpenAPI document tells of the sequence of writes and reads', () => {
  const { describeRoute } = createReadConsistency(replicaOf());
  const responses = [200, 404].map((status) => ({ status, description: '' }));
  const [read, write, , health] = ROUTES.map((each) =>
    describeRoute({ ...each, responses }));
  assert.deepEqual(read?.parameters?.map(({ name }) => name), ['Hookshelf-Sequence']);
  assert.deepEqual(read?.responses.map(({ status }) => status), [200, 404, 503]);
  assert.deepEqual(write?.responses.map(({ headers }) => Object.keys(headers ?? {})),
    [['Hookshelf-Sequence'], []]);
  assert.equal(health?.parameters, undefined);
});

test('a read waits for the sequence that it names, and for no other', async () => {
  const waitCalls: number[] = [];
  let isThere = true;
  const ask = serve({
    waitFor: async (sequence, timeoutMs) => {
      waitCalls.push(sequence, timeoutMs);
      return isThere;
    },
  });
  const read = (value: string): ReturnType<typeof ask> =>
    ask('GET', '/api/things', { 'Hookshelf-Sequence': value });
  assert.equal((await read('7')).status, 200);
  assert.deepEqual(waitCalls, []);
  assert.equal((await read('8')).status, 200);
  assert.deepEqual(waitCalls, [8, 2000]);
  isThere = false;
  const lateResponse = await read('9');
  assert.equal(lateResponse.status, 503);
  assert.equal(lateResponse.headers['retry-after'], '1');
  assert.equal((await ask('POST', '/api/things', { 'Hookshelf-Sequence': '9' })).status, 200);
  for (const bad of ['', '-1', '1.5', 'x', '1'.repeat(16)]) {
    assert.equal((await read(bad)).status, 400, bad);
  }
});

test('while the records are loaded anew nothing is served that reads them', async () => {
  const ask = serve({ isReloading: true });
  for (const [method, path, status] of [
    ['GET', '/api/things', 503], ['POST', '/api/things', 503], ['POST', '/webhook/in/x', 503],
    ['GET', '/healthz', 200], ['GET', '/api/status', 200], ['GET', '/nothing', 404],
  ] as const) assert.equal((await ask(method, path)).status, status, path);
});

test('after this process stood still, reads of records wait until it has caught up', async () => {
  let goOn = (): void => {};
  const caughtUp = new Promise<void>((resolve) => void (goOn = resolve));
  let waits = 0;
  const ask = serve({
    isBehindSincePause: () => true,
    waitAfterPause: () => {
      waits += 1;
      return caughtUp;
    },
  });
  const servedPaths: string[] = [];
  const reads = ['/api/things', '/api/status', '/healthz'].map(async (path) => {
    assert.equal((await ask('GET', path)).status, 200);
    servedPaths.push(path);
  });
  assert.equal((await ask('POST', '/api/things')).status, 200);
  await turnsUntil(() => servedPaths.length === 2);
  assert.deepEqual(servedPaths.toSorted(), ['/api/status', '/healthz']);
  goOn();
  await Promise.all(reads);
  assert.equal(servedPaths.at(-1), '/api/things');
  // Whoever begins to wait and does not handle how it ends would end the process.
  assert.equal(waits, 1);
});

test('a read that waits is not served from records that are loaded anew meanwhile', async () => {
  for (const headers of [{}, { 'Hookshelf-Sequence': '8' }]) {
    let goOn = (): void => {};
    const waited = new Promise<void>((resolve) => void (goOn = resolve));
    let isWaiting = false;
    const wait = async (): Promise<true> => {
      isWaiting = true;
      await waited;
      return true;
    };
    const replica = replicaOf({
      isBehindSincePause: () => true, waitFor: wait,
      waitAfterPause: async () => void await wait(),
    });
    const read = callApiAnyStatus(targetOf(replica), {
      method: 'GET', path: '/api/things', headers,
    });
    await turnsUntil(() => isWaiting);
    Object.assign(replica, { isReloading: true });
    goOn();
    assert.equal((await read).status, 503);
  }
});
