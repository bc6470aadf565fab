import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareSenderVerifier } from '../../../src/webhooks/incoming/verification-member.ts';

test('a webhook with a preset of a later version accepts nothing', () => {
  const webhook = { verification: { preset: 'later' }, secret: 'any' };
  const problem = prepareSenderVerifier(webhook)?.verifier.problem;
  assert.match(String(problem?.finding), /this version knows no preset "later"/);
});
