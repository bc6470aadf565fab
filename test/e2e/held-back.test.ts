/** A key whose first delivery holds back many others, as the server and `doctor` tell of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../cli/io.ts';
import { withAppServer } from '../support/app-server.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';

test('a key that holds back more than a hundred deliveries is in the status and in doctor', () =>
  withAppServer(async ({ url, data }) => {
    const hook = await addRecord(`${url}/api/outgoing-webhooks`, {
      targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.paid', retrySchedule: [3600],
      order: { key: 'payload.id' },
    });
    const emit = async (id: unknown): Promise<string> => {
      const { text } = await ask(`${url}/api/events`,
        { method: 'POST', body: { name: 'order.paid', payload: { id } } });
      return JSON.parse(text).deliveries[0];
    };
    const status = async (): Promise<unknown> =>
      JSON.parse((await ask(`${url}/api/status`)).text).heldBack;
    const first = await emit(42);
    await Promise.all(Array.from({ length: 100 }, () => emit(42)));
    await emit('42');
    assert.deepEqual(await status(), []);
    await emit(42);
    assert.deepEqual(await status(), [{ hook, key: 42, waiting: 101 }]);
    const { stdout } = await runCommand(['doctor', '--data', data]);
    assert.match(stdout, new RegExp(`^order +warning .*42 of ${hook} \\(101 wait\\)`, 'm'));
    await ask(`${url}/api/deliveries/${first}/cancel`, { method: 'POST' });
    await until('there is nothing to tell', async () => (await status() as []).length === 0);
  }));
