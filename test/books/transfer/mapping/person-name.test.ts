/** Names of persons are split as people split them, and read back as they were. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createAuthor, createNamedAuthor, readAuthorNames, splitAuthor, splitInvertedName, splitName,
} from '../../../../src/books/transfer/mapping/person-name.ts';

const NAMES: readonly (readonly [name: string, given: string, family: string, suffix: string])[] = [
  ['Ursula K. Le Guin', 'Ursula K.', 'Le Guin', ''],
  ['Vincent van Gogh', 'Vincent', 'van Gogh', ''],
  ['Carl Maria von und zu Weber', 'Carl Maria', 'von und zu Weber', ''],
  ["Sophie in 't Veld", 'Sophie', "in 't Veld", ''],
  ['Miguel de la Cruz', 'Miguel', 'de la Cruz', ''],
  ['Homer', '', 'Homer', ''],
  ['Van Morrison', 'Van', 'Morrison', ''],
  ['Weird Al Yankovic', 'Weird Al', 'Yankovic', ''],
  ['Frederick P. Brooks Jr.', 'Frederick P.', 'Brooks', 'Jr.'],
  ['Martin Luther King, Jr.', 'Martin Luther', 'King', 'Jr.'],
  ['Thich Nhat Vi', 'Thich Nhat', 'Vi', ''],
  ['Henry VIII', '', 'Henry', 'VIII'],
  ['John SMITH JR', 'John', 'SMITH', 'JR'],
  ['Le Guin, Ursula K.', 'Ursula K.', 'Le Guin', ''],
  ['村上 春樹', '春樹', '村上', ''],
  ['  J.  R. R.\tTolkien ', 'J. R. R.', 'Tolkien', ''],
  ['de la Cruz', '', 'de la Cruz', ''],
  ["'t Hooft", '', "'t Hooft", ''],
  ['Al Gore', 'Al', 'Gore', ''],
  ['de la', '', 'de la', ''],
  ['Barnes and Noble, Inc.', '', 'Barnes and Noble, Inc.', ''],
  ['Little, Brown & Co.', '', 'Little, Brown & Co.', ''],
  ['Foo GmbH', '', 'Foo GmbH', ''],
  ['Inc.', '', 'Inc.', ''],
  [',', '', ',', ''],
  ['', '', '', ''],
];

test('the last word of a name and the particles before it are the family', () => {
  for (const [name, given, family, suffix] of NAMES) {
    assert.deepEqual(splitName(name), { given, family, droppingParticle: '', suffix }, name);
  }
});

test('a familyName counts before the name, whose other words are told apart', () => {
  const cases = [
    [{ name: 'Ludwig van Beethoven', givenName: 'Ludwig', familyName: 'Beethoven' },
      ['Ludwig', 'van', 'Beethoven', '']],
    [{ name: 'Gabriel García Márquez', familyName: 'García Márquez' },
      ['Gabriel', '', 'García Márquez', '']],
    [{ name: 'F. Scott Fitzgerald', givenName: 'Francis Scott', familyName: 'Fitzgerald' },
      ['Francis Scott', '', 'Fitzgerald', '']],
    [{ name: 'Frederick P. Brooks Jr.', givenName: 'Frederick P.', familyName: 'Brooks' },
      ['Frederick P.', '', 'Brooks', 'Jr.']],
    [{ name: 'Sammy Davis Jr.', givenName: 'Sammy', familyName: 'Davis Jr.' },
      ['Sammy', '', 'Davis Jr.', '']],
    [{ name: '村上春樹', givenName: '春樹', familyName: '村上' }, ['春樹', '', '村上', '']],
  ] as const;
  for (const [author, [given, droppingParticle, family, suffix]] of cases) {
    assert.deepEqual(splitAuthor(author), { given, droppingParticle, family, suffix });
  }
});

test('an author made of parts has name, givenName and familyName', () => {
  const none = { droppingParticle: '', suffix: '' };
  assert.deepEqual(createAuthor({ ...none, given: 'Ursula K.', family: 'Le Guin' }),
    { name: 'Ursula K. Le Guin', givenName: 'Ursula K.', familyName: 'Le Guin' });
  assert.deepEqual(createAuthor({ ...none, given: '春樹', family: '村上' }),
    { name: '村上春樹', givenName: '春樹', familyName: '村上' });
  assert.deepEqual(createAuthor({ ...none, given: '', family: 'Homer' }),
    { name: 'Homer', familyName: 'Homer' });
});

test('an inverted name may have its suffix second or third', () => {
  for (const text of ['King, Martin Luther, Jr.', 'King, Jr., Martin Luther']) {
    assert.deepEqual(splitInvertedName(text),
      { given: 'Martin Luther', family: 'King', droppingParticle: '', suffix: 'Jr.' });
  }
});

test('a semicolon stands between names, and a name has two commas at most', () => {
  for (const [text, names] of [
    ['Roe, P.; Mont, M.; Reis, A.', ['P. Roe', 'M. Mont', 'A. Reis']],
    ['Ali, M., Ding, T., Lago, P.', ['Ali, M., Ding, T., Lago, P.']],
    ['King, Martin Luther, Jr., Ph.D.', ['Martin Luther King Jr., Ph.D.']],
    ['Apple, Inc.; Ann Lee', ['Apple, Inc.', 'Ann Lee']], [' ; ', []],
  ] as const) assert.deepEqual(readAuthorNames(text).map(({ name }) => name), names, text);
});

test('parts of an inverted name count where the displayed one says the same, or is missing', () => {
  const parts = { givenName: 'Ursula K.', familyName: 'Le Guin' };
  for (const [displayed, inverted, author] of [
    ['Ursula K. Le Guin', 'Le Guin, Ursula K.', { name: 'Ursula K. Le Guin', ...parts }],
    ['', 'Le Guin, Ursula K.', { name: 'Ursula K. Le Guin', ...parts }],
    ['Ursula Le Guin', 'Le Guin, Ursula K.', { name: 'Ursula Le Guin' }],
    ['Bob Doe Jr.', 'Jr., Bob Doe', { name: 'Bob Doe Jr.', givenName: 'Bob', familyName: 'Doe' }],
    // As Goodreads turns a name around, by its last word.
    ['Ursula K. Le Guin', 'Guin, Ursula K. Le', { name: 'Ursula K. Le Guin', ...parts }],
    ['Ludwig van Beethoven', 'Beethoven, Ludwig van',
      { name: 'Ludwig van Beethoven', givenName: 'Ludwig van', familyName: 'Beethoven' }],
    ['Homer', 'Homer', { name: 'Homer' }], ['', 'Homer', { name: 'Homer' }],
  ] as const) assert.deepEqual(createNamedAuthor(displayed, inverted), author, inverted);
});
