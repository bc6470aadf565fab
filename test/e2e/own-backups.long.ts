/** Backups that a real server makes by itself, through kill -9, and what it says when one fails. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { IS_LONG } from '../support/long.ts';
import { createTemporaryFolder, inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const OFTEN = '0.0003';
const KILLS = IS_LONG ? 20 : 6;

/** So many megabytes, in books of some 10 KB. */
async function fill(data: string, megabytes: number): Promise<void> {
  const line = `${JSON.stringify({ title: 'A', description: 'x'.repeat(10_000) })}\n`;
  const imported = await hookshelf(
    ['book:import', '--file', '-', '--format', 'jsonl', '--data', data],
    { input: line.repeat(megabytes * 100) });
  assert.equal(imported.code, 0, imported.stderr);
  const compacted = await hookshelf(['data:compact', '--data', data]);
  assert.equal(compacted.code, 0, compacted.stderr);
}

function listParts(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.part')) : [];
}

function listTars(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.tar')).sort()
    : [];
}

test('what has the name of a backup is whole, whenever the server is killed', async () => {
  const folder = createTemporaryFolder();
  const [data, to] = [join(folder, 'data'), join(folder, 'backups')];
  const environment = { HOOKSHELF_BACKUP_TO: to, HOOKSHELF_BACKUP_EVERY_HOURS: OFTEN,
    HOOKSHELF_BACKUP_KEEP: String(2 * KILLS) };
  await fill(data, 20);
  let parts = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const old = new Set(listParts(to));
    const server = await startServer(['--data', data], { environment });
    await addRecord(`${server.url}/api/books`, { title: `Emma ${kill}`.padEnd(900, '.') });
    const count = listTars(to).length;
    const isUnderWay = (): boolean => listParts(to).some((name) => !old.has(name));
    if (kill % 2 === 0) await until('one more is made', () => listTars(to).length > count);
    else await until('one is under way', isUnderWay);
    await delay(kill * 7);
    await server.stop('SIGKILL');
    parts += listParts(to).length;
  }
  assert.ok(parts > 0, 'one was killed half way');
  const tars = listTars(to);
  assert.ok(tars.length >= KILLS / 2, tars.join());
  for (const name of tars) {
    assert.equal(statSync(join(to, name)).mode & 0o777, 0o600);
    const restored = await hookshelf(
      ['data:restore', '--from', join(to, name), '--data', join(folder, name)]);
    assert.equal(restored.code, 0, restored.stderr);
  }
  const server = await startServer(['--data', data], { environment });
  await until('nothing half written is left', () =>
    readdirSync(to).every((name) => name.endsWith('.tar')));
  await server.stop();
});

test('a paused server makes none, and deletes none of the server that it is a copy of', () =>
  inFolder(async (folder) => {
    const [data, to] = [join(folder, 'data'), join(folder, 'backups')];
    const environment = { HOOKSHELF_BACKUP_TO: to, HOOKSHELF_BACKUP_EVERY_HOURS: OFTEN,
      HOOKSHELF_BACKUP_KEEP: '1' };
    mkdirSync(to);
    const tars = ['hookshelf-20200101T000000Z.tar', 'hookshelf-20200102T000000Z.tar'];
    for (const name of tars) writeFileSync(join(to, name), '');
    const server = await startServer(['--data', data, '--paused'], { environment });
    await delay(4 * Number(OFTEN) * 3_600_000);
    assert.deepEqual(listTars(to), tars);
    assert.equal(JSON.parse((await ask(`${server.url}/api/status`)).text).backups, null);
    const { stderr } = await server.stop();
    assert.match(stderr, /"message":"nothing is sent or run, and no backup made: /);
  }));

test('one that fails is an error line, an event, a finding of doctor, and in the status', () =>
  inFolder(async (folder) => {
    const [data, to] = [join(folder, 'data'), join(folder, 'backups')];
    writeFileSync(to, 'no directory');
    const words = ['--data', data];
    const environment = { HOOKSHELF_BACKUP_TO: to, HOOKSHELF_BACKUP_EVERY_HOURS: OFTEN };
    const server = await startServer(words, { environment });
    await addRecord(`${server.url}/api/outgoing-webhooks`,
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'store.backup_failed' });
    await until('the event is there', async () =>
      (await ask(`${server.url}/api/events?name=store.backup_failed`)).text.includes('"name"'));
    assert.match(server.stderr(), /"level":"error","message":"the backup failed"/);
    const { backups } = JSON.parse((await ask(`${server.url}/api/status`)).text);
    assert.match(backups.failure.reason, /backup\.to .* cannot be made/);
    assert.match((await ask(`${server.url}/metrics`)).text, /^hookshelf_last_backup_failed 1$/m);
    const doctor = await hookshelf(['doctor', ...words]);
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /backups +failed +the last one failed at .* cannot be made/);
    rmSync(to);
    await until('it is made', () => listTars(to).length > 0);
    const mended = await hookshelf(['doctor', ...words]);
    assert.match(mended.stdout, /backups +ok +the newest is of /);
    const { text } = await ask(`${server.url}/metrics`);
    assert.doesNotMatch(text, /hookshelf_last_backup_timestamp_seconds 0/);
    assert.match(text, /^hookshelf_last_backup_failed 0$/m);
    await server.stop();
    const resting = await hookshelf(['doctor', ...words], { environment });
    assert.match(resting.stdout, /backups +ok +the newest is hookshelf-/);
  }));
