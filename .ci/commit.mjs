// Finds the commit that a build is made from, so that two builds of one version can be told apart.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/**
 * The constant that esbuild puts into src/base/version.ts: the first 12 digits of the commit, with
 * `-dirty` when a file differs from it; null outside of a git checkout. The same commit makes the
 * same build.
 */
export function defineCommit() {
  return { HOOKSHELF_COMMIT: JSON.stringify(readCommit()) };
}

function readCommit() {
  // A package that was unpacked inside of another repository must not take that one's commit.
  if (!existsSync(join(root, '.git'))) return null;
  const words = [
    '--no-optional-locks', 'describe', '--always', '--dirty', '--abbrev=12', '--exclude=*',
  ];
  try {
    return execFileSync('git', words, {
      cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
