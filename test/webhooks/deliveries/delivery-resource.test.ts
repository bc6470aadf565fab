import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryResource } from '../../../src/webhooks/deliveries/delivery-resource.ts';

test('a list shows what came of the last attempt: its status, or why there is none', () => {
  const column = deliveryResource.columns.find(({ title }) => title === 'LAST ANSWER');
  const attempt = { at: '2026-01-01T00:00:00.000Z', durationMs: 1, response: null };
  const refused = { ...attempt, statusCode: null, error: 'connect ECONNREFUSED 127.0.0.1:9' };
  const answered = { ...attempt, statusCode: 503, error: null };
  for (const [attempts, expected] of [
    [[], null], [[answered], '503'], [[answered, refused], refused.error],
    [[refused, answered], '503'],
  ] as const) assert.equal(column?.show?.([...attempts], {}), expected);
});
