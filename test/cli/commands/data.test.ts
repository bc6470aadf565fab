import assert from 'node:assert/strict';
import {
  cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COLLECTIONS } from '../../../src/app.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { writeBackup } from '../../../src/store/backup/backup.ts';
import { openArchive } from '../../../src/store/backup/restore.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import { openStore } from '../../../src/store/store.ts';
import { runCommand } from '../io.ts';
import { ALL_WAYS, inPlace } from '../place.ts';
import type { Place } from '../place.ts';

const NEWER_COLLECTIONS = [...COLLECTIONS, { name: 'newer', key: 'id' } as const];

async function addBooks(place: Place, ...titles: readonly string[]): Promise<void> {
  for (const title of titles) {
    const { code, stderr } = await place.run(['book:add', '--input', JSON.stringify({ title })]);
    assert.equal(code, 0, stderr);
  }
}

async function titles(place: Place): Promise<string[]> {
  return (await place.json<{ title: string }[]>(['book:list'])).map(({ title }) => title);
}

// These commands work on the directory itself.
for (const way of ALL_WAYS.filter((name) => name !== 'over the network')) {
  test(`data is verified, compacted and backed up, ${way}`, () => inPlace(way, async (place) => {
    await addBooks(place, 'One', 'Two');
    const verified = await place.run(['data:verify']);
    assert.deepEqual([verified.code, verified.stderr], [0, '']);
    assert.match(verified.stdout, /^generation 1 with 2 books; nothing is damaged\n$/);
    const compacted = await place.json(['data:compact']);
    assert.equal(compacted.generation, 2);
    for (const name of ['backup', 'backup.tar']) {
      const to = join(place.folder, name);
      const { code, stdout, stderr } = await place.run(['data:backup', '--to', to]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^backed up \d+ files, \d+ bytes to /);
      const again = await place.run(['data:backup', '--to', to]);
      assert.deepEqual([again.code, /^hookshelf: [^\n]*\n$/.test(again.stderr)], [1, true]);
      await inPlace('without a server', async (other) => {
        const restored = await other.run(['data:restore', '--from', to]);
        assert.equal(restored.code, 0, restored.stderr);
        assert.deepEqual(await titles(other), ['One', 'Two']);
      });
    }
  }));
}

test('a backup into a directory that ends with a slash gets a name of its own', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    const folder = join(place.folder, 'backups');
    for (const nowMs of [Date.UTC(2026, 0, 2, 3, 4, 5, 678), Date.UTC(2026, 0, 2, 3, 4, 6)]) {
      const made = await place.run(['data:backup', '--to', `${folder}/`], { now: () => nowMs });
      assert.equal(made.code, 0, made.stderr);
    }
    const names = ['hookshelf-20260102T030405Z', 'hookshelf-20260102T030406Z'];
    assert.deepEqual(readdirSync(folder).sort(), names);
    for (const name of names) {
      const verified = await runCommand(['data:verify', '--data', join(folder, name)]);
      assert.equal(verified.code, 0, verified.stderr);
    }
    const refused = await place.run(['data:backup', '--to', join(folder, names[0] ?? '')]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /05Z is not empty: name a new directory, or .*05Z\/ to have/);
  }));

test('a backup says which files of a person it leaves out', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    writeFileSync(join(place.data, 'settings.json'), '{}');
    const { stderr } = await place.run(['data:backup', '--to', join(place.folder, 'a.tar')]);
    assert.equal(stderr, `hookshelf: not in a backup: settings.json of ${place.data}\n`);
    mkdirSync(join(place.data, 'actions'));
    const both = await place.run(['data:backup', '--to', join(place.folder, 'b.tar')]);
    assert.match(both.stderr, /: settings\.json, actions of /);
  }));

test('a backup is not called what it is not', () => inPlace('without a server', async (place) => {
  await addBooks(place, 'One');
  for (const name of ['b.zip', 'b.tar.gz', 'b.TGZ']) {
    const { code, stderr } = await place.run(['data:backup', '--to', join(place.folder, name)]);
    assert.deepEqual([code, existsSync(join(place.folder, name))], [2, false]);
    assert.match(stderr, /: a backup is a \.tar file, or a directory/);
  }
}));

