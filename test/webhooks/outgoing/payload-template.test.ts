import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../src/base/schema.ts';
import { fillTemplate, parseTemplate } from '../../../src/webhooks/outgoing/payload-template.ts';
import { below, createRandom, type Random } from '../../support/random.ts';

const PAYLOAD: JsonValue = {
  name: 'Ada', count: 3, ok: true, nothing: null, list: ['a', { deep: 'b' }],
  book: { title: 'A "quoted" title', 'odd name': 1 }, tricky: '{{ name }}', payload: 'inner',
};

function fill(template: string, payload: JsonValue = PAYLOAD): unknown {
  return JSON.parse(fillTemplate(parseTemplate(template), payload));
}

const CASES: readonly [string, string, unknown][] = [
  ['a value alone keeps its type', '{"n": "{{ count }}"}', { n: 3 }],
  ['an object alone becomes itself', '"{{book}}"', { title: 'A "quoted" title', 'odd name': 1 }],
  ['all of the payload', '"{{ payload }}"', PAYLOAD],
  ['a payload\'s own member of that name counts', '["{{ payload.name }}", "{{payload.0}}"]',
    [null, null]],
  ['a value in text', '"n = {{ count }}, {{ ok }}"', 'n = 3, true'],
  ['an object in text is JSON', '"is {{ list }}!"', 'is ["a",{"deep":"b"}]!'],
  ['array indexes are steps', '["{{ list.0 }}", "{{ list.1.deep }}"]', ['a', 'b']],
  ['names with spaces are steps', '"{{ book.odd name }}"', 1],
  ['a missing path alone is null', '["{{ nope }}", "{{ list.7 }}", "{{ name.x }}"]',
    [null, null, null]],
  ['a missing path in text is empty', '"<{{ nope.deeper }}>"', '<>'],
  ['null in text is empty', '"<{{ nothing }}>"', '<>'],
  ['null alone is null', '"{{ nothing }}"', null],
  ['white space around makes it text', '" {{ count }}"', ' 3'],
  ['two placeholders are text', '"{{ count }}{{ count }}"', '33'],
  ['quotes are escaped in text', '"t: {{ book.title }}"', 't: A "quoted" title'],
  ['an escaped placeholder stands', '"\\\\{{ name }} and {{ name }}"', '{{ name }} and Ada'],
  ['an escaped one alone stands', '"\\\\{{ name }}"', '{{ name }}'],
  ['values are not expanded again', '["{{ tricky }}", "x{{ tricky }}"]',
    ['{{ name }}', 'x{{ name }}']],
  ['member names are not expanded', '{"{{ name }}": 1}', { '{{ name }}': 1 }],
  ['braces written as escapes count', '"\\u007b\\u007b name }}"', 'Ada'],
  ['single braces are text', '"{ {{ name }} }"', '{ Ada }'],
  ['closing braces alone are text', '"}} {{ name }}}"', '}} Ada}'],
  ['a template without placeholders', '{"a": [1, true, null]}', { a: [1, true, null] }],
  ['a template may be a number', ' 12 ', 12],
  ['a byte order mark before it does not go out', '\ufeff["{{ count }}"]', [3]],
];

for (const [name, template, expected] of CASES) {
  test(`template: ${name}`, () => assert.deepEqual(fill(template), expected));
}

test('`payload.` before a path means the same where there is no such member', () => {
  assert.deepEqual(fill('["{{ payload.a.b }}", "<{{payload.a}}>", "{{ payload.c }}"]',
    { a: { b: 1 } }), [1, '<{"b":1}>', null]);
  assert.deepEqual(fill('"{{ payload.1.x }}"', [0, { x: 2 }]), 2);
  assert.deepEqual(fill('"{{ payload.a }}"', { payload: { a: 'own' }, a: 'other' }), 'own');
  assert.deepEqual(fill('"{{ payload.payload }}"', { payload: 1 }), null);
  for (const payload of ['text', 1, null]) assert.equal(fill('"{{ payload.a }}"', payload), null);
});

test('a payload nested deeper than the stack is filled in', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const template = parseTemplate('["{{ a }}", "is {{ a }}", "{{ payload }}"]');
  const filled = fillTemplate(template, JSON.parse(`{"a":${deep}}`));
  assert.ok(filled === `[${deep}, "is ${deep}", {"a":${deep}}]`);
});

test('numbers and order of the template stand as written', () => {
  const template = parseTemplate('{"2": 12345678901234567890.0, "1": "{{ count }}"}');
  assert.equal(fillTemplate(template, PAYLOAD), '{"2": 12345678901234567890.0, "1": 3}');
});

