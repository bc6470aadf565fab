/** The preview of a template fills it as the service does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewBody } from '../../../src/console/parts/template-preview.ts';
import { fillTemplate, parseTemplate } from '../../../src/webhooks/outgoing/payload-template.ts';

const PAYLOAD = {
  type: 'book.created', count: 2, none: null, list: ['a', { b: true }],
  data: { book: { title: 'Emma "E"' } }, payload: { own: 1 },
};

function fillPayloadTemplate(payloadTemplate: string, payload: unknown): unknown {
  return JSON.parse(previewBody({ payloadTemplate }, payload).body);
}

for (const template of [
  '"{{ type }}"', '{"a": "{{ data.book }}", "b": ["{{ count }}", 1, null]}',
  '{"text": "New: {{ data.book.title }} ({{ count }})"}', '"{{ payload.own }}"',
  '"{{ payload.type }}"', '"{{ missing.at.all }}"', '"x{{ none }}y"', '"{{ none }}"',
  '"{{ list.1.b }} {{list.0}} {{ list }}"', '"\\\\{{ type }}"', '"a \\\\{{ b {{ type }}"',
  '"{{ toString }}"', '{"{{ type }}": "{{type}}{{type}}"}', '"}} { }"',
]) {
  test(`fills ${template} as the service does`, () => {
    const expected: unknown = JSON.parse(fillTemplate(parseTemplate(template), PAYLOAD));
    assert.deepEqual(fillPayloadTemplate(template, PAYLOAD), expected);
  });
}

test('fills "{{ payload }}" with all of a payload without such a member', () => {
  const payload = { a: 1 };
  for (const template of ['"{{ payload }}"', '"{{ payload.a }}"', '"is {{ payload }}"']) {
    const expected: unknown = JSON.parse(fillTemplate(parseTemplate(template), payload));
    assert.deepEqual(fillPayloadTemplate(template, payload), expected);
  }
});

for (const template of ['{', '"{{ type"', '"{{ }}"', '"{{ a..b }}"']) {
  test(`refuses ${template} as the service does`, () => {
    assert.throws(() => parseTemplate(template));
    assert.throws(() => fillPayloadTemplate(template, PAYLOAD));
  });
}

for (const contentType of [
  'text/plain', 'text/xml', 'application/soap+xml; charset=utf-8', 'text/html', 'text/csv',
  'application/x-www-form-urlencoded',
]) {
  test(`fills a text of ${contentType} as the service does`, () => {
    const payload = { a: '<"\'&>\r\n\u0000 é+\ud800', b: { c: [1, null] } };
    const template = 'a={{ a }}&b={{b}}&{{ none }}\\{{ {{ payload.b.c }}';
    assert.equal(previewBody({ payloadTemplate: template, contentType }, payload).body,
      fillTemplate(parseTemplate(template, contentType), payload));
  });
}

test('shows the envelope of the format, and what is an envelope as it is', () => {
  const show = (payload: object): unknown =>
    JSON.parse(previewBody({ format: 'envelope', payloadTemplate: '"{{ payload }}"' }, payload)
      .body);
  const { timestamp, ...others } = Object(show({ n: 1 }));
  assert.deepEqual(others, { type: 'hookshelf.send', data: { n: 1 } });
  assert.ok(Date.parse(timestamp) > 0);
  const envelope = { type: 'a', timestamp, data: 1 };
  assert.deepEqual(show(envelope), envelope);
});

for (const [payloadTemplate, contentType, missingPaths] of [
  ['{"a": "{{ data.id }} of {{ customer }}", "b": ["{{data.id}}"]}', undefined, ['data.id']],
  ['{{ none }} {{ payload.id }} {{ payload.no }} \\{{ c }}', 'text/plain', ['payload.no']],
  ['"{{ payload }} {{ none }}"', undefined, []],
] as const) {
  test(`names what ${payloadTemplate} asks for and the payload has not`, () => {
    const payload = { id: 7, customer: 'Ann', none: null };
    assert.deepEqual(previewBody({ payloadTemplate, contentType }, payload).missingPaths,
      missingPaths);
  });
}
