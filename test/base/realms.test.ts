import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { messageOf, systemCodeOf } from '../../src/base/errors.ts';
import { parseObject } from '../../src/base/fields.ts';
import { redact } from '../support/redact.ts';
import { applyMergePatch } from '../../src/base/json/merge-patch.ts';
import { encodeBody } from '../../src/client/request-encoding.ts';
import { toNetworkError } from '../../src/client/network-error.ts';

/** What another realm makes: no instance of the classes that are seen here. */
function foreign(source: string): never {
  return runInNewContext(`(${source})`) as never;
}

test('what another realm makes is no instance of ours, so that these tests can fail', () => {
  assert.ok(!(Object(foreign("new Error('x')")) instanceof Error));
  assert.ok(!(Object(foreign('new Date(0)')) instanceof Date));
  assert.ok(!(Object(foreign('new Uint8Array(1)')) instanceof Uint8Array));
  assert.ok(!(Object(foreign('({})')) instanceof Object));
});

test('recognizes errors of any realm by code and message', () => {
  const error = foreign("Object.assign(new Error('no such file'), { code: 'ENOENT' })");
  assert.equal(systemCodeOf(error), 'ENOENT');
  assert.equal(messageOf(error), 'no such file');
  assert.equal(messageOf(foreign("new TypeError('t')")), 't');
  assert.equal(toNetworkError(foreign("Object.assign(new Error('n'), { code: 'ECONNREFUSED' })"))
    .code, 'ECONNREFUSED');
});

test('what is no error has no code, unless it says one', () => {
  for (const thrown of [null, undefined, 'ENOENT', 7, {}, { code: 7 }, new Error('x')]) {
    assert.equal(systemCodeOf(thrown), undefined);
  }
  assert.equal(systemCodeOf({ code: 'ENOENT' }), 'ENOENT');
});

test('the log shows errors, dates and bytes of another realm like ours', () => {
  const shown = redact({
    error: foreign("Object.assign(new RangeError('too far'), "
      + "{ code: 'EFAR', cause: new Error('https://a:planted@b/') })"),
    at: foreign('new Date(0)'),
    bytes: foreign('new Uint8Array(5)'),
    list: foreign("[{ token: 'planted' }]"),
  });
  const text = JSON.stringify(shown);
  assert.match(text, /"name":"RangeError","message":"too far","code":"EFAR"/);
  assert.match(text, /"cause":\{"name":"Error","message":"https:\/\/\*\*\*@b\/"/);
  assert.match(text, /"at":"1970-01-01T00:00:00.000Z","bytes":"<5 bytes>"/);
  assert.match(text, /"list":\[\{"token":"\*\*\*"\}\]/);
  assert.doesNotMatch(text, /planted/);
});

test('a body of bytes may come from another realm, and is not copied', () => {
  const bytes: Uint8Array = foreign('new Uint8Array([0, 104, 105, 0]).subarray(1, 3)');
  const body = encodeBody(bytes);
  assert.equal(body?.toString(), 'hi');
  bytes[0] = 'H'.charCodeAt(0);
  assert.equal(body?.toString(), 'Hi');
});

test('objects and arrays of another realm are read, and patched, like ours', () => {
  const schema = {
    kind: 'object',
    members: {
      name: { schema: { kind: 'string' } },
      list: { schema: { kind: 'array', maxItems: 3, items: { kind: 'string' } } },
    },
  } as const;
  assert.deepEqual(parseObject(schema, foreign("{ name: 'n', list: ['a', 'b'] }")),
    { name: 'n', list: ['a', 'b'] });
  const patched = applyMergePatch({ name: 'n', list: ['a'] }, foreign('{ list: null }'));
  assert.deepEqual(patched, { name: 'n' });
});
