/** The event stream of a real server over its control socket, and when it stops. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { followStream } from '../support/event-stream.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

test('works over the control socket, and a stopping server ends it at once', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const reader = await followStream({ socketPath: join(data, 'control.sock') });
    const { text } = await ask(`${server.url}/api/books`,
      { method: 'POST', body: { title: 'Emma' } });
    await until('it is told', () => reader.events.length > 0);
    assert.deepEqual(JSON.parse(reader.events[0]?.data ?? '').id, JSON.parse(text).id);
    const { code } = await server.stop();
    assert.equal(code, 0);
    await until('it has ended', reader.isEnded);
    assert.ok(reader.response.complete, 'it was not torn');
  }));
