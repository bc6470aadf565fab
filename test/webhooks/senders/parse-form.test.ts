import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FORM_TYPE, parseMediaType, parseForm,
} from '../../../src/base/text/parse-form.ts';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';
import { below, createRandom } from '../../support/random.ts';
import { explainUnparsed, readPayload } from '../../../src/webhooks/incoming/body-format.ts';

const PIECES = [
  'a', 'b', '=', '&', '+', '%', '%20', '%C3%A9', '%c3', '%zz', 'é', '%2B', '__proto__',
  '%EF%BB%BF', '%f0%9f', '%98', '%80', '%FF', '%2', '%%41', '\u{1f600}', '%26', '%3D',
];

test('reads forms as URLSearchParams does', () => {
  const random = createRandom(7);
  for (let round = 0; round < 2000; round += 1) {
    const text = Array.from({ length: below(random, 12) },
      () => PIECES[below(random, PIECES.length)]).join('');
    // Node's own reads raw text beside a broken escape byte by byte.
    const wanted = new URLSearchParams(`&${text.replace(/[^\x00-\x7f]+/gu, encodeURIComponent)}`);
    const fields = parseForm(Buffer.from(text)) ?? [];
    assert.deepEqual([...fields], [...new Set(wanted.keys())].map((name) =>
      [name, wanted.getAll(name)]), text);
  }
});

test('reads a form in the charset that is declared, without a mark before it', () => {
  const type = 'application/x-www-form-urlencoded; charset=';
  const read = (body: string, charset: string): string | undefined =>
    parseForm(Buffer.from(body), `${type}${charset}`)?.get('n')?.[0];
  assert.equal(read('n=Jos%E9', 'windows-1252'), 'José');
  assert.equal(read('n=%B3', '"ISO-8859-2"'), 'ł');
  assert.equal(read('\ufeffn=%C3%A9', 'UTF-8'), 'é');
  assert.equal(read('n=%80%E9', 'iso-8859-1'), '€é');
  assert.equal(read('n=%EF%BB%BFa%C3%A9', 'UTF-8'), '\ufeffaé');
  for (const [body, charset] of [['n=%E9', 'x-none'], ['n=a', 'x-none'], ['n=%E9', 'utf-8'],
    ['n=%81', 'windows-1252'], ['n=%D2', 'iso-8859-7'], ['n=%81', 'shift_jis']] as const) {
    assert.equal(read(body, charset), undefined, charset);
  }
  assert.equal(parseForm(Buffer.from('n=%E9'))?.get('n')?.[0], '\ufffd');
});

test('gives up a form of too many fields', () => {
  assert.equal(parseForm(Buffer.from('a=1&'.repeat(9_999)))?.get('a')?.length, 9_999);
  assert.equal(parseForm(Buffer.from('a=1&'.repeat(10_000))), null);
});

test('sorts fields by code units, with a repeated value once', () => {
  assert.equal(sorted('b=2&a=3&a=1&A=0&a=3&%F0%9F%98%80=x&%EF%BF%BD=y'),
    'A0a1a3b2\u{1f600}x\ufffdy');
});

test('sorts a form whose names begin as those of the form before it', () => {
  assert.equal(sorted('abcdefz=1&b=2&abcdefa=3'), 'abcdefa3abcdefz1b2');
  assert.equal(sorted('abcdefa=1&b=2&abcdefz=3'), 'abcdefa1abcdefz3b2');
  assert.equal(sorted('abcdefa=1&b=2'), 'abcdefa1b2');
  assert.equal(sorted('abcdefz=1&b=2&abcdefa=3'), 'abcdefa3abcdefz1b2');
});

test('sorts many names and few as code units have them', () => {
  const random = createRandom(11);
  const ascii = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdefg', 'b', '\0', 'a\0', '~'];
  for (const starts of [ascii, [...ascii, '\u{1f600}', '\uffff', '\u{10ffff}']]) {
    for (const count of [0, 1, 5, 20, 64, 65, 200]) {
      const names = [...new Set(Array.from({ length: count }, () =>
        `${starts[below(random, starts.length)]}${below(random, 40).toString(36)}`))];
      const text = new URLSearchParams(names.map((name): [string, string] => [name, '.']));
      assert.equal(sorted(text.toString()), names.sort().map((name) => `${name}.`).join(''));
    }
  }
});

function sorted(text: string): string {
  return new RequestReader({
    method: 'POST', headers: { 'content-type': FORM_TYPE }, rawHeaders: [], search: '',
    body: Buffer.from(text),
  }).sortedForm();
}

test('a media type is known without its parameters, in either case', () => {
  assert.equal(parseMediaType(' Application/JSON ; charset=utf-8'), 'application/json');
  assert.equal(parseMediaType(undefined), '');
});

test('JSON and text are read in the charset that they declare', () => {
  const bytes = Buffer.from('{"name":"Jos\u00e9"}', 'latin1');
  const type = 'application/json; charset=windows-1252';
  assert.deepEqual(readPayload(bytes, type, 'json', READING), { name: 'Jos\u00e9' });
  assert.deepEqual(readPayload(bytes, type, 'text', READING), { text: '{"name":"Jos\u00e9"}' });
  const type2 = 'Application/JSON; Charset=\'windows-1252\'';
  assert.deepEqual(readPayload(bytes, type2, 'json', READING), { name: 'Jos\u00e9' });
  const form = Buffer.from('name=Jos%E9');
  const manyFields = Buffer.from('a=1&'.repeat(10_000));
  const cases = [
    ['text', bytes, 'text/plain; charset=x-no', /^the charset "x-no" of its Content-Type is unkno/],
    ['text', bytes, 'text/plain; charset=utf-16be', /^the body is not in the charset that its Con/],
    ['form', form, `${FORM_TYPE}; charset=x-no`, /^the charset "x-no" of its Content-Type is/],
    ['form', form, `${FORM_TYPE}; charset=utf-8`, /^the body is not in the charset that its /],
    ['form', manyFields, `${FORM_TYPE}; charset=utf-8`, /^the body holds no form/],
  ] as const;
  for (const [format, body, contentType, reason] of cases) {
    const reading = { ...READING, format, secretSources: [] };
    assert.match(explainUnparsed(reading, body, contentType) ?? '', reason);
  }
  for (const other of ['a/json', 'text/plain; charset=utf-8', 'text/plain; charset=x-no']) {
    assert.equal(readPayload(bytes, other, 'text', READING), null, other);
  }
});

const READING = { formField: null, jsonFields: [] };
