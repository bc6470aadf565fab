import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseImportRecord } from '../../src/books/transfer/import-record.ts';
import type { ImportRecord } from '../../src/books/transfer/import-record.ts';
import { jsonCodec } from '../../src/books/transfer/json.ts';
import { checkDigit13 } from '../support/check-digits.ts';
import { readText } from '../support/format-round-trip.ts';

const FILE = join(import.meta.dirname, '../../data/samples/books.json');
const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Devanagari', 'Han', 'Hiragana', 'Hangul'];

test('every book of the sample catalog holds the rules, as it stands', () => {
  const records = readSamples();
  assert.ok(records.length >= 60);
  for (const { given, parsed } of records) {
    const { id, ...fields } = given;
    assert.deepEqual({ id: parsed.id, ...parsed.fields }, { id, ...fields });
  }
});

test('every sample has an ISBN-13 of its own, and the right check digit', () => {
  const isbns = readSamples().map(({ parsed }) => String(parsed.fields['isbn']));
  for (const isbn of isbns) assert.equal(isbn.at(-1), checkDigit13(isbn), isbn);
  assert.equal(new Set(isbns).size, isbns.length);
});

test('the samples have ids of their own, so that importing them again adds nothing', () => {
  const ids = readSamples().map(({ parsed }) => parsed.id);
  assert.ok(ids.every((id) => id !== null));
  assert.equal(new Set(ids).size, ids.length);
});

test('the samples come in many languages and scripts, some authors with an address', () => {
  const records = readSamples();
  const titles = records.map(({ parsed }) => String(parsed.fields['title']));
  for (const script of SCRIPTS) {
    const pattern = new RegExp(`\\p{Script=${script}}`, 'u');
    assert.ok(titles.some((title) => pattern.test(title)), script);
  }
  const languages = new Set(records.map(({ parsed }) => parsed.fields['inLanguage']));
  assert.ok(languages.size >= 12);
  const text = JSON.stringify(records.map(({ given }) => given));
  assert.ok((text.match(/"addressCountry"/g)?.length ?? 0) >= 5);
  assert.ok((text.match(/"deathDate"/g)?.length ?? 0) >= 40);
});

type Sample = { readonly given: Readonly<Record<string, unknown>>; readonly parsed: ImportRecord };

function readSamples(): readonly Sample[] {
  return readText(jsonCodec, readFileSync(FILE)).map(({ line, json, problem }) => {
    assert.equal(problem, undefined, `line ${line}`);
    const given = JSON.parse(String(json));
    return { given, parsed: parseImportRecord(given) };
  });
}