test('a restore needs --replace where there is data, and keeps what it replaced', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'Old');
    const from = join(place.folder, 'backup');
    await place.run(['data:backup', '--to', from]);
    await addBooks(place, 'New');
    const refused = await place.run(['data:restore', '--from', from]);
    assert.deepEqual([refused.code, /--replace/.test(refused.stderr)], [1, true]);
    assert.deepEqual(await titles(place), ['Old', 'New']);
    const { code, stdout } = await place.run(['data:restore', '--from', from, '--replace']);
    assert.equal(code, 0);
    const [, before = ''] = /what was there before is in (\S+)/.exec(stdout) ?? [];
    assert.ok(readdirSync(before).length > 0);
    assert.deepEqual(await titles(place), ['Old']);
  }));

test('a restore says how much waits, and is sent and run at the next start', () =>
  inPlace('without a server', async (place) => {
    const run = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await place.run(words);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const backUp = async (name: string): Promise<string> => {
      await run('data:backup', '--to', join(place.folder, name));
      return join(place.folder, name);
    };
    await run('outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/',
      '--trigger-event', 'it');
    const idle = await backUp('idle');
    await run('event:emit', '--name', 'it', '--payload', '{}');
    await run('event:emit', '--name', 'it', '--payload', '{}');
    const busy = await backUp('busy');
    assert.match(await run('data:restore', '--from', idle, '--replace'), /^restored: [^\n]*\n$/);
    assert.match(await run('data:restore', '--from', busy, '--replace'),
      /^restored: .*\nwaiting, .* at the next start: 2 deliveries; with serve --paused .*\n$/);
    const { waiting } = await place.json<{ readonly waiting: unknown }>(
      ['data:restore', '--from', busy, '--replace']);
    assert.deepEqual(waiting, { deliveries: 2, delayedEvents: 0, requests: 0 });
  }));

test('refuses to restore into a directory that a server holds', () =>
  inPlace('through a server', async (place) => {
    const from = join(place.folder, 'backup');
    await place.run(['data:backup', '--to', from]);
    const { code, stderr } = await place.run(['data:restore', '--from', from, '--replace']);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`in use by process ${process.pid}`));
  }));

test('reports damage with file, line and offset, and a torn end as a note', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One', 'Two', 'Three');
    const name = readdirSync(place.data).find((file) => file.endsWith('.jsonl')) ?? '';
    const journal = join(place.data, name);
    const whole = readFileSync(journal, 'utf8');
    const damaged = whole.replace('"One"', '"Ona"');
    for (const [text, code, pattern] of [
      [damaged, 1, new RegExp(`^hookshelf: .*${name}.*line \\d+.*offset \\d+[^\\n]*\\n$`)],
      [`${whole}{"torn`, 0, /^hookshelf: .*torn end[^\n]*\n$/],
    ] as const) {
      writeFileSync(journal, text);
      const ran = await place.run(['data:verify']);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, pattern);
      const looked = await place.run(['doctor'], { environment: { HOOKSHELF_SERVER_PORT: '0' } });
      assert.equal(looked.code, code, looked.stdout);
      assert.match(looked.stdout, code === 0 ? /^store +warning .*torn end/m
        : new RegExp('^store +failed .*line \\d+.*data:restore --replace, or see '
          + '`hookshelf manual data`$', 'm'));
      assert.equal(/^access +warning .*at \(see store\)/m.test(looked.stdout), code !== 0);
      assert.equal(readFileSync(journal, 'utf8'), text);
    }
  }));

