/** What is written is read by the programs of others: pandoc and bibutils. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/base/schema.ts';
import { cslCodec } from '../../../../src/books/transfer/sources/csl.ts';
import { risCodec } from '../../../../src/books/transfer/sources/ris.ts';
import { writeText } from '../../../support/format-round-trip.ts';
import { hostileBook } from '../../../support/hostile-books.ts';
import { createRandom } from '../../../support/random.ts';

const RUN_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const HOSTILE_COUNT = 500;
const samples = JSON.parse(readFileSync('data/samples/books.json', 'utf8')) as JsonObject[];
const random = createRandom(35);
const books = [
  ...samples, ...Array.from({ length: HOSTILE_COUNT }, (_, number) => hostileBook(random, number)),
];

/** Why tests with a program are skipped; false where it is there. */
function missing(program: string): string | false {
  const { error } = spawnSync(program, ['--version'], { timeout: RUN_MS_MAX });
  return error === undefined ? false : `there is no ${program}`;
}

function run(program: string, programArguments: readonly string[], input: string): string {
  const { status, stdout, stderr } = spawnSync(program, programArguments, {
    input, encoding: 'utf8', timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX,
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** A value as text without what pandoc makes of quotes and dashes. */
function plain(value: unknown): string {
  return JSON.stringify(value ?? null).replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
}

test('pandoc reads each item of CSL-JSON, and what it says', { skip: missing('pandoc') }, () => {
  const text = writeText(cslCodec, books);
  const items = JSON.parse(text) as JsonObject[];
  const read = JSON.parse(run('pandoc', ['-f', 'csljson', '-t', 'csljson'], text)) as JsonObject[];
  assert.deepEqual(read.map(({ id }) => id), items.map(({ id }) => id));
  for (const [index] of samples.entries()) {
    for (const name of ['title', 'issued', 'ISBN', 'number-of-pages']) {
      assert.equal(plain(read[index]?.[name]), plain(items[index]?.[name]), `${name} of ${index}`);
    }
  }
});

test('bibutils reads each record of RIS, with its title', { skip: missing('ris2xml') }, () => {
  const modsText = run('ris2xml', [], writeText(risCodec, books));
  const ids = [...modsText.matchAll(/<mods ID="([^"]+)">/g)].map(([, id]) => id);
  assert.deepEqual(ids, books.map(({ id }) => id));
  for (const { title } of samples) {
    // Articles at the beginning stand in an element of their own.
    const words = String(title).split(/[^\p{L}\p{M}\p{N}]+/u).slice(1);
    assert.ok(words.every((word) => modsText.includes(word)), String(title));
  }
});
