/** A key whose first delivery holds back many others, as the server and `doctor` tell of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

test('a key that holds back more than a hundred deliveries is in the status and in doctor', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const hook = await addRecord(`${server.url}/api/outgoing-webhooks`, {
      targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.paid', retrySchedule: [3600],
      order: { key: 'payload.id' },
    });
    const emit = async (id: unknown): Promise<string> => {
      const { text } = await ask(`${server.url}/api/events`,
        { method: 'POST', body: { name: 'order.paid', payload: { id } } });
      return JSON.parse(text).deliveries[0];
    };
    const status = async (): Promise<unknown> =>
      JSON.parse((await ask(`${server.url}/api/status`)).text).heldBack;
    const first = await emit(42);
    await Promise.all(Array.from({ length: 100 }, () => emit(42)));
    await emit('42');
    assert.deepEqual(await status(), []);
    await emit(42);
    assert.deepEqual(await status(), [{ hook, key: 42, waiting: 101 }]);
    const { stdout } = await hookshelf(['doctor', '--data', data]);
    assert.match(stdout, new RegExp(`^order +warning .*42 of ${hook} \\(101 wait\\)`, 'm'));
    await ask(`${server.url}/api/deliveries/${first}/cancel`, { method: 'POST' });
    await until('there is nothing to tell', async () => (await status() as []).length === 0);
    await server.stop();
  }));
