/** The handshakes that are made for tests hold all that their scheme looks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  makeHandshake,
} from '../../../src/webhooks/diagnostics/make-handshake.ts';
import type { Handshake, Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';

function createScheme(challenge: Partial<Handshake>): Scheme {
  return {
    algorithm: 'token', key: 'utf8', content: '',
    signature: { from: { header: 'X-Token' }, encoding: 'utf8' },
    challenge: [{
      method: 'POST', when: [], answer: { status: 200, type: 'text/plain', body: 'ok' },
      ...challenge,
    }],
  };
}

const token = 'hookshelf-test';
const echo = (body: Handshake['answer']['body']): Handshake['answer'] =>
  ({ status: 200, type: 'text/plain', body });
const CASES: readonly [title: string, challenge: Partial<Handshake>, body: string][] = [
  ['two values of one object', {
    when: [{ from: { json: 'data.type' }, equals: 'check' }], answer: echo({ json: 'data.token' }),
  }, `{"data":{"token":"${token}","type":"check"}}`],
  ['elements of an array', {
    when: [{ from: { json: 'events.0.type' }, equals: 'check' }],
    answer: echo({ json: 'events.0.token' }),
  }, `{"events":[{"token":"${token}","type":"check"}]}`],
  ['fields of a form', {
    when: [{ from: { form: 'a type' }, equals: 'check' }], answer: echo({ form: 'token' }),
  }, `token=${token}&a+type=check`],
  ['a value that only has to be there', {
    when: [{ from: { json: 'nonce' } }, { from: { json: 'absent' }, equals: null }],
  }, `{"nonce":"${token}"}`],
];
for (const [title, challenge, body] of CASES) {
  test(`a handshake holds ${title}`, () => {
    assert.equal(makeHandshake(createScheme(challenge), {})?.body, body);
  });
}

test('a handshake whose values stand in a form is one', () => {
  const scheme = createScheme({ answer: echo({ form: 'token' }) });
  assert.equal(makeHandshake(scheme, {})?.contentType, 'application/x-www-form-urlencoded');
});
