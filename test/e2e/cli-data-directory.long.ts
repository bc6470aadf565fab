/** Data directories that cannot be had, and those under odd names, as processes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { someOf } from '../support/long.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { NOBODY, isRoot } from '../support/users.ts';
import { hookshelf, startServer } from './processes.ts';

const LONG_NAME = 'long-'.repeat(40);

test('a data directory that cannot be had fails at once and says so', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  for (const [data, code, message] of [
    ['/proc/none', 1, 'cannot make the data directory /proc/none '],
    ['/proc/1/none/below', 1, 'cannot make the data directory /proc/1/none/below '],
    ['/dev/null', 2, '/dev/null is not a directory; name one with --data'],
    ['/dev/null/none', 2, '/dev/null/none is not a directory; name one with --data'],
  ] as const) {
    for (const words of [['book:import', '--sample'], ['serve', '--port', '0']]) {
      const ended = await hookshelf([...words, '--data', data]);
      assert.equal(ended.code, code, ended.stderr);
      assert.ok(ended.stderr.startsWith(`hookshelf: ${message}`), ended.stderr);
      assert.match(ended.stderr, /--data\n$/);
    }
  }
});

test('a data directory of any name serves commands beside the server', async () => {
  await inFolder(async (folder) => {
    for (const name of ['with space', 'Bücher-書棚', `'"$x`, `${LONG_NAME}/${LONG_NAME}`]) {
      const data = join(folder, name);
      const server = await startServer(['--data', data], { environment: { TMPDIR: folder } });
      const added = await hookshelf(
        ['book:add', '--input', '{"title":"A"}', '--json', '--data', data],
      );
      assert.equal(added.code, 0, added.stderr);
      assert.equal(statSync(data).mode & 0o777, 0o700);
      assert.equal((await server.stop()).code, 0);
      // The socket of a path too long for one had a folder of its own.
      assert.deepEqual(readdirSync(folder).filter((entry) => entry.startsWith('hookshelf-')), []);
    }
  });
});

test('a folder of somebody else in the place of a long socket path\'s is neither used nor emptied',
  () => inFolder(async (folder) => {
    const data = join(folder, LONG_NAME, LONG_NAME);
    const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
    const own = join(folder, `hookshelf-${digest}`);
    const squats: readonly (() => void)[] = [
      () => mkdirSync(own, { mode: 0o755 }),
      () => {
        mkdirSync(own, { mode: 0o700 });
        if (isRoot) chownSync(own, NOBODY, NOBODY);
        else chmodSync(own, 0o750);
      },
      () => {
        mkdirSync(join(folder, 'target'), { mode: 0o700 });
        symlinkSync(join(folder, 'target'), own);
      },
    ];
    const options = { environment: { TMPDIR: folder, XDG_RUNTIME_DIR: '/nonexistent' } };
    for (const squat of squats) {
      squat();
      writeFileSync(join(own, 'theirs'), '');
      const server = await startServer(['--data', data], options);
      const [made = '', ...more] = readdirSync(folder).map((name) => join(folder, name))
        .filter((path) => path.startsWith(`${own}-`));
      assert.deepEqual(more, []);
      assert.equal(statSync(made).mode & 0o777, 0o700);
      assert.equal((await hookshelf(['book:list', '--data', data])).code, 0);
      assert.equal((await server.stop()).code, 0);
      assert.deepEqual(readdirSync(own), ['theirs']);
      rmSync(own, { recursive: true });
      assert.ok(!existsSync(made));
    }
    // What a killed server leaves is used again, and then goes.
    const killed = await startServer(['--data', data], options);
    await killed.stop('SIGKILL');
    const left = (): string[] =>
      readdirSync(folder).filter((name) => name.startsWith('hookshelf-'));
    assert.deepEqual(left(), [`hookshelf-${digest}`]);
    const server = await startServer(['--data', data], options);
    assert.deepEqual(left(), [`hookshelf-${digest}`]);
    await server.stop();
    assert.deepEqual(left(), []);
  }));

test('folders above a new data directory are made, and private', async () => {
  await inFolder(async (folder) => {
    const above = join(folder, 'above');
    const add = ['book:add', '--input', '{"title":"A"}', '--data', join(above, 'data')];
    assert.equal((await hookshelf(add)).code, 0);
    assert.equal(statSync(above).mode & 0o777, 0o700);
    mkdirSync(join(folder, 'there'));
    assert.equal((await hookshelf(['book:list', '--data', join(folder, 'there')])).code, 0);
  });
});

/** Every command that neither adds, changes nor goes without data, with what it needs to run. */
const READING = COMMANDS.filter((spec) => spec.makesData !== true && spec.isWithoutData !== true)
  .filter(({ name }) => !['doctor', 'settings:show', 'data:follow'].includes(name)
    && !/.:update$/.test(name))
  .map(({ name, operand, options, oneOf = [] }) => [name,
    ...operand?.values?.slice(0, 1) ?? [], ...Object.entries(options)
    .filter(([option, { isRequired }]) => isRequired === true || oneOf[0]?.[0] === option
      // One, or those that a filter takes.
      || (/:(replay|resend|cancel)$/.test(name) && option === 'identifier'))
    .flatMap(([option, { type, values }]) =>
      type === 'boolean' ? [`--${option}`]
        : [`--${option}`, values?.[0] ?? (option === 'since' ? '1h' : '{}')])]);

