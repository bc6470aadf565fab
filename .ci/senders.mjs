// Holds our presets against the libraries that senders give out themselves, both ways. They are no
// dependency of the project: installed in a folder of their own, which is removed again.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = [
  'stripe', '@octokit/webhooks-methods', 'standardwebhooks', 'svix', 'twilio', 'square',
  '@slack/bolt', '@sendgrid/eventwebhook', 'discord-interactions', '@linear/sdk', 'cloudevents',
  '@shopify/shopify-api',
];

const folder = mkdtempSync(join(tmpdir(), 'hookshelf-senders-'));
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = spawnSync('npm', [...words, ...PACKAGES], { cwd: folder, stdio: 'inherit' });
  if (installed.status === 0) {
    const test = spawnSync(process.execPath,
      ['.ci/test.mjs', 'test/webhooks/senders/libraries.test.ts'],
      { stdio: 'inherit', env: { ...process.env, SENDERS_FOLDER: folder } });
    process.exitCode = test.status ?? 1;
  } else {
    process.stderr.write('skipped: the libraries cannot be installed; is the npm registry there?\n');
  }
} finally {
  rmSync(folder, { recursive: true });
}
