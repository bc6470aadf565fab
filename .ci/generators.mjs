// Makes clients from our OpenAPI document with two generators and has them do everything. They are
// no dependency of the project: installed in a folder of their own, which is removed again.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = [
  'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', '@hey-api/openapi-ts@0.95.0',
  'typescript@5.9.3', '@types/node@20',
];

const folder = mkdtempSync(join(tmpdir(), 'hookshelf-generators-'));
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = spawnSync('npm', [...words, ...PACKAGES], { cwd: folder, stdio: 'inherit' });
  if (installed.status === 0) {
    const test = spawnSync(process.execPath, ['.ci/test.mjs', 'test/e2e/generators.test.ts'], {
      stdio: 'inherit', env: { ...process.env, GENERATORS_FOLDER: folder },
    });
    process.exitCode = test.status ?? 1;
  } else {
    process.stderr.write('skipped: the generators cannot be installed; is the npm registry there?\n');
  }
} finally {
  rmSync(folder, { recursive: true });
}
