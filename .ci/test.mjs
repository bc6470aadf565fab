// Runs every test, or the files named on the command line. HOOKSHELF_TEST_NODE names another node
// binary, so that both ends of the supported range run the same tests. Under Node 20 a test's time
// limit holds for a whole file, too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { bundleTests, withFolder } from './bundle.mjs';
import { reachedFrom } from './imports.mjs';
import { makeProgram } from './program.mjs';
import { assertFiles, findTests, shared, WITHOUT_TEST_HOOKS } from './share.mjs';

const BROWSER = resolve('test/support/browser.ts');

const named = process.argv.slice(2);
assertFiles(named);
// Six files of a long run share a process, and take more than 20 minutes of a busy machine.
const timeoutMs = process.env.TEST_LONG === '1' ? 3_600_000 : 1_200_000;
// Of two processors, as many tests wait for something.
const options = [WITHOUT_TEST_HOOKS,
  '--test', '--test-concurrency=4', `--test-timeout=${timeoutMs}`,
  '--test-reporter=./.ci/reporter.mjs', '--test-reporter-destination=stdout'];
// Ours, not the program's: it refuses to start with a HOOKSHELF_ variable that it does not know.
const { HOOKSHELF_TEST_NODE: otherNode, NODE_EXTRA_CA_CERTS: certificates, ...env } = process.env;
const files = named.length > 0 ? named : findTests(/\.test\.ts$/).filter(isForThisNode);
// Each Node that starts would read them, 0.4 thousand million instructions for those of a system,
// and what tests ask is on this machine; pinned.mjs asks the npm registry.
env.TEST_CA_CERTS = certificates;
env.TEST_FILES = String(files.length);
// An interrupt reaches all of us at once; what was made is still to be removed.
process.on('SIGINT', () => {});
let isEnded = false;
let runner;
process.on('SIGTERM', () => {
  isEnded = true;
  runner?.kill();
});

process.exitCode = await withFolder(async (folder) => {
  // A few files, and the other Node, are served best by the program as it is.
  const isMany = named.length === 0 || env.TEST_LONG === '1';
  if (isMany && otherNode === undefined) env.TEST_PROGRAM = await makeProgram(folder);
  // It starts no browser before a test wants one.
  const browser = spawn(process.execPath, ['.ci/browser.mjs'],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  env.TEST_BROWSER = String(await once(browser.stdout, 'data')).trim();
  const bundles = await bundleTests(shared(files), folder);
  const code = isEnded ? 1 : await run(bundles);
  browser.stdin.end();
  await once(browser, 'exit');
  return code;
});

/** What the console does in a browser is the same whatever Node serves it. */
function isForThisNode(file) {
  return otherNode === undefined || !reachedFrom(resolve(file)).has(BROWSER);
}

async function run(bundles) {
  runner = spawn(otherNode ?? process.execPath, [...options, ...bundles],
    { stdio: 'inherit', env });
  const [code] = await once(runner, 'exit');
  return code ?? 1;
}
