import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import { formatShellExample } from '../../../src/webhooks/senders/signing/shell-example.ts';

test('a token goes to curl through a pipe: other users can read its arguments', () => {
  const scheme = findPreset('gitlab-token')?.scheme ?? null;
  assert.ok(scheme);
  const script = formatShellExample({
    scheme, settings: {}, method: 'POST', body: '{}', contentType: 'application/json',
    headers: {}, url: 'https://example.com/webhook/in/hook',
  });
  const [, curl = ''] = script.split(/\bcurl --silent/);
  assert.match(curl, /--header @-/);
  assert.doesNotMatch(curl, /\$signature|WEBHOOK_SECRET/);
});
