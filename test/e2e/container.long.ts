/**
 * The program as the first process of a container: process and network namespaces of its own, a
 * data directory that others share, nothing on the path, so no flock(1) either.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { hookshelf, startServer, type ProcessOptions, type Running } from './processes.ts';

const CONTAINER = [
  'unshare', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child', '--mount-proc',
];
const canUnshare = spawnSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true']).status === 0;
const skip = !canUnshare && 'namespaces cannot be made here';

const bare = ['env', '-i', 'PATH=/nonexistent', process.execPath, PROGRAM];
/** Each start of it is another container. */
const container: ProcessOptions = { program: [...CONTAINER, 'sh', '-c',
  'ip link set lo up 2>/dev/null; exec "$0" "$@"', ...bare] };

test('process 1 of a container serves, and stops as it should', { skip }, (t) =>
  inFolder(async (data) => {
    const server = await serve(t, data);
    assert.equal(ownerOf(data).pid, 1);
    const inside: ProcessOptions = {
      program: ['nsenter', '--target', String(pidOf(server)), '--all', '--', ...bare],
    };
    const imported = await hookshelf(['book:import', '--sample', '--data', data], inside);
    assert.match(imported.stdout, /^imported \d+, updated 0, unchanged 0, skipped 0\n$/,
      imported.stderr);
    process.kill(pidOf(server), 'SIGTERM');
    assert.equal((await server.ended).code, 0);
    const listed = await hookshelf(['book:list', '--json', '--data', data], container);
    assert.ok(JSON.parse(listed.stdout).length > 10);
  }));

test('of containers that share a directory one owns it', { skip }, (t) => inFolder(async (data) => {
  const first = await serve(t, data);
  const second = await hookshelf(['serve', '--port', '0', '--data', data], container);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /in use by process 1 \(server\) of another container or of the host/);
  // A command in another container, or outside of any, speaks to the server.
  for (const place of [container, {}]) {
    const { code, stderr } = await hookshelf(
      ['book:add', '--input', '{"title":"Emma"}', '--data', data], place);
    assert.equal(code, 0, stderr);
  }
  process.kill(pidOf(first), 'SIGKILL');
  await first.ended;
  assert.ok(existsSync(join(data, 'control.sock')), 'what a killed process leaves');
  const third = await serve(t, data);
  const listed = await hookshelf(['book:list', '--json', '--data', data], container);
  assert.equal(JSON.parse(listed.stdout).length, 2);
  process.kill(pidOf(third), 'SIGTERM');
  assert.equal((await third.ended).code, 0);
}));

/**
 * Preloaded: sends the process a signal as soon as anything listens to it, so before what listens
 * can load the rest of the program.
 */
const FIRST_MOMENT = (signal: string): string => `data:text/javascript,${encodeURIComponent(`
  const look = () => process.listenerCount('${signal}') > 0
    ? process.kill(process.pid, '${signal}') : setImmediate(look);
  look();`)}`;

for (const [signal, code] of [['SIGTERM', 143], ['SIGINT', 130]] as const) {
  test(`process 1 ends by a ${signal} that comes before it has loaded its program`, { skip }, () =>
    inFolder(async (data) => {
      const program = ['env', '-i', process.execPath, '--import', FIRST_MOMENT(signal), PROGRAM];
      const run = (...words: readonly string[]): ReturnType<typeof hookshelf> =>
        hookshelf([...words, '--data', data], { program: [...CONTAINER, ...program] });
      const server = await run('serve', '--port', '0');
      // A current Node looks at signals only once the whole program is loaded: a server then stops
      // as it always does, and what matters is that the signal was not lost.
      if (server.code === 0) {
        assert.match(server.stderr, new RegExp(`"message":"stopping","signal":"${signal}"`));
        return;
      }
      for (const ended of [server, await run('book:list')]) {
        assert.deepEqual([ended.code, ended.stdout, ended.stderr], [code, '', '']);
      }
      assert.deepEqual(readdirSync(data), [], 'nothing had been opened');
    }));
}

test('process 1 that serves under a memory cap passes the signals on', { skip }, (t) =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data, '--max-memory', '256'], container);
    t.after(() => server.child.kill('SIGKILL'));
    process.kill(pidOf(server), 'SIGTERM');
    const { code, stderr } = await server.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /"message":"stopping","signal":"SIGTERM"/);
  }));

async function serve(context: TestContext, data: string): Promise<Running> {
  const server = await startServer(['--data', data], container);
  context.after(() => server.child.kill('SIGKILL'));
  return server;
}

type Owner = { readonly pid: number };

function ownerOf(data: string): Owner {
  return JSON.parse(readFileSync(join(data, 'lock-1'), 'utf8'));
}

/** As seen from here: unshare's only child. */
function pidOf({ child: { pid } }: Running): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'));
}
