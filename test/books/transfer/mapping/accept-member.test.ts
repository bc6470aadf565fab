/** What the model takes of values that other programs wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acceptMember, acceptReadingMember,
} from '../../../../src/books/transfer/mapping/accept-member.ts';

test('of a list the items and members go that the model refuses, and no neighbour', () => {
  const bad = { familyName: 5, givenName: 6, url: 'no url' };
  const cases = [
    [[{ name: 'A' }, bad, { name: 'B', familyName: 'B' }, { name: 'C' }],
      [{ name: 'A' }, { name: 'B', familyName: 'B' }, { name: 'C' }]],
    [[bad, bad, { name: 'A', url: 'no url', birthDate: 'x' }], [{ name: 'A' }]],
    [[{ name: 'A', address: { addressCountry: 'xx', postalCode: 5 } }], [{ name: 'A' }]],
    [[{ name: 'A', address: { addressCountry: 'xx', postalCode: '5' } }],
      [{ name: 'A', address: { postalCode: '5' } }]],
    [['A', { name: 'B', 'a/b~c': 1 }], [{ name: 'B' }]],
    [Array.from({ length: 102 }, (_, index) => ({ name: index === 0 ? '' : 'A' })),
      Array.from({ length: 99 }, () => ({ name: 'A' }))],
  ];
  for (const [value = [], expected = []] of cases) {
    assert.deepEqual(acceptMember('authors', value), { value: expected, isWhole: false });
  }
  assert.deepEqual(acceptMember('keywords', ['a', 'b', 'a']), { value: ['a', 'b'], isWhole: true });
  const series = Array.from({ length: 12 }, (_, index) => ({ name: `S${index}`, position: 1 }));
  assert.deepEqual(acceptMember('series', series),
    { value: series.slice(0, 10), isWhole: false });
  assert.deepEqual(acceptMember('series', [{ name: 'A', position: 1.2345 }, { name: 'a' }]),
    { value: [{ name: 'A' }], isWhole: false });
  assert.equal(acceptMember('authors', [bad]), null);
  assert.equal(acceptMember('numberOfPages', 0), null);
});

test('nothing is a member but what the model has for a file of another program', () => {
  for (const name of [
    'constructor', '__proto__', 'toString', 'id', 'createdAt', 'updatedAt', 'metadata', 'pages', '',
  ]) {
    assert.equal(acceptMember(name, { a: 1 }), null, name);
    assert.equal(acceptMember(name, 1), null, name);
    assert.equal(acceptReadingMember(name, 1), null, name);
  }
});
