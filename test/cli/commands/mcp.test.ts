/** `hookshelf mcp`: a message a line, through a server here or elsewhere, or on the data itself. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAppServer, withAppServer } from '../../support/app-server.ts';
import { makeToken } from '../../support/make-token.ts';
import { inFolder } from '../../support/temporary-folder.ts';
import { META } from '../../mcp/speaker.ts';
import { runCommand } from '../io.ts';

type Line = {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>> & { readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string };
};

const call = (id: unknown, name: string, args: object = {}, meta: object = META): string =>
  JSON.stringify({
    jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta },
  });

function parseLines(stdout: string): readonly Line[] {
  return stdout.trim().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** What a session of these lines answers, by the id of the request. */
async function speak(
  words: readonly string[], lines: readonly string[],
): Promise<ReadonlyMap<unknown, Line>> {
  const { code, stdout, stderr } = await runCommand(['mcp', ...words],
    { input: lines.join('\n') });
  assert.equal(code, 0, stderr);
  return new Map(parseLines(stdout).map((line) => [line.id, line]));
}

/** Lines that are typed one after the other, each when the one before is answered. */
function createTyping(lines: readonly string[]): {
  readonly typing: AsyncIterable<string>; readonly onOutput: () => void;
} {
  let onAnswer = (): void => {};
  return {
    typing: (async function* () {
      for (const line of lines) {
        const answered = new Promise<void>((resolve) => {
          onAnswer = resolve;
        });
        yield `${line}\n`;
        await answered;
      }
    })(),
    onOutput: () => onAnswer(),
  };
}

test('without a server each call opens the data, and lets go of it after', () =>
  inFolder(async (data) => {
    await runCommand(['book:add', '--data', data, '--title', 'Emma']);
    const answers = await speak(['--data', data, '--scope', 'write'], [
      call(1, 'books_list'), call(2, 'books_create', { title: 'Persuasion' }),
      call(3, 'requests_wait', { seconds: 1 }),
    ]);
    assert.equal(answers.get(1)?.result?.isError, undefined);
    assert.equal(answers.get(2)?.result?.isError, undefined);
    assert.match(JSON.stringify(answers.get(3)), /no server runs/);
    const { typing, onOutput } = createTyping([call(1, 'books_list'), call(2, 'books_list')]);
    let server: Awaited<ReturnType<typeof openAppServer>> | null = null;
    const ran = await runCommand(['mcp', '--data', data], {
      typing: (async function* () {
        for await (const line of typing) {
          // It starts while the session waits for its next line.
          if (line.includes('"id":2')) server = await openAppServer(data);
          yield line;
        }
      })(), onOutput,
    });
    const [, second] = parseLines(ran.stdout);
    assert.match(JSON.stringify(second), /Persuasion/);
    await Object(server).close();
  }));

test('--scope says what the tools may do, and it is read when nothing is said', () =>
  withAppServer(async ({ data }) => {
    const list = JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META },
    });
    const apply = call(3, 'api_call', { route: 'applyConfiguration', arguments: {} });
    for (const [scope, sees, may] of [
      [[], false, false], [['--scope', 'write'], true, false], [['--scope', 'admin'], true, true],
    ] as const) {
      const answers = await speak(['--data', data, ...scope],
        [list, call(2, 'books_create', { title: 'x' }), apply]);
      assert.equal(JSON.stringify(answers.get(1)).includes('"books_create"'), sees);
      assert.equal(answers.get(2)?.error?.code, sees ? undefined : -32602);
      assert.equal(answers.get(3)?.result?.isError, may ? undefined : true);
    }
    const { code, stderr } = await runCommand(['mcp', '--data', data, '--scope', 'follow']);
    assert.equal(code, 2);
    assert.match(stderr, /read, write/);
  }));

test('through --server it may do what its token may, at most', () =>
  withAppServer(async ({ url, data }) => {
    const { token } = await makeToken(data, 'read');
    const file = join(data, 'token');
    writeFileSync(file, token, { mode: 0o600 });
    const words = ['--server', url, '--token-file', file, '--scope', 'admin'];
    const answers = await speak(words, [call(1, 'books_list'), call(2, 'books_create')]);
    assert.equal(answers.get(1)?.result?.isError, undefined);
    assert.match(answers.get(2)?.error?.message ?? '', /needs the scope write/);
    const refused = await speak(['--server', url], [call(1, 'books_list')]);
    assert.match(refused.get(1)?.error?.message ?? '', /wants a token/);
  }));

test('the old era begins with initialize, and a request without a version is refused before', () =>
  withAppServer(async ({ data }) => {
    const old = { jsonrpc: '2.0', method: 'ping' };
    const initialize = {
      jsonrpc: '2.0', id: 2, method: 'initialize', params: { protocolVersion: '2025-06-18' },
    };
    const { typing, onOutput } = createTyping(
      [{ ...old, id: 1 }, initialize, { ...old, id: 3 }].map((line) => JSON.stringify(line)));
    const { stdout } = await runCommand(['mcp', '--data', data], { typing, onOutput });
    const [refused, initialized, pong] = parseLines(stdout);
    assert.equal(refused?.error?.code, -32602);
    assert.equal(initialized?.result?.['protocolVersion'], '2025-06-18');
    assert.deepEqual(pong?.result, {});
  }));

test('a wait tells its progress, and nothing more is said of one that is cancelled', () =>
  withAppServer(async ({ data }) => {
    const meta = { ...META, progressToken: 'p' };
    const lines = [
      call(1, 'requests_wait', { seconds: 60 }, meta),
      JSON.stringify({
        jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 },
      }),
    ];
    // The end of stdin ends what waits, too.
    const { typing, onOutput } = createTyping([...lines.slice(0, 1)]);
    const { code, stdout } = await runCommand(['mcp', '--data', data], {
      typing: (async function* () {
        yield* typing;
        yield `${lines[1]}\n`;
      })(), onOutput,
    });
    assert.equal(code, 0);
    const answers = parseLines(stdout);
    assert.deepEqual(answers.map(({ method }) => method), ['notifications/progress']);
    const ended = await runCommand(['mcp', '--data', data],
      { input: call(1, 'requests_wait', { seconds: 60 }) });
    assert.deepEqual([ended.code, ended.stdout], [0, '']);
  }));

test('a server that goes during a call is an error of that call, and not the end', async () => {
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('Content-Type', 'text/event-stream');
    response.write(`event: message\ndata: ${JSON.stringify(progress)}\n\n`,
      () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { code, stdout, stderr } = await runCommand(
    ['mcp', '--server', `http://127.0.0.1:${port}`], { input: call(1, 'books_list') });
  server.close();
  assert.equal(code, 0, stderr);
  const [told, answer] = parseLines(stdout);
  assert.deepEqual(told, progress);
  assert.equal(answer?.id, 1);
  assert.match(answer?.error?.message ?? '', /the connection to the server broke/);
});