test('a journal that lost its end since the last stop is damaged, until `lock` is emptied', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One', 'Two', 'Three');
    const journal = join(place.data, 'journal-000001.jsonl');
    const lock = join(place.data, 'lock');
    const [whole, end] = [journal, lock].map((path) => readFileSync(path, 'utf8'));
    assert.match(end ?? '', /^{"released":true,"journal":{"generation":1,"sequence":\d+}}\n$/);
    const lines = (whole ?? '').trimEnd().split('\n');
    const three = lines.findIndex((line) => line.includes('"Three"'));
    const before = `${lines.slice(0, three).join('\n')}\n`;
    const cut = [before, `${before}${(lines[three] ?? '').slice(0, 200)}`, `${lines[0]}\n`, ''];
    for (const text of cut) {
      writeFileSync(journal, text);
      for (const words of [['data:verify'], ['book:list'], ['data:verify']]) {
        const { code, stderr } = await place.run(words);
        assert.equal(code, 1, words.join(' '));
        assert.match(stderr, /^hookshelf: journal-000001\.jsonl, line \d+, offset \d+: the /);
        assert.match(stderr, / empty the file `lock`; .*data:restore --replace/);
      }
      const doctor = await place.run(['doctor']);
      assert.match(doctor.stdout, /^store +failed .*the end is missing/m);
      assert.deepEqual([readFileSync(journal, 'utf8'), readFileSync(lock, 'utf8')], [text, end]);
    }
    writeFileSync(journal, before);
    writeFileSync(lock, '');
    assert.deepEqual(await titles(place), ['One', 'Two']);
    await place.run(['data:compact']);
    writeFileSync(lock, end ?? '');
    assert.deepEqual(await titles(place), ['One', 'Two'], 'a later generation is other data');
  }));

test('data that is gone beside a `lock` that tells of it is damaged, until `lock` is emptied', () =>
  inPlace('without a server', async (place) => {
    assert.deepEqual(await titles(place), []);
    const lock = join(place.data, 'lock');
    assert.match(readFileSync(lock, 'utf8'), /"journal":{"generation":1,"sequence":0}/);
    rmSync(join(place.data, 'journal-000001.jsonl'));
    assert.deepEqual(await titles(place), [], 'nothing was stored, so nothing is lost');
    await addBooks(place, 'One');
    await place.run(['data:compact']);
    const end = readFileSync(lock, 'utf8');
    for (const name of readdirSync(place.data)) {
      if (name !== 'lock') rmSync(join(place.data, name), { recursive: true });
    }
    const [moved, backup] = ['moved', 'backup'].map((name) => join(place.folder, name));
    for (const words of [
      ['data:verify'], ['book:list'], ['data:backup', '--to', backup ?? ''],
      ['data:move', '--to', moved ?? ''], ['book:add', '--input', '{"title":"Two"}'],
    ]) {
      const { code, stderr } = await place.run(words);
      assert.equal(code, 1, words.join(' '));
      assert.match(stderr, /^hookshelf: journal-000002\.jsonl, line 1, .* the file is missing, /);
      assert.match(stderr, / To begin anew, empty the file `lock`; .*data:restore --replace/);
      assert.deepEqual([readdirSync(place.data), readFileSync(lock, 'utf8')], [['lock'], end]);
    }
    assert.equal(existsSync(backup ?? ''), false);
    const doctor = await place.run(['doctor'], { environment: { HOOKSHELF_SERVER_PORT: '0' } });
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /^store +failed .*journal-000002\.jsonl.* the file is missing/m);
    assert.match(doctor.stdout, /^access +warning .*at \(see store\)/m);
    writeFileSync(lock, '');
    assert.deepEqual(await titles(place), []);
  }));

test('data that is gone after a kill is damaged, if the killed server had opened it', () =>
  inPlace('through a server', async (place) => {
    await addBooks(place, 'Two');
    // A kill leaves the lock as it is now.
    const killed = join(place.folder, 'killed');
    cpSync(place.data, killed, {
      recursive: true, filter: (path) => !/\.(sock|jsonl)$/.test(path),
    });
    for (const words of [['data:verify'], ['book:list'], ['book:list']]) {
      const { code, stderr } = await runCommand([...words, '--data', killed]);
      assert.equal(code, 1, words.join(' '));
      assert.match(stderr, /journal-000001\.jsonl, line 1, .* the file is missing, but it went to/);
    }
    assert.deepEqual(readdirSync(killed), ['lock']);
  }, async (data) => {
    await runCommand(['book:add', '--input', '{"title":"One"}', '--data', data]);
  }));

