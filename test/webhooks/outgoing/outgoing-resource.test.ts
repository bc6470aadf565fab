/** What is shown of an outgoing webhook in place of its secrets. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/schema.ts';
import { toPublicOutgoingWebhook } from '../../../src/webhooks/outgoing/outgoing-resource.ts';
import { createCertificate } from '../../support/tls.ts';

function cpuMsOf(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function showAll(webhooks: readonly JsonObject[]): readonly string[] {
  return webhooks.map((webhook) => JSON.stringify(toPublicOutgoingWebhook(webhook, 0)));
}

test('keys and certificates are read once, not for each list of them', () => {
  const webhooks = Array.from({ length: 200 }, (_, index) => ({
    secret: `whsk_${randomBytes(32).toString('base64')}`, signing: { preset: 'standard' },
    clientCertificate: {
      certificate: createCertificate([`us-${index}`]).cert, privateKey: 'a key',
    },
  }));
  let shown: readonly string[] = [];
  const firstMs = cpuMsOf(() => { shown = showAll(webhooks); });
  assert.equal(new Set(shown).size, 200);
  // Three times, as other work of this process may fall into one.
  const laterMs = [1, 2, 3].map(() => cpuMsOf(() => {
    assert.deepEqual(showAll(webhooks), shown);
  }));
  assert.ok(Math.min(...laterMs) < firstMs / 3, `${firstMs} ms, then ${laterMs.join(', ')} ms`);
});
