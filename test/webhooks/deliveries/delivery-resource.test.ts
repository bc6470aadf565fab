import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deliveryResource, explainAttempts,
} from '../../../src/webhooks/deliveries/delivery-resource.ts';

test('a list shows what came of the last attempt: its status, or why there is none', () => {
  const column = deliveryResource.columns.find(({ title }) => title === 'LAST ANSWER');
  const attempt = { at: '2026-01-01T00:00:00.000Z', durationMs: 1, response: null };
  const refused = { ...attempt, statusCode: null, error: 'ECONNRESET' };
  const late = { ...attempt, statusCode: null, error: 'ETIMEDOUT' };
  const answered = { ...attempt, statusCode: 503, error: null };
  for (const [attempts, expected] of [
    [[], null], [[answered], '503'], [[answered, refused], refused.error],
    [[refused, answered], '503'], [[late], 'no connection or answer in time (ETIMEDOUT)'],
  ] as const) assert.equal(column?.show?.([...attempts], {}), expected);
});

test('a delivery is shown with the errors of its attempts in words', () => {
  const attempts = [{ statusCode: null, error: 'ECONNREFUSED' }, { statusCode: 200, error: null }];
  assert.deepEqual(explainAttempts(attempts), [
    { statusCode: null, error: 'nothing listens there (ECONNREFUSED)' }, attempts[1],
  ]);
});
