import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findValueAt, parsePath } from '../../../../src/base/json/path.ts';
import type { JsonValue } from '../../../../src/base/schema.ts';
import {
  FILLED_LENGTH_MAX, parseBodyTemplate,
} from '../../../../src/webhooks/members/templates/body-template.ts';

function fill(contentType: string, source: string, values: JsonValue): string {
  return parseBodyTemplate(source, contentType, parsePath)
    .fill((path) => findValueAt(values, path));
}

const VALUES: JsonValue = {
  evil: `<a href="x" title='y'>&amp;</a>`, form: 'a b&c=d+é%\n~*', number: 1.5, no: false,
  nothing: null, list: [1, '<'], tricky: '{{ number }}', controls: '\u0000a\u0007\u001f\ttab\nline',
  noncharacters: '\ufffe\uffff\ufffd', lone: 'x\ud800y\udc00z', astral: '😀', cr: 'a\r\nb',
};

const CASES: readonly [string, string, string, string][] = [
  ['plain text has values as they are', 'text/plain', '{{ evil }}', String(VALUES['evil'])],
  ['so has CSV', 'text/csv', '{{ number }},{{ no }},{{ nothing }},{{ gone }}\r\n',
    '1.5,false,,\r\n'],
  ['XML', 'text/xml', '<a b="{{ evil }}">{{ list }}</a>', '<a b="&lt;a href=&quot;x&quot; title='
    + '&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;">[1,&quot;&lt;&quot;]</a>'],
  ['XML with a charset', 'Application/XML; charset=UTF-8', '{{ evil }}', '&lt;a href=&quot;x&quot; '
    + 'title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;'],
  ['a type that ends in +xml', 'application/soap+xml', '<b>{{ list.1 }}</b>', '<b>&lt;</b>'],
  ['HTML', 'text/html', '<p>{{ list.1 }}{{ astral }}', '<p>&lt;😀'],
  ['what XML cannot hold', 'text/xml', '{{ controls }}', '\ufffda\ufffd\ufffd\ttab\nline'],
  ['noncharacters of XML', 'text/xml', '{{ noncharacters }}', '\ufffd\ufffd\ufffd'],
  ['lone surrogates in XML', 'text/xml', '{{ lone }}{{ astral }}', 'x\ufffdy\ufffdz😀'],
  ['a carriage return, which XML would lose', 'text/xml', '{{ cr }}', 'a&#13;\nb'],
  ['a form', 'application/x-www-form-urlencoded', 'text={{ form }}&n={{ number }}',
    'text=a+b%26c%3Dd%2B%C3%A9%25%0A%7E*&n=1.5'],
  ['JSON', 'application/json', '{"a": "{{ list }}", "b": "is {{ evil }}"}',
    `{"a": [1,"<"], "b": ${JSON.stringify(`is ${String(VALUES['evil'])}`)}}`],
  ['a type that ends in +json', 'application/vnd.api+json', '"{{ no }}"', 'false'],
  ['values are not expanded again', 'text/plain', '{{ tricky }}', '{{ number }}'],
  ['an escaped placeholder stands', 'text/plain', '\\{{ number }} is {{ number }}',
    '{{ number }} is 1.5'],
  ['a text without placeholders', 'text/plain', 'pong }}\n', 'pong }}\n'],
  ['an empty text', 'text/plain', '', ''],
];

for (const [name, contentType, source, expected] of CASES) {
  test(`template: ${name}`, () => assert.equal(fill(contentType, source, VALUES), expected));
}

test('a template tells the paths that it reads', () => {
  for (const [contentType, source] of [
    ['text/plain', '{{ a.b }} and {{ c }}'], ['application/json', '["{{ a.b }}", "and {{ c }}"]'],
  ] as const) {
    const { paths } = parseBodyTemplate(source, contentType, parsePath);
    assert.deepEqual(paths, [['a', 'b'], ['c']], contentType);
  }
});

test('a text with a placeholder that is not closed is refused with its position', () => {
  assert.throws(() => parseBodyTemplate('<a>\n 😀{{ b', 'text/xml', parsePath),
    /not closed with \}\} \(line 2, column 3\)/);
  assert.throws(() => parseBodyTemplate('<a>{{ }}', 'text/xml', parsePath), /path.*column 4/);
});

test('a value that is too long is refused before it is escaped', () => {
  // Escaped, it would be longer than any string can be.
  const a = '\u0001'.repeat(1 << 27);
  for (const source of ['"{{ a }}"', '"is {{ a }}"']) {
    assert.throws(() => fill('application/json', source, { a }), /passes/, source);
  }
  const html = '"'.repeat(1 << 27);
  assert.throws(() => fill('text/html', '{{ a }}', { a: html }), /passes/);
});

test('a text cannot make a small value into an endless body', () => {
  const source = '{{ a }}'.repeat(1000);
  assert.throws(() => fill('text/plain', source, { a: 'x'.repeat(8 * 1024 * 1024 / 500) }),
    /passes/);
  assert.throws(() => fill('text/html', '{{ a }}{{ a }}', { a: '"'.repeat(1 << 20) }), /passes/);
});

test('a body is as long as two mebibytes, and no longer', () => {
  const a = 'x'.repeat(FILLED_LENGTH_MAX / 2);
  for (const contentType of ['text/plain', 'text/html']) {
    assert.equal(fill(contentType, '{{ a }}{{ a }}', { a }).length, 2 * 1024 * 1024);
    assert.throws(() => fill(contentType, '{{ a }}{{ a }}!', { a }), /passes/);
  }
});

test('a megabyte of signs is escaped in moments', () => {
  for (const contentType of ['text/html', 'text/xml', 'application/x-www-form-urlencoded']) {
    const a = '<'.repeat(FILLED_LENGTH_MAX / 4);
    // The least of several: a busy machine, or the first round, may take many times as long.
    const leastUs = Math.min(...Array.from({ length: 10 }, () => {
      const before = process.cpuUsage();
      fill(contentType, '{{ a }}', { a });
      return process.cpuUsage(before).user;
    }));
    // Some 15 ms; each sign in a call of its own takes 120.
    assert(leastUs < 100_000, `${contentType}: ${leastUs} µs`);
  }
});

test('a value is read and formatted once, however often its placeholder stands there', () => {
  for (const [contentType, source] of [
    ['text/html', '{{ a }}{{a}}'.repeat(2450)],
    ['application/json', `[${'"{{ a }}","is {{a}}",'.repeat(2450)}0]`],
  ] as const) {
    let reads = 0;
    let encodings = 0;
    const value = { toJSON: (): string => String(encodings += 1) };
    parseBodyTemplate(source, contentType, parsePath).fill(() => {
      reads += 1;
      return value as unknown as JsonValue;
    });
    // In JSON a value alone in its string is another text than one within.
    const textCount = contentType === 'text/html' ? 1 : 2;
    assert.deepEqual([reads, encodings], [textCount, textCount], contentType);
  }
});
