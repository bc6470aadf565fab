import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { hookshelf, startServer } from './processes.ts';

const ID = '01980000-0000-7000-8000-000000000001';

/** Words, what stands on standard input, and the exit code; run in order on one directory. */
type Step = readonly [words: string, code: number, input?: string];

const STEPS: readonly Step[] = [
  ['book:add --input -', 0, '{"title":"Emma","isbn":"9780141439587"}'],
  ['book:add --input -', 1, '{"title":"Emma","isbn":"9780141439588"}'],
  ['book:add --input -', 2, '{"title":'],
  [`book:show --id ${ID}`, 1],
  [`book:update --id ${ID} --input {}`, 1],
  ['book:list --published-from never', 1],
  ['book:import --file - --format csv', 1, 'title,authors\n,Jane Austen\n'],
  ['book:export --format jsonl', 0],
  ['actionconfig:create --action log --identifier to-log', 0],
  ['actionconfig:update --id to-log --options -', 0, '{"level":"debug"}'],
  ['incomingwebhook:create --path-segment in --action-config to-log --secret-file -', 0, 's\n'],
  ['incomingwebhook:create --path-segment in --action-config to-log', 1],
  ['incomingwebhook:create --path-segment b --action-config to-log --secret-file -', 1, '\n'],
  ['incomingwebhook:show --id in', 0],
  ['actionconfig:delete --id to-log', 1],
  ['incomingwebhook:delete --id in', 0],
  ['actionconfig:delete --id to-log', 0],
  ['outgoingwebhook:create --target-url http://127.0.0.1:1/ --disabled', 0],
  ['outgoingwebhook:create --target-url ftp://127.0.0.1/', 1],
  [`outgoingwebhook:send --id ${ID}`, 1],
  ['event:emit --name a.b --payload -', 0, '[1]'],
  [`delivery:retry --id ${ID}`, 1],
  ['delivery:reconcile', 0],
  [`token:revoke --id ${ID}`, 1],
  ['data:verify', 0],
];

for (const isServed of [false, true]) {
  test(`commands end with the right code ${isServed ? 'beside' : 'without'} a server`, () =>
    inFolder(async (data) => {
      const server = isServed ? await startServer(['--data', data]) : null;
      for (const [words, code, input] of STEPS) {
        const ran = await hookshelf([...words.split(' '), '--data', data],
          input === undefined ? {} : { input });
        assertEnded(words, code, ran);
      }
      assert.equal((await server?.stop())?.code ?? 0, 0);
    }));

  test(`list commands print one JSON array ${isServed ? 'beside' : 'without'} a server`, () =>
    inFolder(async (data) => {
      const server = isServed ? await startServer(['--data', data]) : null;
      for (const name of ['book:list', 'actionconfig:actions', 'delivery:list', 'token:list']) {
        const { stdout, stderr } = await hookshelf([name, '--json', '--data', data]);
        assert.ok(Array.isArray(JSON.parse(stdout)), name);
        assert.equal(stderr, '', name);
      }
      await server?.stop();
    }));
}

test('a settings file named by --config is used, by a path from here', () =>
  inFolder(async (cwd) => {
    writeFileSync(join(cwd, 'mine.json'), '{"http":{"timeout":9}}');
    const words = ['settings:show', '--json', '--config', 'mine.json'];
    const { stdout } = await hookshelf(words, { cwd });
    const rows = JSON.parse(stdout) as { name: string; value: unknown; origin: string }[];
    const row = rows.find(({ name }) => name === 'http.timeout');
    assert.deepEqual([row?.value, row?.origin], [9, 'mine.json']);
  }));

function assertEnded(words: string, code: number, ran: Ended): void {
  assert.equal(ran.code, code, `${words}: ${ran.stdout}${ran.stderr}`);
  if (code === 0) return;
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  if (ran.stdout === '') assert.match(last, /^hookshelf: \S/, words);
  assert.doesNotMatch(ran.stderr, /\n {4}at /, words);
}
