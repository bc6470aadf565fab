import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyRun, failForRemovedWebhook } from '../../../src/webhooks/runs/apply-run.ts';
import { makeStoredRequest } from '../inbox/sample-request.ts';

const NOW_MS = Date.UTC(2026, 0, 2);

for (const [success, status] of [[false, 'failed'], [true, 'done']] as const) {
  test(`a run of a route that was given up meanwhile leaves it ${status}`, () => {
    const before = failForRemovedWebhook(makeStoredRequest({}), NOW_MS);
    assert.ok(before !== null);
    const attempt = {
      at: new Date(NOW_MS).toISOString(), durationMs: 1, success, message: null, data: null,
    };
    const after = applyRun(before, 0, { attempt }, { schedule: [5, 60], random: 0 }, NOW_MS + 1);
    const [route] = after.routes;
    assert.deepEqual(
      [after.status, route?.status, route?.nextAttemptAt, route?.attempts.length],
      [status, status, null, 2]);
  });
}
