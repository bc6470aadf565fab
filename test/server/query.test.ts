import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readQuery } from '../../src/server/query.ts';
import type { ParameterSpec } from '../../src/server/http-route.ts';

const PARAMETERS = [
  { name: 'size', in: 'query', description: '', schema: { kind: 'string', values: ['s', 'm'] } },
  {
    name: 'count', in: 'query', description: '',
    schema: { kind: 'integer', minimum: 1, maximum: 9 },
  },
  { name: 'dry', in: 'query', description: '', schema: { kind: 'boolean' } },
  { name: 'text', in: 'query', description: '', schema: { kind: 'string', maxLength: 2 } },
] as const satisfies readonly ParameterSpec[];

test('a query is read as the rows of its parameters say', () => {
  assert.deepEqual(readQuery('', PARAMETERS), { size: null, count: null, dry: null, text: null });
  assert.deepEqual(readQuery('size=m&count=3&dry=false&text=a+b', PARAMETERS),
    { size: 'm', count: 3, dry: false, text: 'a b' });
});

test('what is no value of its parameter is refused, and so is what no row describes', () => {
  const refused = (search: string, message: RegExp): void =>
    assert.throws(() => readQuery(search, PARAMETERS), { code: 'malformed', message });
  refused('size=l', /^`size` must be one of s, m, not "l"$/);
  refused('count=10', /^`count` must be an integer from 1 to 9, not "10"$/);
  refused('dry=1', /^`dry` must be true or false, not "1"$/);
  refused('sizes=m', /unknown query parameter `sizes`/);
  refused('size=s&size=m', /stands twice/);
});