test('neither a move nor a restore takes a journal that has lost its end since the last stop', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One', 'Two');
    const copy = join(place.folder, 'copy');
    const journal = join(place.data, 'journal-000001.jsonl');
    const lines = readFileSync(journal, 'utf8').split('\n');
    const two = lines.findIndex((line) => line.includes('"Two"'));
    writeFileSync(journal, `${lines.slice(0, two).join('\n')}\n`);
    cpSync(place.data, copy, { recursive: true });
    const end = readFileSync(join(place.data, 'lock'), 'utf8');
    const moved = join(place.folder, 'moved');
    await inPlace('without a server', async (other) => {
      for (const ran of [
        await place.run(['data:move', '--to', moved]),
        await other.run(['data:restore', '--from', copy]),
      ]) {
        assert.equal(ran.code, 1, ran.stdout);
        assert.match(ran.stderr, /^hookshelf: journal-000001\.jsonl, line \d+, .*end is missing/);
      }
      assert.deepEqual(await titles(other), []);
    });
    assert.equal(readFileSync(join(place.data, 'lock'), 'utf8'), end);
    assert.equal(existsSync(moved), false);
  }));

test('who adds to a copy of data:follow is told that it follows no more', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    writeFileSync(join(place.data, 'copy.json'), '');
    const add = ['book:add', '--input', '{"title":"Two"}'];
    assert.match((await place.run(add)).stderr, /was made by data:follow \(copy\.json\), /);
    assert.equal((await place.run(['book:list'])).stderr, '');
  }));

test('a restore replaces what `lock` told of the journal', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    const backup = join(place.folder, 'backup.tar');
    await place.run(['data:backup', '--to', backup]);
    await addBooks(place, 'Two');
    for (const name of readdirSync(place.data)) {
      if (name !== 'lock') rmSync(join(place.data, name), { recursive: true });
    }
    const restored = await place.run(['data:restore', '--from', backup]);
    assert.equal(restored.code, 0, restored.stderr);
    assert.deepEqual(await titles(place), ['One']);
  }));

test('a restore tells that tokens are lost where `lock` shows that data is', () =>
  inPlace('without a server', async (place) => {
    const backup = join(place.folder, 'backup.tar');
    await addBooks(place, 'One');
    await place.run(['data:backup', '--to', backup]);
    await place.json(['token:create', '--name', 'mine', '--scope', 'admin']);
    const journal = join(place.data, 'journal-000001.jsonl');
    const end = readFileSync(join(place.data, 'lock'), 'utf8');
    const lines = readFileSync(journal, 'utf8').split('\n');
    const mine = lines.findIndex((line) => line.includes('"mine"'));
    for (const text of [`${lines.slice(0, mine).join('\n')}\n`, null]) {
      for (const name of readdirSync(place.data)) {
        rmSync(join(place.data, name), { recursive: true });
      }
      if (text !== null) writeFileSync(journal, text, { mode: 0o600 });
      writeFileSync(join(place.data, 'lock'), end);
      const replace = text === null ? [] : ['--replace'];
      const { code, stderr } =
        await place.run(['data:restore', '--from', backup, ...replace]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /the tokens of the data .* could not be read: the API stays/);
    }
  }));

test('doctor reads the snapshots too where no server runs, and judges them as a start does',
  () => inPlace('without a server', async (place) => {
    const doctor = (): ReturnType<Place['run']> =>
      place.run(['doctor'], { environment: { HOOKSHELF_SERVER_PORT: '0' } });
    assert.match((await doctor()).stdout, /^store +ok +nothing is stored yet$/m);
    await addBooks(place, 'One', 'Two');
    await place.run(['data:compact']);
    await place.run(['data:compact']);
    // Its journal alone still leads from the empty state to all that is there.
    rmSync(join(place.data, 'journal-000001.jsonl'));
    assert.match((await doctor()).stdout, /^store +ok .*all of them whole$/m);
    for (const [generation, code, found] of [
      [3, 0, 'warning .*books-000003.* goes back to the generation before'],
      [2, 1, 'failed .*books-000003.* checksum .*data:restore --replace'],
    ] as const) {
      const path = join(place.data, `books-00000${generation}.json`);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"One"', '"Ona"'));
      const ran = await doctor();
      assert.equal(ran.code, code);
      assert.match(ran.stdout, new RegExp(`^store +${found}`, 'm'));
    }
  }));

