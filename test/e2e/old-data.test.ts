/**
 * A data directory of the release before 1.1, as that one left it when it was killed
 * (`old-data/`): a done request, one whose route `a` is to be tried again while `b` is done, and
 * two deliveries of one event that are to be tried again.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { hookshelf, startServer } from './processes.ts';

const JOURNAL = 'journal-000001.jsonl';
const SOURCE = join(import.meta.dirname, 'old-data', JOURNAL);
const PENDING_REQUEST = '01a20f5d-aae5-740b-860d-771658101327';
const DONE_REQUEST = '01a20f5d-aada-70f5-a1eb-8ff805a34bc7';

test('commands that read an old data directory leave it to the old release, and a backup of it too',
  () => inOldDirectory(async (data) => {
    const backup = join(data, 'backup');
    const books = join(data, 'new.jsonl');
    writeFileSync(books, '{"title":"x"}\n');
    await hookshelf(['doctor', '--data', data]);
    for (const words of [
      ['data:verify'], ['book:list'], ['request:list'], ['data:backup', '--to', backup],
      ['book:import', '--file', books, '--dry-run'],
    ]) {
      await run([...words, '--data', data]);
      assert.deepEqual(listJournals(data), [JOURNAL], words.join(' '));
    }
    assert.ok(readFileSync(join(data, JOURNAL)).equals(readFileSync(SOURCE)));
    assert.ok(readFileSync(join(backup, JOURNAL)).equals(readFileSync(SOURCE)));
  }));

test('what an old release had accepted is there, and is done by a server that goes on with it',
  () => inOldDirectory(async (data) => {
    await checkRequests(data);
    // Else the time in which a done request is kept would pass.
    const environment = { HOOKSHELF_INBOX_RETENTION_DAYS: '3650' };
    const first = await startServer(['--data', data], { environment });
    assert.deepEqual(listJournals(data), [JOURNAL, 'journal-000002.jsonl']);
    await first.stop('SIGKILL');
    await checkRequests(data);
    const second = await startServer(['--data', data], { environment });
    for (const { identifier } of await list('delivery:list', data)) {
      await run(['delivery:cancel', String(identifier), '--data', data]);
    }
    await second.stop();
    const statuses = (await list('delivery:list', data)).map(({ status }) => status);
    assert.deepEqual(statuses, ['cancelled', 'cancelled']);
    await checkRequests(data);
  }));

test('a restore over an old data directory keeps that one as its release can read it',
  () => inOldDirectory((data) => inFolder(async (other) => {
    await run(['book:add', '--input', '{"title":"x"}', '--data', other]);
    const backup = join(other, 'backup');
    await run(['data:backup', '--to', backup, '--data', other]);
    await run(['data:restore', '--from', backup, '--replace', '--data', data]);
    const before = readdirSync(data).find((name) => name.startsWith('before-')) ?? '';
    assert.deepEqual(listJournals(join(data, before)), [JOURNAL]);
    assert.ok(readFileSync(join(data, before, JOURNAL)).equals(readFileSync(SOURCE)));
  })));

async function checkRequests(data: string): Promise<void> {
  const requests = await list('request:list', data);
  assert.deepEqual(requests.map(({ id, status }) => [id, status]),
    [[PENDING_REQUEST, 'pending'], [DONE_REQUEST, 'done']]);
  const routes = requests[0]?.['routes'];
  assert.ok(Array.isArray(routes));
  assert.deepEqual(routes.map(({ name, status }) => [name, status]),
    [['a', 'pending'], ['b', 'done']]);
}

function inOldDirectory(use: (data: string) => Promise<void>): Promise<void> {
  return inFolder(async (data) => {
    copyFileSync(SOURCE, join(data, JOURNAL));
    await use(data);
  });
}

function listJournals(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('journal-')).sort();
}

async function list(command: string, data: string): Promise<Record<string, unknown>[]> {
  return JSON.parse(await run([command, '--json', '--data', data]));
}

async function run(words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await hookshelf(words);
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
  return stdout;
}
