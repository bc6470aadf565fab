import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { parseObject, pointerStep } from '../../src/base/fields.ts';
import type { ObjectSchema } from '../../src/base/schema.ts';

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