const REFUSED: readonly [string, string, RegExp][] = [
  ['empty', '', /empty/],
  ['blank', ' \n', /empty/],
  ['not JSON', '{"a": }', /line 1, column 7/],
  ['an open placeholder', '{\n  "a": "x {{ name"\n}', /not closed.*line 2, column 11/],
  ['open after an escape', '"\\n\\u0041{{ name"', /line 1, column 10/],
  ['open after what takes two units', '"😀😀{{ name"', /line 1, column 4/],
  ['open after a byte order mark', '\ufeff"{{ name"', /line 1, column 2/],
  ['no path', '"{{ }}"', /line 1, column 2/],
  ['an empty step', '"{{ a..b }}"', /path/],
  ['a bare placeholder', '{{ name }}', /^put the placeholder in quotes.*line 1, column 1/],
  ['a placeholder without quotes', '{"a": "{{ b }}",\n"c": {{ d }}}',
    /^put the placeholder in quotes, as in "\{\{ path\.to\.value \}\}".*line 2, column 6/],
  ['braces in a string and no end', '{"a": "\\"{{ b }}', /column/],
];

for (const [name, template, message] of REFUSED) {
  test(`a template with ${name} is refused with its position`, () => {
    assert.throws(() => parseTemplate(template), (error: Error) => message.test(error.message));
  });
}

test('nothing inherited is ever read', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'length', 'prototype'];
  for (const name of names) {
    for (const path of [name, `list.${name}`, `name.${name}`, `book.${name}`, `${name}.name`]) {
      assert.equal(fill(`"{{ ${path} }}"`), null, path);
      assert.equal(fill(`"<{{ ${path} }}>"`), '<>', path);
    }
  }
  const own: JsonValue = JSON.parse('{"__proto__": {"constructor": 7}}');
  assert.equal(fill('"{{ __proto__.constructor }}"', own), 7);
});

test('a template cannot make a small payload into an endless one', () => {
  const template = parseTemplate(`"${'{{ payload }}'.repeat(1000)}"`);
  assert.throws(() => fillTemplate(template, ['x'.repeat(8 * 1024 * 1024 / 500)]), /passes/);
});

test('whatever template and payload, the result is JSON and no value is expanded twice', () => {
  const random = createRandom(20261120);
  let filledCount = 0;
  for (let round = 0; round < 3000; round += 1) {
    // Values ask for a member that no template asks for: it shows only if they were expanded.
    const payload: JsonValue = {
      a: randomValue(random, 2, VALUE_TEXTS), b: randomValue(random, 2, VALUE_TEXTS),
      c: 'x {{ secret }} {{ payload }}', secret: 'EXPANDED',
    };
    const source = JSON.stringify(randomValue(random, 3, TEMPLATE_TEXTS));
    let template;
    try {
      template = parseTemplate(source);
    } catch {
      continue;
    }
    const filled = fillTemplate(template, payload);
    assert.doesNotThrow(() => JSON.parse(filled), `round ${round}: ${source}`);
    assert.ok(!filled.includes('EXPANDED'), `round ${round}: ${source}`);
    filledCount += 1;
  }
  assert.ok(filledCount > 1000);
});

const VALUE_TEXTS = ['{{ secret }}', '\\{{ secret }}', '"', '\\', '{{', '\u0000', '😀', '\n', ''];
const TEMPLATE_TEXTS = ['a', '{{ a }}', 'x {{ b.0 }} y', '\\{{ a }}', '"', '\\', '{{', '}}', '',
  '\u0000', '{{ __proto__ }}', 'é{', '{{ b }}{{ c }}', '\n', '{{c}}', '{{ a.c }}'];

function randomValue(random: Random, depth: number, texts: readonly string[]): JsonValue {
  const text = (): string => texts[below(random, texts.length)] ?? '';
  switch (below(random, depth > 0 ? 6 : 4)) {
    case 0: return below(random, 1000) / 7;
    case 1: return [true, false, null][below(random, 3)] ?? null;
    case 2: case 3: return text() + (below(random, 2) === 0 ? text() : '');
    case 4: return Array.from({ length: below(random, 4) }, () =>
      randomValue(random, depth - 1, texts));
    default: return Object.fromEntries(Array.from({ length: below(random, 4) }, () =>
      [['a', '{{ a }}', '__proto__', 'c'][below(random, 4)] ?? '',
        randomValue(random, depth - 1, texts)]));
  }
}
