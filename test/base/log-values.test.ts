import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, createRedactingLogger } from '../../src/base/log.ts';
import { redact } from '../support/redact.ts';

/** What custom actions, which nobody checks the types of, may log. */
const MESSAGES: readonly [unknown, RegExp][] = [
  [{ token: 'planted', a: 1 }, /"token":"\*\*\*","a":1/], [new TypeError('broken'), /broken/],
  [5, /^5$/], [undefined, /^undefined$/],
];

test('a message of any type is logged, its secrets replaced, and never thrown about', () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => 0,
  });
  for (const [message, expected] of MESSAGES) {
    for (const log of [logger, createRedactingLogger(logger)]) {
      const info = log.info as (message: unknown) => void;
      info(message);
      assert.match(String(JSON.parse(lines.at(-1) ?? '').message), expected);
      assert.doesNotMatch(lines.at(-1) ?? '', /planted/);
    }
  }
});

test('shows bytes by their number and dates by their time', () => {
  const body = Buffer.alloc(1 << 20, 'planted');
  const view = new Float64Array(2);
  assert.deepEqual(redact({ body, view, at: new Date(0), never: new Date(NaN) }), {
    body: '<1048576 bytes>', view: '<16 bytes>', at: '1970-01-01T00:00:00.000Z', never: null,
  });
});

test('shows an object that contains itself once', () => {
  const ring: Record<string, unknown> = { name: 'ring' };
  for (let count = 0; count < 20; count += 1) ring[`again${count}`] = { ring };
  const shared = { a: 1 };
  const text = JSON.stringify(redact({ ring, twice: [shared, shared] }));
  assert.match(text, /^\{"ring":\{"name":"ring","again0":\{"ring":"…"\}/);
  assert.match(text, /"twice":\[\{"a":1\},\{"a":1\}\]\}$/);
});

/** How many values and characters of texts a value holds, names of members among the latter. */
function sizeOf(value: unknown): { readonly values: number; readonly characters: number } {
  if (typeof value === 'string') return { values: 0, characters: value.length };
  if (typeof value !== 'object' || value === null) return { values: 0, characters: 0 };
  const isArray = Array.isArray(value);
  let [values, characters] = [0, 0];
  for (const [name, member] of Object.entries(value)) {
    const inner = sizeOf(member);
    values += 1 + inner.values;
    characters += (isArray ? 0 : name.length) + inner.characters;
  }
  return { values, characters };
}

const LARGE: Readonly<Record<string, object>> = {
  'an array': Array.from({ length: 300_000 }, () => []),
  'an object': Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`n${index}`, 1])),
  'many objects': Array.from({ length: 300_000 }, () => ({ token: 'planted', a: '' })),
  'long names': Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`${index}`.repeat(10_000), index])),
  'long texts': Array.from({ length: 100 }, () => '?token=planted&'.repeat(1000)),
  'one text': ['?token=planted&'.repeat(100_000)],
  'deep': Array.from({ length: 100 }, () => [[Array.from({ length: 1000 }, () => ['a'])]]),
};

for (const [what, large] of Object.entries(LARGE)) {
  test(`a line shows no more of a large value than it may: ${what}`, () => {
    const first = { kept: 'whole' };
    const shown = redact({ first, large, after: 'the rest' });
    const { values, characters } = sizeOf(shown);
    assert(values <= 5_100 && characters <= 263_000, `${values} values, ${characters} characters`);
    assert.deepEqual(Object(shown).first, first);
    assert.match(JSON.stringify(shown), /<\d+ (more|characters)>/);
    assert.doesNotMatch(JSON.stringify(shown), /planted/);
  });
}

test('what is left out is counted', () => {
  const numbers = Array.from({ length: 6_000 }, (_, index) => index);
  const { list } = Object(redact({ list: numbers }));
  assert.deepEqual([list.length, list.at(-2), list.at(-1)], [4_999, 4_997, '<1002 more>']);
  const members = Object.fromEntries(numbers.map((index) => [`n${index}`, index]));
  const { map } = Object(redact({ map: members }));
  assert.deepEqual([Object.keys(map).length, map['…']], [4_999, '<1002 more>']);
  assert.deepEqual(redact({ text: 'a'.repeat(300_000), after: 1 }),
    { text: '<300000 characters>', after: 1 });
});

test('a message that is too long for a line is told by its length', () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => 0,
  });
  logger.info('?token=planted&'.repeat(20_000));
  assert.equal(JSON.parse(lines[0] ?? '').message, '<300000 characters>');
});
