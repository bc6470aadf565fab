import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import { listCoveredParts } from '../../../src/webhooks/senders/scheme/scheme.ts';

test('a signature covers what its content names, and a token covers nothing', () => {
  for (const [preset, covers] of [
    ['github', ['body']], ['stripe', ['body', 'time', 'id']], ['discord', ['body', 'time', 'id']],
    ['paypal', ['time']], ['linear', ['body', 'time']], ['mailgun', ['time', 'id']],
    ['gitlab-token', []], ['microsoft-graph', []],
  ] as const) {
    const scheme = findPreset(preset)?.scheme ?? null;
    assert.ok(scheme);
    assert.deepEqual(listCoveredParts(scheme), covers, preset);
  }
});
