import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EditDistanceRows, editDistance } from '../../../src/base/text/edit-distance.ts';
import { findNearest } from '../../../src/base/text/nearest.ts';
import { naiveDistance } from '../../support/naive-typos.ts';
import { below, createRandom } from '../../support/random.ts';

const MEMBERS = ['id', 'title', 'authors', 'isbn', 'datePublished', 'inLanguage', 'numberOfPages'];

test('a slip finds the name that was meant', () => {
  const cases: Readonly<Record<string, string | null>> = {
    publisheddate: 'datePublished',
    date_published: 'datePublished',
    titel: 'title',
    author: 'authors',
    ISBN: 'isbn',
    language: 'inLanguage',
    colour: null,
    __proto__x: null,
    '': null,
  };
  for (const [name, expected] of Object.entries(cases)) {
    assert.equal(findNearest(name, MEMBERS), expected, name);
  }
});

test('a name of few letters stands in too many others to mean one', () => {
  assert.equal(findNearest('i', ['inLanguage']), null);
  assert.equal(findNearest('ids', ['identifiers with ids']), null);
  assert.equal(findNearest('lang', ['inLanguage']), 'inLanguage');
});

test('the one name that goes on where it ends goes before one with slips', () => {
  assert.equal(findNearest('backup.every', ['backup.keep', 'backup.everyHours']),
    'backup.everyHours');
  assert.equal(findNearest('backups', ['backup', 'backups.every.hour']), 'backup');
});

test('a short form finds the one name that begins as it and has its letters in order', () => {
  assert.equal(findNearest('args', ['command', 'arguments', 'environment']), 'arguments');
  assert.equal(findNearest('hdrs', ['headers', 'url']), 'headers');
  assert.equal(findNearest('args', ['arguments', 'arrangements']), null);
  assert.equal(findNearest('gmts', ['arguments']), null);
});

const CASES: readonly (readonly [from: string, to: string, distance: number])[] = [
  ['', '', 0], ['', 'a', 1], ['harry', 'harry', 0], ['hary', 'harry', 1], ['harry', 'hary', 1],
  ['hrary', 'harry', 1], ['barry', 'harry', 1], ['brary', 'harry', 2], ['tolkein', 'tolkien', 1],
  ['ca', 'abc', 3], ['kitten', 'sitting', 3], ['𐌰𐌱𐌲', '𐌱𐌰𐌲', 1], ['ёж', 'уж', 1],
];

for (const [from, to, distance] of CASES) {
  test(`from "${from}" to "${to}" it is ${distance}, both ways`, () => {
    assert.equal(editDistance(from, to, 5), distance);
    assert.equal(editDistance(to, from, 5), distance);
  });
}

test('a distance is that of the whole table, up to the largest that is asked for', () => {
  const random = createRandom(1);
  const word = (): string =>
    Array.from({ length: below(random, 9) }, () => 'abc𐌰'.at(below(random, 3)) ?? '').join('');
  for (let round = 0; round < 4000; round += 1) {
    const [from, to, max] = [word(), word(), below(random, 5)];
    assert.equal(editDistance(from, to, max), Math.min(max + 1, naiveDistance(from, to)),
      `${from} ${to} ${max}`);
  }
});

test('letters that are set again give the distance of the new word', () => {
  const rows = new EditDistanceRows('harry', 2);
  const set = (from: number, letters: string): void => {
    for (const [index, letter] of [...letters].entries()) {
      assert.ok(rows.setLetter(from + index, letter.codePointAt(0) ?? 0));
    }
  };
  set(0, 'hrary');
  assert.equal(rows.distance(5), 1);
  set(1, 'arp');
  assert.equal(rows.distance(4), 2);
});

test('a letter that is set again after one that led too far has a new row', () => {
  const rows = new EditDistanceRows('harry', 1);
  for (const [index, letter] of [...'harpy'].entries()) {
    assert.ok(rows.setLetter(index, letter.charCodeAt(0)));
  }
  assert.ok(!rows.setLetter(4, 0x78), 'harpx');
  assert.ok(rows.setLetter(4, 0x79), 'harpy');
  assert.equal(rows.distance(5), 1);
});

test('it says when no longer word can be near', () => {
  const rows = new EditDistanceRows('harry', 1);
  assert.ok(rows.setLetter(0, 0x78), 'xarry');
  assert.ok(!rows.setLetter(1, 0x78), 'xx');
  const short = new EditDistanceRows('a', 1);
  assert.ok(short.setLetter(0, 0x61));
  assert.ok(short.setLetter(1, 0x61));
  assert.ok(!short.setLetter(2, 0x61), 'longer than the word and the distance');
});

test('words of a hundred thousand letters take no table of their square', () => {
  const long = 'ab'.repeat(50_000);
  assert.equal(editDistance(long, `x${long}`, 2), 1);
});
