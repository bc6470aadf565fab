/** The words of the architecture chapter and the code name concepts in the same way. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');
const ARCHITECTURE = readFileSync(join(ROOT, 'src/manual/architecture.md'), 'utf8');
/** Rooms whose classes and interfaces stand for concepts of the house. */
const DOMAIN_ROOMS = [
  'access', 'books', 'client', 'followers', 'nodes', 'resources', 'server', 'store', 'stream',
  'webhooks',
];
/** Words for concepts that a reader knows from elsewhere: the chapter need not explain them. */
const PLAIN_WORDS = new Set(`action append appender arena backoff backup batch batcher
  broadcast cache capacity catalog certificate change check citation client clock collection
  command commit compaction configuration connection consistency contention context cors detector
  diagnosis dispatcher duplicates engine entries error exchange feed file folder follower gateway
  guard health histogram host http import importer inbox index job journal key lease line list
  listener liveness lock macro match membership memtable meter metric module network node
  notification offset ownership parents policy pool queue reader reads reference rejection reload
  replica repository response retention ring router run scheduler schema searches secret segment
  session snapshot socket splitter store stream submission table target term times watch word
  worker writer`.split(/\s+/));
const ENTRY = /^\| \*\*([^*]+)\*\* \| ([^|]+) \| `([^`]+)` \|$/gm;
/** Participles that do not end in "ed", and adjectives that have been used like them. */
const IRREGULAR = new Set(`bad begun bound built came chosen done drawn driven fallen felt found
  given gone grown heard held hidden kept known laid late led left lent lost made meant met paid ran
  ridden risen said seen sent shown shut spent spread stood sunk sworn taken thrown told
  understood undone unkept well woken won worn written`.split(/\s+/));
/** Nouns that end like a participle. */
const NOUNS = new Set(['bed', 'embed', 'feed', 'need', 'seed', 'shed', 'speed', 'thread']);
type Entry = { readonly word: string; readonly meaning: string; readonly file: string };

const entries: readonly Entry[] = [...ARCHITECTURE.matchAll(ENTRY)]
  .map(([, word = '', meaning = '', file = '']) => ({ word, meaning, file }));

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  .map((name) => ({ name, text: readFileSync(join(ROOT, 'src', name), 'utf8') }));

const types = sources.flatMap(({ name, text }) =>
  [...text.matchAll(/^(export )?(?:abstract )?(class|interface|type) ([A-Z]\w*)/gm)]
    .map(([, exported, kind = '', type = '']) =>
      ({ file: name, isExported: exported !== undefined, kind, type })));

test('the glossary holds each word once, with the file that defines it', () => {
  assert.ok(entries.length >= 60, `${entries.length} words`);
  const words = entries.map(({ word }) => word);
  assert.deepEqual(words.filter((word, index) => words.indexOf(word) !== index), []);
  const missing = entries.filter(({ file }) => !existsSync(join(ROOT, 'src', file)));
  assert.deepEqual(missing, []);
  const silent = entries.filter(({ word, file }) => {
    const text = readFileSync(join(ROOT, 'src', file), 'utf8').toLowerCase();
    return !wordsOf(word).every((part) => text.includes(singular(part)));
  });
  assert.deepEqual(silent, []);
});

test('exported classes and interfaces of the domain are made of words of the glossary', () => {
  const explained = new Set(entries.flatMap(({ word }) => wordsOf(word)).map(singular));
  const plain = new Set([...PLAIN_WORDS].map(singular));
  const domain = types.filter(({ file, isExported, kind }) =>
    isExported && kind !== 'type' && DOMAIN_ROOMS.includes(file.split('/')[0] ?? ''));
  const strange = domain.filter(({ type }) =>
    !wordsOf(type).map(singular).some((word) => explained.has(word) || plain.has(word)));
  assert.deepEqual(strange.map(({ file, type }) => `${type} ${file}`), []);
  assert.deepEqual([...plain].filter((word) => explained.has(word)), []);
});

test('no type is named by a participle or an adjective alone', () => {
  const isNoun = (type: string): boolean => {
    const word = type.slice(0, 1).toLowerCase() + type.slice(1);
    return NOUNS.has(word) || !(IRREGULAR.has(word) || /^[a-z]{3,}ed$/.test(word));
  };
  assert.deepEqual(['Taken', 'Known', 'Stored'].filter(isNoun), []);
  assert.equal(['Seed', 'Record', 'StoredRequest'].filter(isNoun).length, 3);
  const nameless = types.filter(({ type }) => !isNoun(type));
  assert.deepEqual(nameless.map(({ file, type }) => `${type} ${file}`), []);
});

test('a type name is declared once in the program', () => {
  const own = types.filter(({ type }) => !/(?:Deps|Options)$/.test(type));
  const files = new Map<string, string[]>();
  for (const { file, type } of own) files.set(type, [...files.get(type) ?? [], file]);
  const twice = [...files].filter(([, places]) => places.length > 1);
  assert.deepEqual(twice.map(([type, places]) => `${type}: ${places.join(', ')}`), []);
});

test('the walks of the architecture chapter name each file once, and files that are there', () => {
  const files = [...ARCHITECTURE.matchAll(/^\| `([^`]+\.ts)` \| .+ \|$/gm)]
    .map(([, file = '']) => file);
  assert.ok(files.length > 100, `${files.length} files`);
  assert.deepEqual(files.filter((file, index) => files.indexOf(file) !== index), []);
  assert.deepEqual(files.filter((file) => !existsSync(join(ROOT, 'src', file))), []);
});

test('files that comments name are there', () => {
  const names = sources.map(({ name }) => name);
  const gone = sources.flatMap(({ name, text }) => text.split('\n')
    .filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line))
    .flatMap((line) => [...line.matchAll(/(?<![\w/.-])([\w-]+(?:\/[\w-]+)*\.ts)\b/g)])
    .map(([, file = '']) => file)
    .filter((file) => !names.some((path) => path === file || path.endsWith(`/${file}`)))
    .map((file) => `${name}: ${file}`));
  assert.deepEqual(gone, []);
});

/** `StoredRequest`, `stored request` and `HTTP route` as words in lower case. */
function wordsOf(name: string): readonly string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase().split(/[\s-]+/).filter((word) => word !== '');
}

function singular(word: string): string {
  return word.replace(/(?<=\w{3})(?:ies|y)$/, '').replace(/(?<=\w[^s])s$/, '');
}
