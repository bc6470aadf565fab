import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { FieldError } from '../../src/base/errors.ts';
import { parseObject, pointerStep } from '../../src/base/fields.ts';
import type { ObjectSchema } from '../../src/base/schema.ts';

const PERSON: ObjectSchema = {
  kind: 'object',
  isNotEmpty: true,
  members: {
    name: { schema: { kind: 'string', minLength: 1, maxLength: 3 }, isRequired: true },
  },
};
const MODEL: ObjectSchema = {
  kind: 'object',
  members: {
    id: { schema: { kind: 'string' }, readOnly: 'echo' },
    createdAt: { schema: { kind: 'string' }, readOnly: 'ignored' },
    title: { schema: { kind: 'string', isNotBlank: true, maxLength: 4 }, isRequired: true },
    tag: {
      schema: {
        kind: 'string', mustBe: 'a lower-case word',
        canonical: (value) => /^[a-z]+$/i.test(value) ? value.toLowerCase() : null,
      },
    },
    pages: { schema: { kind: 'integer', minimum: 1, maximum: 9 } },
    weight: { schema: { kind: 'number', minimum: 0, maximum: 2.5 } },
    isOpen: { schema: { kind: 'boolean' }, default: true },
    words: {
      schema: { kind: 'array', items: { kind: 'string' }, maxItems: 3, isUnique: true },
      default: [],
    },
    people: { schema: { kind: 'array', items: PERSON, maxItems: 2 } },
    extra: { schema: { kind: 'json', isObject: true, bytesMax: 40, depthMax: 2 } },
  },
};

function errorsOf(value: unknown): readonly FieldError[] {
  try {
    parseObject(MODEL, value);
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'invalid');
    return error.details.errors ?? [];
  }
  return [];
}

test('a valid value comes back canonical, in the order of the table, with defaults', () => {
  const parsed = parseObject(MODEL, {
    words: ['x'], tag: 'ABC', title: 'T', createdAt: 'whatever', id: 'kept', pages: null,
    weight: 0.5,
  });
  assert.equal(
    JSON.stringify(parsed),
    '{"id":"kept","title":"T","tag":"abc","weight":0.5,"isOpen":true,"words":["x"]}',
  );
});

test('every error is reported at its place', () => {
  const errors = errorsOf({
    tag: '1', pages: 1.5, isOpen: 'yes', words: ['a', 'a'], people: [{ nam: 'x' }], Titel: 1,
  });
  assert.deepEqual(errors.map(({ pointer }) => pointer), [
    '/Titel', '/title', '/tag', '/pages', '/isOpen', '/words/1', '/people/0/nam', '/people/0/name',
  ]);
  assert.match(errors[0]?.detail ?? '', /did you mean `title`\?/);
});

test('lengths count code points', () => {
  assert.deepEqual(errorsOf({ title: '😀😀😀😀' }), []);
  assert.equal(errorsOf({ title: '😀😀😀😀😀' })[0]?.detail, 'must be at most 4 characters');
});

test('values of every wrong kind are refused', () => {
  const cases: ReadonlyArray<readonly [unknown, string]> = [
    [null, ''], [[], ''], ['text', ''], [{ title: 5 }, '/title'], [{ title: '  ' }, '/title'],
    [{ title: '\ud800' }, '/title'], [{ title: 'a', words: 'b' }, '/words'],
    [{ title: 'a', words: ['a', 'b', 'c', 'd'] }, '/words'],
    [{ title: 'a', people: [{}] }, '/people/0/name'],
    [{ title: 'a', people: [{ name: '' }] }, '/people/0/name'],
    [{ title: 'a', weight: '1' }, '/weight'], [{ title: 'a', weight: -0.1 }, '/weight'],
    [{ title: 'a', weight: 2.6 }, '/weight'], [{ title: 'a', weight: NaN }, '/weight'],
    [{ title: 'a', extra: [] }, '/extra'],
    [{ title: 'a', extra: { a: { b: { c: 1 } } } }, '/extra/a/b'],
    [{ title: 'a', extra: { a: Infinity } }, '/extra/a'],
    [{ title: 'a', extra: { text: 'x'.repeat(40) } }, '/extra'],
  ];
  for (const [value, pointer] of cases) {
    assert.equal(errorsOf(value)[0]?.pointer, pointer, JSON.stringify(value));
  }
});

test('__proto__ in a body is an unknown member and nothing inherited is read', () => {
  const body: unknown = JSON.parse('{"title":"a","__proto__":{"pages":3}}');
  assert.deepEqual(errorsOf(body).map(({ pointer }) => pointer), ['/__proto__']);
  const inherited: unknown = Object.create({ title: 'inherited' });
  assert.deepEqual(errorsOf(inherited).map(({ pointer }) => pointer), ['/title']);
});

test('a pointer step escapes what RFC 6901 escapes', () => {
  assert.equal(pointerStep('a/b~c'), '/a~1b~0c');
});

test('a schema may have itself as the schema of a member', () => {
  const tree: ObjectSchema = {
    kind: 'object',
    members: {
      name: { schema: { kind: 'string' } },
      get children() {
        return { schema: { kind: 'array' as const, items: tree, maxItems: 2 } };
      },
    },
  };
  assert.deepEqual(parseObject(tree, { children: [{ children: [], name: 'a' }] }),
    { children: [{ name: 'a', children: [] }] });
  assert.throws(() => parseObject(tree, { children: [{ children: [{ name: 1 }] }] }),
    (error) => error instanceof AppError
      && error.message.startsWith('/children/0/children/0/name: '));
});
