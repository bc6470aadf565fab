/** Real processes: what the inbox was answered for outlives a kill, and so do the ids of events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { make, withRelay, type Survivor } from './survivor.ts';

const ID = { 'x-event-id': 'event-1' };
const ROUNDS = 3;

type Shown = {
  readonly id: string; readonly status: string; readonly duplicateOf: string | null;
  readonly routes: readonly { readonly attempts: readonly unknown[] }[];
};

const send = async (
  server: Survivor, headers: Readonly<Record<string, string>> = ID,
): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> => {
  const { status, text } = await server.call('/webhook/in/inbox', '{"n":1}', headers);
  return { status, json: JSON.parse(text) };
};

async function makeWebhook(server: Survivor, url: string, members: object): Promise<void> {
  await make(server, '/api/action-configurations', {
    identifier: 'forward', actionType: 'http-forward', options: { url },
  });
  await make(server, '/api/incoming-webhooks', {
    pathSegment: 'inbox', actionConfiguration: 'forward', inbox: 'all',
    deduplicate: { header: 'x-event-id' }, ...members,
  });
}

async function killAndStart(server: Survivor): Promise<void> {
  await server.stop('SIGKILL');
  await server.start();
}

test('what was answered as accepted is there after a kill straight after the answer', () =>
  withRelay({}, async (server, target) => {
    await target.turn('down');
    await makeWebhook(server, target.url, { answer: 'accepted' });
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { status, json } = await send(server, { 'x-event-id': `event-${round}` });
      await killAndStart(server);
      assert.equal(status, 200);
      ids.push(String((json['data'] as { readonly request: string }).request));
    }
    const shown = await server.list<Shown>('/api/requests');
    assert.deepEqual(shown.map(({ id }) => id), ids.toReversed());
    assert.deepEqual(shown.map(({ status }) => status), ids.map(() => 'pending'));
    const again = await send(server, { 'x-event-id': 'event-0' });
    assert.deepEqual([again.json['message'], again.json['data']],
      ['Duplicate', { request: ids[0] }]);
  }));

test('an event that was done is a duplicate after a kill, too', () =>
  withRelay({}, async (server, target) => {
    await makeWebhook(server, target.url, {});
    const first = await send(server);
    assert.deepEqual([first.status, first.json['message']], [200, '']);
    await killAndStart(server);
    const second = await send(server);
    assert.deepEqual([second.status, second.json], [200, { ...first.json, message: 'Duplicate' }]);
    assert.equal(target.arrived.length, 1);
    const [duplicate, original] = await server.list<Shown>('/api/requests');
    assert.deepEqual([duplicate?.status, duplicate?.duplicateOf, original?.status],
      ['duplicate', original?.id, 'done']);
  }));

test('an event that failed runs again on its request after a kill', () =>
  withRelay({}, async (server, target) => {
    await makeWebhook(server, target.url, { inbox: 'failed' });
    await target.turn('failing');
    assert.equal((await send(server)).status, 400);
    await killAndStart(server);
    await target.turn('up');
    assert.equal((await send(server)).status, 200);
    const [request, ...others] = await server.list<Shown>('/api/requests');
    assert.deepEqual(others, []);
    assert.deepEqual([request?.status, request?.routes[0]?.attempts.length], ['done', 2]);
    assert.deepEqual(target.arrived.map(({ headers }) => headers['x-hookshelf-request']),
      [request?.id]);
  }));
