// `npm test`: builds, checks the types, and runs every test, or the files named on the command line.
// A name without a file is refused at once, and not after the build.
import { spawnSync } from 'node:child_process';
import { assertFiles } from './share.mjs';

assertFiles(process.argv.slice(2));
for (const script of ['setup', 'build', 'types', 'typecheck']) {
  const { status } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// Its packages are installed only now.
await import('./test.mjs');
