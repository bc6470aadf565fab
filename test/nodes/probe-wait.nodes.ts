/**
 * Probes of the real program as time passes: built with an interval of two seconds in place of an
 * hour, which no test could wait for.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { test } from 'node:test';
import { addRecord, ask } from '../e2e/ask.ts';
import { startServer, type Running } from '../e2e/processes.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { withBuild, type Edit } from './support/changed-build.ts';

const INTERVAL_MS = 2000;
/** What a busy machine may add: less than another interval. */
const LATE_MS_MAX = INTERVAL_MS - 100;
const EDITS: readonly Edit[] = [
  ['webhooks/health/probe.ts', 'INTERVAL_MS = 3_600_000', `INTERVAL_MS = ${INTERVAL_MS}`],
  ['webhooks/deliveries/sending/webhook-probes.ts',
    'EMPTY_DELAY_MS = 60_000', 'EMPTY_DELAY_MS = 500'],
];
const EVENTS = 5;
const PROBES = 3;

test('a target is probed once an interval, also through kill -9, and then gets all in order', () =>
  withBuild(EDITS, (program) => inFolder(async (data) => {
    const attempts: { readonly body: string; readonly atMs: number }[] = [];
    let isWell = false;
    const target = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      attempts.push({ body, atMs: performance.now() });
      response.writeHead(isWell ? 200 : 500).end();
    });
    await once(target.listen(0, '127.0.0.1'), 'listening');
    const address = target.address();
    assert.ok(typeof address === 'object' && address !== null);
    const start = (): Promise<Running> =>
      startServer(['--data', data], { program: [process.execPath, program] });
    let server = await start();
    const readHook = async (): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse((await ask(`${server.url}/api/outgoing-webhooks/shop`)).text);
    try {
      await addRecord(`${server.url}/api/outgoing-webhooks`, {
        name: 'shop', targetUrl: `http://127.0.0.1:${address.port}/`, triggerEvent: 'thing.*',
        probe: true, disableAfterHours: 0.0001, retrySchedule: [0.2, 0.2, 0.2, 3600],
        order: 'strict',
      });
      const emit = (n: number) => ask(`${server.url}/api/events`,
        { method: 'POST', body: { name: 'thing.x', payload: n } });
      await emit(0);
      await until('it is off', async () => (await readHook())['enabled'] === false);
      for (let n = 1; n < EVENTS; n += 1) assert.equal((await emit(n)).status, 202);
      const count = attempts.length;
      await until('it is probed', () => attempts.length >= count + PROBES - 1);
      // A probe whose result is not stored yet is made again after a kill, as any attempt is.
      await until('the next one is due later', async () => {
        const { nextProbeAt } = Object((await readHook())['health']);
        return Date.parse(nextProbeAt) > Date.now() + INTERVAL_MS / 2;
      });
      // The journal has that result before any later write.
      await addRecord(`${server.url}/api/books`, { title: 'Emma' });
      await server.stop('SIGKILL');
      server = await start();
      await until('it is probed again', () => attempts.length >= count + PROBES);
      isWell = true;
      await until('all have arrived', () => attempts.length >= count + PROBES + EVENTS);
      assert.equal((await readHook())['enabled'], true);
      const probes = attempts.slice(count - 1, count + PROBES + 1);
      assert.deepEqual(new Set(probes.map(({ body }) => body)), new Set(['0']));
      for (const [index, { atMs }] of probes.slice(1).entries()) {
        const waitedMs = atMs - (probes[index]?.atMs ?? 0);
        assert.ok(waitedMs > INTERVAL_MS - 100 && waitedMs < INTERVAL_MS + LATE_MS_MAX,
          JSON.stringify(attempts));
      }
      assert.deepEqual(attempts.slice(count + PROBES).map(({ body }) => body),
        Array.from({ length: EVENTS }, (_, n) => String(n)));
    } finally {
      await server.stop('SIGKILL');
      target.closeAllConnections();
      target.close();
    }
  })));