test('data of another version names the program that wrote them, and no restore',
  () => inPlace('without a server', async (place) => {
    const backups = ['backup', 'backup.tar'].map((name) => join(place.folder, name));
    const files = createNodeFiles();
    const sources = await openArchive(files, place.data);
    const { sequence, records } = await verifyDirectory({
      directory: place.data, files, specs: NEWER_COLLECTIONS,
    });
    for (const to of backups) {
      await writeBackup(files, { ...sources, contents: { sequence, records } }, to, 0);
    }
    sources.close();
    const fresh = join(place.folder, 'fresh');
    for (const words of [
      ['book:list', '--data', place.data], ['data:verify', '--data', place.data],
      ...backups.flatMap((from) => [
        ['data:verify', '--from', from], ['data:restore', '--from', from, '--data', fresh],
      ]),
    ]) {
      const { code, stderr } = await runCommand(words);
      assert.equal(code, 1, words.join(' '));
      assert.match(stderr, new RegExp('^hookshelf: .*: records of "newer", which this version does '
        + 'not know. Nothing is damaged, .*: go on with the hookshelf that wrote it'));
      assert.doesNotMatch(stderr, /data:restore/);
    }
    const { stdout } = await place.run(['doctor']);
    const older = join(place.folder, 'older.tar');
    await runCommand(['book:add', '--data', fresh, '--input', '{"title":"One"}']);
    await runCommand(['data:backup', '--to', older, '--data', fresh]);
    const back = await place.run(['data:restore', '--from', older, '--replace']);
    assert.deepEqual([back.code, back.stderr], [0, '']);
    assert.match(stdout, /^store +failed .*records of "newer", .* go on with the hookshelf/m);
    assert.doesNotMatch(stdout, /data:restore/);
  }, async (directory) => {
    const store = await openStore({
      directory, files: createNodeFiles(), specs: NEWER_COLLECTIONS, logger: silentLogger,
    });
    await store.transact((transaction) => transaction.put('newer', 'n', '{"id":"n"}'));
    await store.close();
  }));

test('verifies a backup, and refuses a damaged one before it makes a directory', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One', 'Two');
    for (const name of ['backup', 'backup.tar']) {
      const from = join(place.folder, name);
      await place.run(['data:backup', '--to', from]);
      const whole = await place.run(['data:verify', '--from', from]);
      assert.deepEqual([whole.code, whole.stderr], [0, '']);
      assert.match(whole.stdout, /with 2 books; nothing is damaged\n$/);
      const path = name === 'backup.tar' ? from : join(from, 'journal-000001.jsonl');
      writeFileSync(path, readFileSync(path, 'utf8').replace('"One"', '"Ona"'));
      const data = join(place.folder, 'new');
      for (const words of [['data:verify'], ['data:restore', '--data', data]]) {
        const { code, stderr } = await runCommand([...words, '--from', from]);
        assert.equal(code, 1, stderr);
        assert.match(stderr, /^hookshelf: [^\n]*journal-000001\.jsonl[^\n]*\n$/);
      }
      assert.equal(existsSync(data), false);
    }
    const missing = await runCommand(['data:verify', '--from', join(place.folder, 'none')]);
    assert.match(missing.stderr, /there is no backup/);
  }));

