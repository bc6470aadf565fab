import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  computeRouteDueMs, createPendingRoute, resetRoute,
} from '../../../src/webhooks/deliveries/route-delivery.ts';
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

test('a clock set back does not lengthen the wait of a route that no run has begun', () => {
  const at = new Date(NOW_MS + 7_200_000).toISOString();
  const route = createPendingRoute('default', new Date(NOW_MS).toISOString());
  const retriedRoute = { ...resetRoute(route, at), updatedAt: at };
  const nowMs = NOW_MS + 3_600_000;
  assert.equal(computeRouteDueMs(retriedRoute, nowMs), nowMs);
});
