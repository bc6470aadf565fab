/** Real processes: who fails and since when is known after a kill and after a stop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookshelf } from './processes.ts';
import { make, withRelay, type Survivor } from './survivor.ts';
import { ask } from './ask.ts';
import { until } from '../support/until.ts';

type Hook = {
  readonly identifier: string; readonly targetUrl?: string;
  readonly health: {
    readonly state: string; readonly since: string; readonly lastSuccessAt: string | null;
    readonly lastFailure: { readonly at: string; readonly reason: string } | null;
  };
};

const OUTGOING = '/api/outgoing-webhooks';
const INCOMING = '/api/incoming-webhooks';

const countsAt = async (server: Survivor): Promise<unknown> =>
  (await server.get('/api/status'))['webhooks'];

test('four webhooks that fail are the same four, since the same times, after a kill', () =>
  withRelay({}, async (server, target) => {
    await target.turn('failing');
    for (let hook = 0; hook < 5; hook += 1) {
      await make(server, OUTGOING, {
        targetUrl: `${target.url}customers/${hook}`, retrySchedule: [0, 0, 3600],
        ...hook === 4 ? { enabled: false } : { triggerEvent: 'shop.opened' },
      });
    }
    await server.post('/api/events', { name: 'shop.opened', payload: {} });
    const failing = `${OUTGOING}?state=failing`;
    await until('four fail', async () => (await server.list(failing)).length === 4);
    const before = (await server.list<Hook>(failing)).map(({ identifier, health }) =>
      [identifier, health.since]);
    type Tried = { hook: string; attempts: { at: string }[] };
    let deliveries: readonly Tried[] = [];
    // The health tells of an attempt as soon as it is over; a kill forgets what is not written.
    await until('their three attempts are written', async () => {
      deliveries = await server.list<Tried>('/api/deliveries');
      return deliveries.length === 4 && deliveries.every(({ attempts }) => attempts.length === 3);
    });
    for (const { hook, attempts } of deliveries) {
      assert.deepEqual(before.find(([identifier]) => identifier === hook)?.[1], attempts[0]?.at);
    }
    await server.stop('SIGKILL');
    await server.start();
    const after = await server.list<Hook>(failing);
    assert.deepEqual(after.map(({ identifier, health }) => [identifier, health.since]), before);
    for (const { health } of after) assert.equal(health.lastFailure?.reason, 'HTTP 500');
    assert.deepEqual(await countsAt(server), { healthy: 0, failing: 4, rejecting: 0, off: 1 });
    const { text } = await ask(`${server.url}/metrics`);
    assert.match(text, /^hookshelf_webhooks\{direction="outgoing",state="failing"\} 4$/m);
    assert.match(text, /^hookshelf_webhooks\{direction="incoming",state="failing"\} 0$/m);
    for (const [identifier, since] of before) {
      const labels = `direction="outgoing",webhook="${identifier}",state="failing"`;
      const line = `hookshelf_webhook_unhealthy_since_timestamp_seconds{${labels}} `
        + `${Date.parse(String(since)) / 1000}`;
      assert.ok(text.includes(line), line);
    }
    const list = await hookshelf(
      ['outgoingwebhook:list', '--state', 'failing', '--server', server.url]);
    assert.equal(list.stdout.match(/^\S.* failing /gm)?.length, 4, list.stdout);
    assert.match(list.stdout, /^NAME .*STATE +SINCE/);
  }));

test('each of sixty accepted requests whose target is down is one request, and its runs are apart',
  () => withRelay({ HOOKSHELF_INCOMING_RETRY_SCHEDULE: '0' }, async (server, target) => {
    await target.turn('failing');
    await make(server, '/api/action-configurations', {
      identifier: 'forward', actionType: 'http-forward', options: { url: target.url },
    });
    await make(server, INCOMING, {
      pathSegment: 'orders', actionConfiguration: 'forward', inbox: 'all', answer: 'accepted',
    });
    for (let request = 0; request < 60; request += 1) {
      assert.equal(await server.post('/webhook/in/orders', { request }), 200);
    }
    await server.drain('requests');
    const sum = (values: unknown): number =>
      (values as number[]).reduce((total, value) => total + value, 0);
    type Series = Record<string, Record<string, unknown>>;
    const { requests, runs, hooks } =
      await server.get('/api/statistics') as unknown as Series & { readonly hooks: Series[] };
    for (const counted of [{ requests, runs }, hooks[0] ?? {}]) {
      assert.deepEqual([
        sum(counted.requests?.['accepted']), sum(counted.requests?.['failed']),
        sum(counted.runs?.['succeeded']), sum(counted.runs?.['failed']),
      ], [60, 0, 0, 120]);
    }
    const [hook] = await server.list<Hook>(INCOMING);
    assert.equal(hook?.health.state, 'failing');
    await server.stop('SIGKILL');
    await server.start();
    const [again] = await server.list<Hook>(INCOMING);
    assert.deepEqual([again?.health.state, again?.health.since],
      ['failing', hook?.health.since]);
  }));

test('a clean stop keeps when a webhook last succeeded', () =>
  withRelay({}, async (server) => {
    await make(server, '/api/action-configurations', { identifier: 'to-log', actionType: 'log' });
    await make(server, INCOMING, { pathSegment: 'orders', actionConfiguration: 'to-log' });
    assert.equal(await server.post('/webhook/in/orders', {}), 200);
    const [before] = await server.list<Hook>(INCOMING);
    assert.notEqual(before?.health.lastSuccessAt, null);
    await server.stop('SIGTERM');
    await server.start();
    const [after] = await server.list<Hook>(INCOMING);
    assert.deepEqual(after?.health, before?.health);
  }));