test('a folder without a backup is not called whole, and the newest .tar in it is named', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    const folder = join(place.folder, 'backups');
    mkdirSync(folder);
    const refuse = async (pattern: RegExp): Promise<void> => {
      for (const command of ['data:verify', 'data:restore']) {
        const data = join(place.folder, 'new');
        const { code, stdout, stderr } =
          await runCommand([command, '--from', folder, '--data', data]);
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, pattern);
        assert.equal(existsSync(data), false);
      }
    };
    await refuse(/\/backups holds no backup\n$/);
    writeFileSync(join(folder, 'backup.pending'), '');
    await refuse(/^hookshelf: [^\n]*\/backups[^\n]*\n$/);
    rmSync(join(folder, 'backup.pending'));
    for (const name of ['hookshelf-20260101T000000Z.tar', 'hookshelf-20260102T000000Z.tar']) {
      const made = await place.run(['data:backup', '--to', join(folder, name)]);
      assert.equal(made.code, 0, made.stderr);
    }
    writeFileSync(join(folder, 'hookshelf-20260103T000000Z.tar.1.part'), '');
    await refuse(/ itself, .*: name one, .* --from \S+\/hookshelf-20260102T000000Z\.tar\n$/);
  }));

test('a directory without data is neither called whole nor backed up', () =>
  inPlace('without a server', async (place) => {
    const to = join(place.folder, 'backup.tar');
    for (const words of [['data:verify'], ['data:backup', '--to', to]]) {
      const { code, stdout, stderr } = await place.run(words);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, /\/data holds no data: is --data right\?/);
      assert.deepEqual([readdirSync(place.data), existsSync(to)], [[], false]);
    }
  }));

test('a backup that stands alone is named with its option', () =>
  inPlace('without a server', async (place) => {
    for (const command of ['data:restore', 'data:verify']) {
      const { code, stderr } = await place.run([command, 'backup.tar']);
      assert.equal(code, 2);
      assert.match(stderr, /does not take "backup\.tar": write --from backup\.tar; see/);
    }
    const glob = await place.run(['data:restore', '--from', 'a.tar', 'b.tar']);
    assert.match(glob.stderr, /does not take "b\.tar"; see/);
    const { stderr } = await place.run(['book:list', 'emma']);
    assert.match(stderr, /does not take "emma"; see/);
  }));

test('refuses to restore a damaged backup', () => inPlace('without a server', async (place) => {
  await addBooks(place, 'One', 'Two');
  const from = join(place.folder, 'backup');
  cpSync(place.data, from, { recursive: true });
  const journal = join(from, readdirSync(from).find((file) => file.endsWith('.jsonl')) ?? '');
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('"One"', '"Ona"'));
  const { code, stderr } = await place.run(['data:restore', '--from', from, '--replace']);
  assert.deepEqual([code, /^hookshelf: [^\n]*\n$/.test(stderr)], [1, true]);
  assert.deepEqual(await titles(place), ['One', 'Two']);
  const missing = await place.run(['data:restore', '--from', join(place.folder, 'none')]);
  assert.match(missing.stderr, /there is no backup/);
  const other = await place.run(['data:restore', '--from', journal, '--replace']);
  assert.match(other.stderr, /journal-\d+\.jsonl is neither a directory nor a \.tar file\n$/);
}));

test('a restore reports a torn end that it leaves out', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One', 'Two');
    const from = join(place.folder, 'backup');
    cpSync(place.data, from, { recursive: true });
    const journal = join(from, readdirSync(from).find((file) => file.endsWith('.jsonl')) ?? '');
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"torn`);
    const { code, stderr } = await place.run(['data:restore', '--from', from, '--replace']);
    assert.equal(code, 0);
    assert.match(stderr, /^hookshelf: .*torn end of 6 bytes[^\n]*\n$/);
  }));

