import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { toHeadingAnchor } from '../../src/base/text/heading-anchor.ts';
import { CHAPTERS } from '../../src/manual/chapters.ts';
import { getChapter, readChapter } from '../../src/manual/read-chapter.ts';
import { PRESETS } from '../../src/webhooks/senders/presets/preset-table.ts';
import { PAGES, pathOfPage, readPage } from '../support/manual-blocks.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** They come with the sources alone. */
const OF_SOURCES = ['architecture', 'working'];
const README_BYTES_MAX = 12_000;
const CHAPTER_BYTES_MAX = 48_000;

test('every chapter that is listed has a text, which begins with its title', () => {
  for (const chapter of CHAPTERS) {
    assert.equal(getChapter(chapter.name), chapter);
    const [heading] = readChapter(chapter).split('\n');
    assert.equal(heading, `# ${chapter.title}`);
  }
});

test('every chapter, but the changelog, first says what its reader can do afterwards', () => {
  const silent = CHAPTERS.filter(({ name }) => name !== 'changelog')
    .filter((chapter) => !readChapter(chapter).split('\n\n')[1]?.startsWith('After this chapter'));
  assert.deepEqual(silent, []);
});

test('every text is listed', () => {
  const listed = [...CHAPTERS.map(({ name }) => name), ...OF_SOURCES]
    .map((name) => `src/manual/${name}.md`).sort();
  assert.deepEqual(PAGES.filter((page) => page !== 'README.md'), listed);
});

test('no chapter of the package leads to one that is not in it', () => {
  const targets = OF_SOURCES.map((name) => `${name}.md`);
  const broken = CHAPTERS.map(({ name }) => `src/manual/${name}.md`)
    .filter((page) => linksOf(page).some((link) => targets.includes(link.split('#')[0] ?? '')));
  assert.deepEqual(broken, []);
});

test('refuses a chapter that there is not, with the nearest name', () => {
  assert.throws(() => getChapter('deliverys'), {
    code: 'not_found', message: 'there is no chapter "deliverys" in the manual: did you mean '
      + 'deliveries?',
  });
  assert.throws(() => getChapter('../README'), { code: 'not_found' });
  assert.throws(() => getChapter(''), { code: 'not_found' });
});

test('the README and each chapter can be read in one go', () => {
  const long = PAGES.map((page) => [page, Buffer.byteLength(readPage(page))] as const)
    .filter(([page, bytes]) =>
      bytes > (page === 'README.md' ? README_BYTES_MAX : CHAPTER_BYTES_MAX));
  assert.deepEqual(long, []);
});

test('every link within the pages leads somewhere', () => {
  const broken = PAGES.flatMap((page) => linksOf(page).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? pathOfPage(page) : join(dirname(pathOfPage(page)), path);
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
  }).map((link) => `${page}: ${link}`));
  assert.deepEqual(broken, []);
});

test('the README says how many senders there are', () => {
  assert.ok(readPage('README.md').includes(` ${PRESETS.length} senders verified by name`));
});

test('the README links to every chapter', () => {
  const missing = [...CHAPTERS.map(({ name }) => name), ...OF_SOURCES]
    .map((name) => `src/manual/${name}.md`)
    .filter((path) => !linksOf('README.md').includes(path));
  assert.deepEqual(missing, []);
});

test('the architecture chapter names every folder of the sources', () => {
  const map = new Set(foldersOnMap());
  const folders = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
  assert.ok(folders.length > 20);
  assert.deepEqual([...map].sort(), folders.sort());
});

test('the chapters for developers name no file that there is not', () => {
  const text = readPage('src/manual/architecture.md') + readPage('src/manual/working.md');
  const named = [...text.matchAll(/`((?:[a-z-]+\/)+[a-z-]+\.ts)`/g)].map(([, path = '']) => path);
  assert.ok(named.length > 10);
  const files = [...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }),
    ...readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .map((name) => `test/${name}`)];
  assert.deepEqual(named.filter((path) =>
    !files.includes(path.replace(/^src\//, ''))), []);
});

test('the chapter on working lists every script that a person runs', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as
    { scripts: Record<string, string> };
  const text = readPage('src/manual/working.md');
  // npm runs those by itself before others.
  const missing = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
    .filter((name) => !new RegExp(`\\| \`npm (run )?${name}\``).test(text));
  assert.deepEqual(missing, []);
});

function linksOf(page: string): string[] {
  return [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toHeadingAnchor(heading));
}

/** The lines of the map that name a folder: two spaces deeper is a folder within. */
function foldersOnMap(): string[] {
  const [, map = ''] = readPage('src/manual/architecture.md').split('```text\nsrc/\n');
  const way: string[] = [];
  return (map.split('\n```')[0] ?? '').split('\n').flatMap((line) => {
    const [, indent = '', names = ''] = /^( +)((?:[a-z-]+\/(?:, )?)+)/.exec(line) ?? [];
    if (names === '') return [];
    way.length = indent.length / 2 - 1;
    const folders = names.split(', ').map((name) => name.slice(0, -1));
    way.push(folders.at(-1) ?? '');
    return folders.map((name) => ['src', ...way.slice(0, -1), name].join('/'));
  });
}
