import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fillTextTemplate, parseTextTemplate,
} from '../../../../src/webhooks/actions/commands/text-template.ts';
import { Facts } from '../../../../src/webhooks/members/filters/facts.ts';

const facts = new Facts({
  payload: () => ({
    ref: 'main', count: 42, isNew: true, nothing: null, list: ['a', 'b'], object: { x: 1 },
    template: '{{ payload.ref }}', '': 'no name',
  }),
  event: () => 'push',
  headers: { 'x-sender': 'gh', 'set-cookie': ['a', 'b'] },
  query: 'page=a%20b+c&page=2&empty=',
  method: 'POST',
});

const FILLED: readonly (readonly [template: string, text: string])[] = [
  ['plain text', 'plain text'],
  ['', ''],
  ['{{ payload.ref }}', 'main'],
  ['{{payload.ref}}', 'main'],
  ['{{ payload . ref }}', 'main'],
  ['refs/{{ payload.ref }}/{{ payload.count }}', 'refs/main/42'],
  ['{{ payload.isNew }}', 'true'],
  ['{{ payload.list.1 }}', 'b'],
  ['{{ payload.list }}', '["a","b"]'],
  ['{{ payload.object }}', '{"x":1}'],
  ['{{ payload.nothing }}', ''],
  ['{{ payload.missing.member }}', ''],
  ['{{ payload.constructor }}', ''],
  ['{{ payload.template }}', '{{ payload.ref }}'],
  ['{{ headers.X-Sender }}', 'gh'],
  ['{{ headers.x-missing }}', ''],
  ['{{ query.page }}', 'a b c'],
  ['{{ query.empty }}{{ query.missing }}', ''],
  ['{{ event }}', 'push'],
  ['\\{{ payload.ref }}', '{{ payload.ref }}'],
  ['\\{{ {{ payload.ref }} }}', '{{ main }}'],
  ['$(rm) `x` {payload} }}', '$(rm) `x` {payload} }}'],
];
for (const [template, text] of FILLED) {
  test(`${JSON.stringify(template)} becomes ${JSON.stringify(text)}`, () => {
    assert.equal(fillTextTemplate(parseTextTemplate(template), facts, 100), text);
  });
}

const REFUSED: readonly (readonly [template: string, problem: RegExp])[] = [
  ['{{ payload.ref', /opened with \{\{ and not closed/],
  ['{{ }}', /needs a path/],
  ['{{ a {{ payload.ref }}', /needs a path/],
  ['{{ paylod.ref }}', /must begin with payload, headers, query or event, .*did you mean/],
  ['{{ method }}', /must begin with/],
  ['{{ payload..ref }}', /must not have an empty step/],
  ['{{ headers }}', /must name one/],
  ['{{ event.name }}', /must be event alone/],
  ['{{ payload[0] }}', /must have indexes as steps/],
];
for (const [template, problem] of REFUSED) {
  test(`${JSON.stringify(template)} is refused`, () => {
    assert.throws(() => parseTextTemplate(template), problem);
  });
}

test('a text that passes its limit is refused', () => {
  const template = parseTextTemplate('{{ payload.ref }}{{ payload.ref }}');
  assert.equal(fillTextTemplate(template, facts, 8), 'mainmain');
  assert.throws(() => fillTextTemplate(template, facts, 7), /passes 7 characters/);
});
