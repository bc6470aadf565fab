// `npm test`: builds and runs every test, or the files named on the command line, and checks the types
// beside them: where those are wrong the run ends. A name without a file is refused at once, and not
// after the build.
import { spawn, spawnSync } from 'node:child_process';
import { assertFiles } from './share.mjs';

assertFiles(process.argv.slice(2));
for (const script of ['setup', 'build', 'types']) {
  const { status } = spawnSync(process.execPath, [`.ci/${script}.mjs`], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const start = (...words) => {
  const child = spawn(process.execPath, words, { stdio: 'inherit' });
  return { child, ended: new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1))) };
};
const check = start('.ci/typecheck.mjs');
const tests = start('.ci/test.mjs', ...process.argv.slice(2));
// An interrupt reaches all of us at once.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => tests.child.kill());
void check.ended.then((code) => code !== 0 && tests.child.kill());
process.exitCode = await tests.ended || await check.ended;
