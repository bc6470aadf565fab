import assert from 'node:assert/strict';
import type { IncomingMessage, RequestListener } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Logger } from '../../../../src/base/log.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { Arguments } from '../../../../src/cli/arguments/parse-arguments.ts';
import type { CommandContext } from '../../../../src/cli/commands/command-context.ts';
import { ServedFile } from '../../../../src/cli/commands/configuration/served-file.ts';
import { Identity } from '../../../../src/cli/process/identity.ts';
import { toProblem } from '../../../../src/server/problem.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const PLAN = JSON.stringify({
  changes: [{ sign: '+', kind: 'incoming webhook', name: 'gh' }], unchanged: 0,
});

/** A server whose plans are overtaken so many times. */
class FakeServer {
  readonly calls: string[] = [];
  /** Resolves before an answer is given. */
  answering: Promise<void> = Promise.resolve();
  #overtakenTimes: number;

  constructor(overtakenTimes: number) {
    this.#overtakenTimes = overtakenTimes;
  }

  readonly listener: RequestListener = (request, response) => {
    void this.#answer(request).then(({ status, headers, text }) => {
      response.writeHead(status, headers).end(text);
    });
  };

  async #answer(request: IncomingMessage): Promise<{
    readonly status: number; readonly headers: Record<string, string>; readonly text: string;
  }> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { dryRun = false, set } = JSON.parse(Buffer.concat(chunks).toString());
    this.calls.push(dryRun ? `plan of ${set}` : `apply ${request.headers['if-match']}`);
    await this.answering;
    if (dryRun || this.#overtakenTimes === 0) {
      return {
        status: 200, text: PLAN,
        headers: { etag: `"${this.calls.length}"`, 'content-type': 'application/json' },
      };
    }
    this.#overtakenTimes -= 1;
    return {
      status: 412, headers: { 'content-type': 'application/problem+json' },
      text: JSON.stringify(toProblem(new AppError('precondition_failed', 'changed'))),
    };
  }
}

function openFile(): { readonly path: string; readonly file: ServedFile } {
  const path = join(createTemporaryFolder(), 'shelf.json');
  writeFileSync(path, '{"incomingWebhooks":[]}');
  const context = {
    args: new Arguments(new Map([['apply', [path]], ['set', ['mine']]])),
    io: { environment: {} }, identity: new Identity(null),
  } as unknown as CommandContext;
  return { path, file: new ServedFile(context) };
}

test('a plan that others overtake is made anew, as when several nodes start at once', async () => {
  const server = new FakeServer(2);
  await openFile().file.applyAtStart(server.listener, silentLogger);
  assert.deepEqual(server.calls, [
    'plan of mine', 'apply "1"', 'plan of mine', 'apply "3"', 'plan of mine', 'apply "5"',
  ]);
});

test('a start whose plans are overtaken each time fails in the end', async () => {
  const server = new FakeServer(Infinity);
  await assert.rejects(openFile().file.applyAtStart(server.listener, silentLogger), {
    code: 'precondition_failed',
  });
  assert.equal(server.calls.length, 20);
});

test('signals while the file is applied have it applied once more, and one by one', async () => {
  const server = new FakeServer(0);
  const { file } = openFile();
  let answer = (): void => {};
  server.answering = new Promise((resolve) => {
    answer = resolve;
  });
  const starting = file.applyAtStart(server.listener, silentLogger);
  for (let count = 0; count < 3; count += 1) file.applyAgain(silentLogger);
  answer();
  await starting;
  await until('it is applied again', () => server.calls.length === 4);
  await file.close();
  assert.deepEqual(server.calls, ['plan of mine', 'apply "1"', 'plan of mine', 'apply "3"']);
  file.applyAgain(silentLogger);
  await file.close();
  assert.equal(server.calls.length, 4);
});

/** The lines that an apply whose plan is `plan` logs: level, message and fields of each. */
async function listLines(
  plan: object,
): Promise<readonly (readonly [string, string, Readonly<Record<string, unknown>>])[]> {
  const { file } = openFile();
  const listener: RequestListener = (request, response) => {
    request.resume().on('end', () => response
      .writeHead(200, { etag: '"1"', 'content-type': 'application/json' })
      .end(JSON.stringify(plan)));
  };
  const lines: [string, string, Readonly<Record<string, unknown>>][] = [];
  const at = (level: string): Logger['info'] => (message, fields = {}) =>
    void lines.push([level, message, fields]);
  await file.applyAtStart(listener, {
    ...silentLogger, info: at('info'), warning: at('warning'),
  });
  return lines;
}

test('of a long plan a hundred changes are logged, and the others counted', async () => {
  const changes = Array.from({ length: 120 }, (_, index) =>
    ({ sign: '+', kind: 'incoming webhook', name: `hook-${index}` }));
  const [[, , line] = []] = await listLines({ changes, unchanged: 7 });
  const { changes: summaries, leftOut, unchanged } = line ?? {};
  assert.ok(Array.isArray(summaries));
  assert.deepEqual([summaries.length, leftOut, unchanged], [100, 20, 7]);
});

test('each webhook that stays off is a warning, and what is not in the file is told', async () => {
  const off = ['incoming webhook a stays off: hookshelf …', 'incoming webhook b stays off: …'];
  const lines = await listLines({
    changes: [], unchanged: 2, off, unlisted: ['incoming webhook c'],
  });
  assert.deepEqual(lines.map(([level, message]) => [level, message]), [
    ...off.map((line) => ['warning', line]),
    ['info', 'the configuration is as the file says'],
  ]);
  assert.deepEqual(lines.at(-1)?.[2]['unlisted'], ['incoming webhook c']);
});
