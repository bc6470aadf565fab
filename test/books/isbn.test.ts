import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainIsbn, parseIsbn } from '../../src/books/isbn.ts';
import { checkDigit10, checkDigit13 } from '../support/check-digits.ts';
import { below, createRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';

const ACCEPTED: readonly (readonly [given: string, stored: string])[] = [
  ['9780306406157', '9780306406157'],
  ['978-0-306-40615-7', '9780306406157'],
  [' 978 0 306 40615 7 ', '9780306406157'],
  ['0-306-40615-2', '9780306406157'],
  ['0306406152', '9780306406157'],
  ['080442957X', '9780804429573'],
  ['0-8044-2957-x', '9780804429573'],
  ['979-10-90636-07-1', '9791090636071'],
  ['\u200e9780306406157\u202c', '9780306406157'],
  ['978‑0‑306‑40615‑7', '9780306406157'],
  ['978\u00ad0306\u200b40615\u00a07', '9780306406157'],
  ['978\u20090\u3000306\t40615\u20287\n', '9780306406157'],
  ['978\u22120\u2013306\ufe63406\u034f15\ufe0f7\u3164', '9780306406157'],
];

const REFUSED: readonly (readonly [given: string, why: RegExp])[] = [
  ['9780306406158', /not "9780306406158": its check digit is 8, but the other digits give 7/],
  ['0306406153', /its check digit is 3, but the other digits give 2/],
  ['0306406X52', /ISBN/],
  ['9790060115615', /979-0 is for printed music/],
  ['9771234567003', /begins with 978 or 979/],
  ['978030640615', /10 or 13 digits; "978030640615" has 12/],
  ['', /10 or 13 digits; "" has 0/],
  ['ISBN 9780306406157', /digits, hyphens and spaces/],
  ['９７８０３０６４０６１５７', /digits, hyphens and spaces/],
  ['978_0306406157', /digits, hyphens and spaces/],
  ['12345X7890', /not "12345X7890": only the tenth character of an ISBN-10 may be an X/],
  ['978030640615X', /only the tenth character/],
  ['12345678X', /10 or 13 digits; "12345678X" has 9/],
  [`9780306406157${' '.repeat(100)}`, /at most 100 characters/],
];

test('either form of an ISBN, with hyphens and spaces, is stored as 13 digits', () => {
  for (const [given, stored] of ACCEPTED) assert.equal(parseIsbn(given), stored, given);
});

test('what is no ISBN is refused with the reason', () => {
  for (const [given, why] of REFUSED) {
    assert.equal(parseIsbn(given), null, given);
    assert.match(explainIsbn(given), why, given);
  }
});

test('exactly one check digit is right, and a swapped or mistyped digit is found', () => {
  const random = createRandom(20261120);
  for (let round = 0; round < 500; round += 1) {
    const body = `978${randomDigits(random, 9)}`;
    const right = [...'0123456789'].filter((digit) => parseIsbn(body + digit) !== null);
    assert.deepEqual(right, [checkDigit13(body)]);
    const short = body.slice(3);
    const rightShort = [...'0123456789X'].filter((digit) => parseIsbn(short + digit) !== null);
    assert.deepEqual(rightShort, [checkDigit10(short)]);
    assert.equal(parseIsbn(short + checkDigit10(short)), body + checkDigit13(body));

    const isbn = short + checkDigit10(short);
    const at = below(random, 8);
    const [left = '', next = ''] = isbn.slice(at, at + 2);
    const swapped = isbn.slice(0, at) + next + left + isbn.slice(at + 2);
    assert.equal(parseIsbn(swapped) === null, left !== next, `${isbn} ${swapped}`);
    const mistyped = isbn.slice(0, at) + (Number(left) + 1) % 10 + isbn.slice(at + 1);
    assert.equal(parseIsbn(mistyped), null);
  }
});

function randomDigits(random: Random, count: number): string {
  return Array.from({ length: count }, () => below(random, 10)).join('');
}