test('a command that reads never makes a data directory: it asks whether --data is right', () =>
  inFolder(async (folder) => {
    assert.ok(READING.length > 20);
    const data = join(folder, 'tpyo');
    const missing = `there is no data directory ${data}: is --data right?`;
    for (const words of someOf(READING, 4)) {
      const { code, stderr } = await hookshelf([...words, '--data', data], { cwd: folder });
      assert.equal(code, 1, `${words.join(' ')}: ${stderr}`);
      assert.ok(stderr.startsWith(`hookshelf: ${missing}`), `${words.join(' ')}: ${stderr}`);
      assert.deepEqual(readdirSync(folder), [], words[0]);
    }
    // The doctor tries the port, which anybody may have taken.
    const environment = { HOOKSHELF_SERVER_PORT: '0' };
    for (const words of [['doctor'], ['settings:show'], ['help'], ['completion', 'bash']]) {
      const { code } = await hookshelf([...words, '--data', data], { environment });
      assert.equal(code, 0, words[0]);
      assert.deepEqual(readdirSync(folder), [], words[0]);
    }
  }));

test('a dry run of an import checks without a data directory, and makes none', () =>
  inFolder(async (folder) => {
    const [missing, empty] = [join(folder, 'none'), join(folder, 'empty')];
    mkdirSync(empty);
    const id = '01a1f92b-17e0-702b-979d-2a3c3908d79d';
    const input = [{ id, title: 'A' }, { id, title: 'Again' }, { title: '' }]
      .map((book) => JSON.stringify(book)).join('\n');
    for (const data of [missing, empty]) {
      const words = ['book:import', '--dry-run', '--data', data];
      const sample = await hookshelf([...words, '--sample']);
      assert.equal(sample.stdout,
        'would have imported 105, updated 0, unchanged 0, skipped 0 (dry run, nothing was '
          + 'changed)\n', sample.stderr);
      assert.equal(sample.code, 0);
      const lines = ['--file', '-', '--format', 'jsonl'];
      const checked = await hookshelf([...words, ...lines], { input });
      assert.equal(checked.code, 1);
      assert.match(checked.stderr, /^hookshelf: line 2: a book with this id exists/m);
      assert.match(checked.stderr, /^hookshelf: line 3: \/title: /m);
      assert.match(checked.stdout, /^would have imported 1, updated 0, unchanged 0, skipped 2 /);
      const replaced = await hookshelf([...words, ...lines, '--replace', '--json'], { input });
      const { imported, replaced: count, dryRun } = JSON.parse(replaced.stdout);
      assert.deepEqual([imported, count, dryRun], [1, 1, true]);
      const broken = await hookshelf([...words, '--file', '-', '--format', 'csv'],
        { input: 'Titlle,Foo\nA,B\n' });
      assert.equal(broken.code, 1, broken.stderr);
      assert.match(broken.stderr, /"Titlle" \(did you mean `title`\?\); unknown column "Foo"/);
    }
    assert.deepEqual(readdirSync(folder), ['empty']);
    assert.deepEqual(readdirSync(empty), []);
  }));

test('a command that reads makes no store among the files of somebody else', () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, 'letter.txt'), 'x');
    const dryRun = ['book:import', '--sample', '--dry-run'];
    for (const words of [['book:list'], ['data:verify'], dryRun]) {
      const { code, stderr } = await hookshelf([...words, '--data', folder]);
      assert.equal(code, 1, `${words.join(' ')}: ${stderr}`);
      assert.ok(stderr.startsWith(
        `hookshelf: ${folder} holds files, but no data of hookshelf: is --data right?`,
      ), stderr);
      assert.deepEqual(readdirSync(folder), ['letter.txt'], words[0]);
    }
    writeFileSync(join(folder, 'settings.json'), '{}');
    assert.equal((await hookshelf(['book:list', '--data', folder])).stdout, 'no books\n');
  }));

test('HOOKSHELF_DATA names the data directory, and --data another one', () =>
  inFolder(async (folder) => {
    const options = { cwd: folder, environment: { HOOKSHELF_DATA: join(folder, 'here') } };
    const add = ['book:add', '--input', '{"title":"A"}'];
    assert.equal((await hookshelf(add, options)).code, 0);
    assert.deepEqual(readdirSync(folder), ['here']);
    assert.match((await hookshelf(['book:list'], options)).stdout, / A /);
    assert.equal((await hookshelf([...add, '--data', 'there'], options)).code, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['here', 'there']);
    const unset = { cwd: folder, environment: { HOOKSHELF_DATA: '' } };
    assert.equal((await hookshelf(add, unset)).code, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['data', 'here', 'there']);
  }));
