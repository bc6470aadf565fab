import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHAPTERS } from '../../../src/manual/chapters.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { runCommand } from '../io.ts';

const SECURITY = readFileSync('src/manual/security.md', 'utf8');

test('without a name the manual lists its chapters', async () => {
  const { code, stdout } = await runCommand(['manual']);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split('\n').slice(1);
  assert.deepEqual(lines.map((line) => line.split(' ')[0]), CHAPTERS.map(({ name }) => name));
  const json = await runCommand(['manual', '--json']);
  assert.deepEqual(JSON.parse(json.stdout), CHAPTERS);
});

test('a chapter is printed as it is where nobody pages', async () => {
  assert.deepEqual(await runCommand(['manual', 'security'], {
    environment: { PAGER: 'cat > /dev/full' },
  }), { code: 0, stdout: SECURITY, stderr: '' });
  const onTerminal = await runCommand(['manual', 'security'], { columns: 80 });
  assert.equal(onTerminal.stdout, SECURITY);
});

test('a chapter as JSON has its title and its text', async () => {
  const { stdout } = await runCommand(['manual', 'security', '--json'], {
    columns: 80, environment: { PAGER: 'false' },
  });
  const { name, title, text } = JSON.parse(stdout);
  assert.deepEqual([name, title, text], ['security', 'Security', SECURITY]);
});

test('on a terminal the pager shows it, and may have options', async () => {
  const folder = createTemporaryFolder();
  const { code, stdout } = await runCommand(['manual', 'security'], {
    columns: 80,
    environment: { PAGER: `tee ${folder}/shown > /dev/null`, PATH: process.env['PATH'] ?? '' },
  });
  assert.deepEqual([code, stdout], [0, '']);
  assert.equal(readFileSync(join(folder, 'shown'), 'utf8'), SECURITY);
});

test('a pager that ends early is no failure, and one that is missing no loss', async () => {
  const early = await runCommand(['manual', 'security'], {
    columns: 80, environment: { PAGER: 'exec true' },
  });
  assert.deepEqual([early.code, early.stdout], [0, '']);
  const missing = await runCommand(['manual', 'security'], {
    columns: 80, environment: { PAGER: '/nonexistent/pager 2> /dev/null' },
  });
  assert.deepEqual([missing.code, missing.stdout], [0, SECURITY]);
});

test('a chapter that there is not is an error with the nearest name', async () => {
  const { code, stdout, stderr } = await runCommand(['manual', 'sercurity']);
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(stderr,
    'hookshelf: there is no chapter "sercurity" in the manual: did you mean security?\n');
});

test('a word that is no chapter lists the sections that have it, and how many more', async () => {
  const { code, stdout, stderr } = await runCommand(['manual', 'reverse proxy']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^CHAPTER +SECTION\nservice +Behind a reverse proxy\n/);
  const many = await runCommand(['manual', 'webhooks']);
  assert.equal(many.stdout.trimEnd().split('\n').length, 21);
  assert.match(many.stderr, /^hookshelf: \d+ more sections have it: give more words, in quotes\n$/);
  const json = await runCommand(['manual', 'webhooks', '--json']);
  assert.equal(json.stderr, '');
  const sections: readonly unknown[] = JSON.parse(json.stdout);
  assert.ok(sections.length > 100);
  assert.deepEqual(Object.keys(Object(sections[0])), ['chapter', 'heading', 'anchor']);
});
