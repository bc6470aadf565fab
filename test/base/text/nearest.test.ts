import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearest } from '../../../src/base/text/nearest.ts';

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
