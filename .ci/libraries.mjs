// Runs a test against libraries from the npm registry that are no dependency of the project: they
// are installed in a folder of their own, which the test is told of and which is removed again.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/** `folderVariable` is the environment variable that names the folder to the test. */
export function testWithLibraries(packages, testFile, folderVariable) {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-libraries-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const installed =
      spawnSync('npm', [...INSTALL, ...packages], { cwd: folder, stdio: 'inherit' });
    if (installed.status !== 0) {
      process.stderr.write('skipped: the libraries cannot be installed; is the npm registry there?\n');
      return;
    }
    const test = spawnSync(process.execPath, ['.ci/test.mjs', testFile],
      { stdio: 'inherit', env: { ...process.env, [folderVariable]: folder } });
    process.exitCode = test.status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
