// `npm test`: builds and runs every test, or the files named on the command line, and checks the types
// beside them: where those are wrong the run ends. A name without a file is refused at once, and not
// after the build.
import { spawn, spawnSync } from 'node:child_process';
import { assertFiles } from './share.mjs';

const files = process.argv.slice(2);
assertFiles(files);
// What asks for the declarations of the package is long.
const isLong = files.some((file) => file.endsWith('.long.ts'));
for (const script of ['setup', 'build', ...isLong ? ['types'] : []]) {
  const { status } = spawnSync(process.execPath, [`.ci/${script}.mjs`], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const start = (...words) => {
  const child = spawn(process.execPath, words, { stdio: 'inherit' });
  return { child, ended: new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1))) };
};
// Each further checker of tsc does some of the work again, and the tests use the other processor.
const check = start('.ci/typecheck.mjs', '--checkers', '1');
const tests = start('.ci/test.mjs', ...files);
// An interrupt reaches all of us at once.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => tests.child.kill());
void check.ended.then((code) => code !== 0 && tests.child.kill());
process.exitCode = await tests.ended || await check.ended;
