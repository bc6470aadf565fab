import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatActivation, takeActivatedSockets,
} from '../../../src/server/listening/activated-sockets.ts';

const PROCESS = { pid: 40, ppid: 30 };

test('sockets for this process are descriptors from 3 on, with their names', () => {
  const environment = { LISTEN_PID: '40', LISTEN_FDS: '3', LISTEN_FDNAMES: 'web::local' };
  assert.deepEqual(takeActivatedSockets(environment, PROCESS), [
    { descriptor: 3, name: 'web' }, { descriptor: 4, name: 'unknown' },
    { descriptor: 5, name: 'local' },
  ]);
});

const FOREIGN = ['41', '30', '', '040', 'parent-40', 'parent-41'];
for (const pid of FOREIGN) {
  test(`sockets of the process "${pid}" are ignored, and their variables removed`, () => {
    const environment: Record<string, string> = {
      LISTEN_PID: pid, LISTEN_FDS: '1', LISTEN_FDNAMES: 'web', LISTEN_PIDFDID: '7', PATH: '/bin',
    };
    assert.deepEqual(takeActivatedSockets(environment, PROCESS), []);
    assert.deepEqual(environment, { PATH: '/bin' });
  });
}

for (const count of ['one', '-1', '65', '1.5', '']) {
  test(`a count of sockets "${count}" is refused`, () => {
    assert.throws(() => takeActivatedSockets({ LISTEN_PID: '40', LISTEN_FDS: count }, PROCESS),
      { code: 'usage', message: /LISTEN_FDS must be a number from 0 to 64/ });
  });
}

test('a child that is started under a memory cap takes the sockets of its parent', () => {
  const sockets = [{ descriptor: 3, name: 'web' }, { descriptor: 4, name: 'unknown' }];
  const environment = { ...formatActivation(sockets, 40) };
  assert.deepEqual(takeActivatedSockets(environment, { pid: 50, ppid: 40 }), sockets);
});
