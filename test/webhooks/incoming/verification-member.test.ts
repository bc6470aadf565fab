import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSenderVerifier } from '../../../src/webhooks/incoming/verification-member.ts';

test('a webhook with a preset of a later version accepts nothing', () => {
  const { preset, verifier } =
    createSenderVerifier({ verification: { preset: 'later' }, secret: 'any' });
  assert.equal(preset.name, 'later');
  assert.match(String(verifier.problem?.finding), /this version knows no preset "later"/);
});