test('a restore neither opens a closed API nor makes a revoked token good again', () =>
  inPlace('without a server', async (place) => {
    const backup = async (name: string): Promise<string> => {
      const to = join(place.folder, name);
      assert.equal((await place.run(['data:backup', '--to', to])).code, 0);
      return to;
    };
    await addBooks(place, 'One');
    const open = await backup('open');
    const { identifier } = await place.json<{ identifier: string }>(
      ['token:create', '--name', 'a', '--scope', 'admin']);
    const before = await backup('before');
    assert.equal((await place.run(['token:revoke', '--identifier', identifier])).code, 0);
    for (const from of [open, before]) {
      const restored = await place.run(['data:restore', '--from', from, '--replace']);
      assert.equal(restored.code, 0, restored.stderr);
      const [token, ...others] = await place.json<Record<string, unknown>[]>(['token:list']);
      assert.deepEqual(others, []);
      assert.equal(token?.['identifier'], identifier);
      assert.notEqual(token?.['revokedAt'], undefined, from);
    }
  }));

test('a restore over data that cannot be read leaves the API closed, and says so', async () => {
  for (const hasToken of [false, true]) {
    await inPlace('without a server', async (place) => {
      await addBooks(place, 'One');
      if (hasToken) {
        const words = ['token:create', '--name', 'mine', '--scope', 'admin'];
        assert.equal((await place.run(words)).code, 0);
      }
      const from = join(place.folder, 'backup');
      assert.equal((await place.run(['data:backup', '--to', from])).code, 0);
      await addBooks(place, 'Two', 'Three');
      const journal = readdirSync(place.data).find((name) => name.startsWith('journal-')) ?? '';
      const path = join(place.data, journal);
      writeFileSync(path, readFileSync(path, 'utf8').replace('One', 'Eno'));
      const { code, stderr } = await place.run(['data:restore', '--from', from, '--replace']);
      assert.equal(code, 0, stderr);
      assert.match(stderr, hasToken ? /those of the backup are good, also those revoked since/
        : /the API stays closed until there is one \(token:create, or the setting server.apiTok/);
      const files = readdirSync(place.data).filter((name) => /^(?:journal|tokens)-/.test(name));
      const texts = files.map((name) => readFileSync(join(place.data, name), 'utf8'));
      const isConfigured = /"name":"server\.apiToken".*"isConfigured":true/;
      assert.equal(isConfigured.test(texts.join('')), !hasToken);
    });
  }
});

test('a backup within the data directory is refused', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    for (const to of ['backup.tar', 'backups/']) {
      const words = ['data:backup', '--to', join(place.data, to) + (to.endsWith('/') ? '/' : '')];
      const { code, stderr } = await place.run(words);
      assert.equal(code, 2);
      assert.match(stderr, /^hookshelf: --to \(\S+\) is within the data directory /);
    }
    assert.deepEqual(readdirSync(place.data).filter((name) => name.startsWith('backup')), []);
  }));

test('a move names what it was given wrongly, and not what is in it', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    for (const to of ['nowhere://user:planted@host/db', 'postgres://user:planted@host/d b']) {
      const { code, stdout, stderr } = await place.run(['data:move', '--to', to]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^hookshelf: --to must be a directory, or a URL like postgres:\/\//);
      assert.doesNotMatch(stderr, /planted/);
    }
    assert.deepEqual(await titles(place), ['One']);
  }));

test('a move to where no directory can be made names its own option', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    const file = join(place.folder, 'file');
    writeFileSync(file, '');
    for (const to of [file, join(file, 'below')]) {
      const { code, stderr } = await place.run(['data:move', '--to', to]);
      assert.equal(code, 1);
      assert.match(stderr, /; name (?:one|another one) with --to\n$/);
    }
  }));

test('a move into a directory tells in lines what it did, and what to do next', () =>
  inPlace('without a server', async (place) => {
    await addBooks(place, 'One');
    const to = join(place.folder, 'moved');
    const { code, stdout, stderr } = await place.run(['data:move', '--to', to]);
    assert.deepEqual([code, stderr], [0, '']);
    const [moved, checked, next, ...rest] = stdout.split('\n');
    assert.equal(moved, `moved 1 books (sequence 1) to ${to}`);
    assert.match(checked ?? '', /^read back, the checksum of each of \d+ collections is the same$/);
    assert.deepEqual([next, ...rest], [`now start with --data ${to}`, '']);
  }));
