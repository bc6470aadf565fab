import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { bookSchema } from '../../src/books/book.ts';
import { createSchemas } from '../../src/server/documents/openapi-schema.ts';
import { hostileBook } from '../support/hostile-books.ts';
import { validate } from '../support/json-schema.ts';
import { IS_LONG } from '../support/long.ts';
import { below, createRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';
import { parseBook } from '../support/parse-book.ts';

const ROUNDS = IS_LONG ? 4000 : 400;
const REPLACEMENTS: readonly unknown[] = [
  null, true, 0, -1, 1.5, 1e6, '', ' ', 'text', 'x'.repeat(2050), 'x'.repeat(20_001), [], [[]], {},
  ['a', 'a'], [{}], { name: 'a' }, { a: { b: [1] } }, '2026-13', 'xx', 'http://', 'Hardcover',
];

test('what breaks the published schema is refused, at a place that the body has or lacks', () => {
  const random = createRandom(31);
  const schemas = createSchemas();
  const schema = schemas.convert(bookSchema, 'body');
  const document = { components: { schemas: schemas.listComponents() } };
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = mutate(random, bookWithoutId(random, round));
    const problems = validate(body, schema, document);
    const errors = errorsOf(body);
    if (problems.length > 0) {
      assert.notDeepEqual(errors, [], `${JSON.stringify(body)} ${problems.join('; ')}`);
      refused += 1;
    }
    for (const { pointer } of errors) assert.ok(isPlaceIn(body, pointer), pointer);
  }
  assert.ok(refused > ROUNDS / 4, `${refused} were refused`);
});

test('what is accepted is accepted again, as it was stored', () => {
  const random = createRandom(32);
  let accepted = 0;
  for (let round = 0; round < 1000; round += 1) {
    const body = mutate(random, bookWithoutId(random, round));
    if (errorsOf(body).length > 0) continue;
    const stored = JSON.stringify(parseBook(body));
    assert.equal(JSON.stringify(parseBook(JSON.parse(stored))), stored);
    accepted += 1;
  }
  assert.ok(accepted > 100, `${accepted} were accepted`);
});

/** An id is for the service to compare with the path. */
function bookWithoutId(random: Random, number: number): object {
  const { id: _, ...book } = hostileBook(random, number);
  return book;
}

/** A copy with one value anywhere in it replaced, removed, or given a name nobody knows. */
function mutate(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || below(random, 6) === 0) {
    return REPLACEMENTS[below(random, REPLACEMENTS.length)];
  }
  if (Array.isArray(value)) {
    const at = below(random, value.length + 1);
    return [...value.slice(0, at), mutate(random, value[at]), ...value.slice(at + 1)];
  }
  const entries: [string, unknown][] = Object.entries(value);
  const at = below(random, entries.length + 1);
  const [name = 'unknown', member] = entries[at] ?? [];
  const kind = below(random, 8);
  const changed: [string, unknown][] = kind === 0 ? [] : [
    [kind === 1 ? `${name}s` : name, mutate(random, member)],
  ];
  return Object.fromEntries([...entries.slice(0, at), ...changed, ...entries.slice(at + 1)]);
}

/** Whether the pointer leads to a value, or to a member that an object lacks. */
function isPlaceIn(body: unknown, pointer: string): boolean {
  const steps = pointer.split('/').slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let value = body;
  for (const [index, step] of steps.entries()) {
    if (typeof value !== 'object' || value === null) return false;
    if (!Object.hasOwn(value, step)) return index === steps.length - 1;
    value = Object.entries(value).find(([name]) => name === step)?.[1];
  }
  return true;
}

function errorsOf(body: unknown): readonly { readonly pointer: string }[] {
  try {
    parseBook(body);
    return [];
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error.details.errors ?? [];
  }
}
