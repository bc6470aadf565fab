/** SIGUSR1, on which Node by itself opens a debugger, for real processes of the program. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { collectOutput, owned } from '../support/children.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { startServer, watch, type Running } from './processes.ts';

const ON_LINUX = { skip: process.platform !== 'linux' && 'reads /proc' };
const APPLIED = 'the configuration was made what the file says';

/** The TCP sockets on which the process listens. */
function countListeners({ pid }: ChildProcess): number {
  const folder = `/proc/${pid}/fd`;
  const sockets = new Set(readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(folder, descriptor))];
    } catch {
      return [];
    }
  }));
  const lines = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'));
  // The fourth column is the state, 0A for LISTEN, and the tenth the inode of the socket.
  return lines.map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(`socket:[${inode}]`))
    .length;
}

function put(path: string, ...identifiers: readonly string[]): void {
  writeFileSync(path, JSON.stringify({
    actionConfigurations: identifiers.map((identifier) => ({ identifier, actionType: 'log' })),
  }));
}

const countApplied = (server: Running): number => server.stderr().split(APPLIED).length - 1;

test('SIGUSR1 has a server apply its file again, and opens no debugger', ON_LINUX, () =>
  inFolder(async (folder) => {
    const path = join(folder, 'shelf.json');
    put(path, 'first');
    const server = await startServer(['--data', join(folder, 'data'), '--apply', path]);
    assert.equal(countApplied(server), 1);
    put(path, 'first', 'second');
    server.child.kill('SIGUSR1');
    await until('the file is applied again', () => countApplied(server) === 2,
      { seen: server.stderr });
    assert.equal(countListeners(server.child), 1);
    assert.doesNotMatch(server.stderr(), /Debugger/);
    assert.equal((await server.stop()).code, 0);
  }));

test('SIGUSR1 opens no debugger in a command that goes on, and does not end it', ON_LINUX, () =>
  inFolder(async (folder) => {
    const server = await startServer(['--data', join(folder, 'data')]);
    const watching = await watch('event:watch', ['--server', server.url]);
    watching.child.kill('SIGUSR1');
    const mcp = owned(spawn(process.execPath, [QUICK_PROGRAM, 'mcp', '--server', server.url]));
    const { stdout, stderr } = collectOutput(mcp);
    const ping = async (id: number): Promise<void> => {
      mcp.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
      await until('it answers', () => stdout().includes(`"id":${id}`), { seen: stderr });
    };
    await ping(1);
    mcp.kill('SIGUSR1');
    await ping(2);
    assert.equal(countListeners(watching.child) + countListeners(mcp), 0);
    assert.doesNotMatch(stderr() + watching.notes(), /Debugger|inspector/);
    mcp.stdin.end();
    await watching.stop();
    await server.stop();
  }));

test('a signal tells which settings have changed, and that a restart is needed', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    const server = await startServer(['--data', data]);
    const path = join(data, 'settings.json');
    for (const [text, line] of [
      ['{"http":{"retries":7},"server":{"apiToken":"0123456789abcdef0123456789abcdef"}}',
        /settings have changed since .*"settings":\["server.apiToken","http.retries"\]/],
      ['{"http":{"retires":7}}', /start may refuse them","reason":"unknown setting `http.reti/],
    ] as const) {
      writeFileSync(path, text);
      server.child.kill('SIGHUP');
      await until('it is told', () => line.test(server.stderr()), { seen: server.stderr });
    }
    assert.doesNotMatch(server.stderr(), /0123456789/);
    assert.equal((await server.stop()).code, 0);
  }));
