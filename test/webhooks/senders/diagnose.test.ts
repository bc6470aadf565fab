import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { diagnose } from '../../../src/webhooks/senders/diagnosis/diagnose.ts';
import type { Diagnosis } from '../../../src/webhooks/senders/diagnosis/diagnosis-report.ts';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import { createVerifier } from '../../../src/webhooks/senders/verification/verify.ts';

function diagnoseRequest(
  name: string, secretText: string, body: Buffer, headers: Readonly<Record<string, string>>,
): Promise<Diagnosis> {
  const preset = findPreset(name);
  assert.ok(preset?.scheme);
  const secrets = [
    { text: secretText, role: 'current', validUntilMs: Infinity },
  ] as const;
  return diagnose({
    preset, secrets, url: null, acceptsUnsigned: false, rejectionReason: null, address: null,
    verifier: createVerifier({
      scheme: preset.scheme, settings: {}, toleranceS: null, secrets, quirk: {},
    }),
    request: {
      method: 'POST', headers, rawHeaders: Object.entries(headers).flat(), search: '', body,
    },
    recordedVerdict: null, duplicate: { status: 'skipped', finding: '' }, routes: null,
    bodyHint: null, nowMs: 0,
  });
}

test('a token is not shown, not even in part', async () => {
  const diagnosis = await diagnoseRequest('gitlab-token', 'planted-token', Buffer.from('{}'),
    { 'x-gitlab-token': 'planted-token' });
  assert.equal(diagnosis.accepted, true);
  assert.doesNotMatch(JSON.stringify(diagnosis), /planted/);
});

test('mistakes are looked for behind a small body, and not behind a large one', async () => {
  for (const [bytes, finding] of [[10, /white space/], [1024 * 1024 + 1, /no usual/]] as const) {
    const body = Buffer.alloc(bytes, 'x');
    const signature = createHmac('sha256', 'secret').update(body).digest('hex');
    const { checks } = await diagnoseRequest('github', ' secret', body,
      { 'x-hub-signature-256': `sha256=${signature}` });
    assert.match(checks.find(({ check }) => check === 'near_miss')?.finding ?? '', finding);
  }
});
