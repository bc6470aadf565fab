// `npm run test:faults [-- <room or path> …]`: plants the faults of test/faults one after another,
// in the sources as they are bundled and nowhere on disk, and runs the tests that must see each.
// The same tests must pass without a fault. Prints which faults were found; exits 1 when one was not.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleTests, withFolder } from './bundle.mjs';
import { makeProgram } from './program.mjs';

const { PLANTED_FAULTS } = await import('../test/faults/catalogue.ts');
const { plantFault } = await import('../test/faults/fault.ts');

// A fault may show as a test that hangs, or that takes all memory: both end its processes.
const RUN_MS_MAX = 180_000;
const RUN_BYTES_MAX = 2 ** 31;
// One test that fails is enough: with many a fault the next ones wait for a minute each, in vain.
const FAILED_TEST = /^\s*not ok /m;
// The time to close after that, and to remove what tests have written.
const CLOSE_MS_MAX = 3000;
const LOOK_MS = 500;
const RUNS_AT_ONCE = 2;
const SHOWN_LENGTH = 60;
const SOURCES = resolve(import.meta.dirname, '../src');
const USES_PROGRAM = /QUICK_PROGRAM|support\/(program|server-process)\.ts|^e2e\//m;

// Each run of tests is a process group, which a Ctrl-C on a terminal does not reach.
const runningGroups = new Set();
process.once('SIGINT', () => {
  for (const group of runningGroups) endGroup(group, 'SIGKILL');
  process.exit(130);
});

const words = process.argv.slice(2);
const faults = Object.entries(PLANTED_FAULTS).flatMap(([room, rows]) => rows.filter(({ file }) =>
  words.length === 0 || words.some((word) => word === room || file.startsWith(word))));
const files = [...new Set(faults.flatMap(({ tests }) => tests))].sort();

const broken = await inParallel(files, async (file) => {
  const verdict = await judge([file]);
  return verdict === 'survived' ? null : `${file} without a fault: ${verdict}`;
});
for (const message of broken) console.log(`✖ ${message}`);
const survivors = broken.length > 0 ? [] : await inParallel(faults, async (fault) => {
  const startMs = performance.now();
  const verdict = await judge(fault.tests, fault);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const mark = verdict === 'found' ? '✔' : '✖';
  const shown = fault.replacement.trim().slice(0, SHOWN_LENGTH).replaceAll('\n', ' ');
  console.log(`${mark} ${fault.file}: ${shown} (${verdict}, ${seconds} s)`);
  return verdict === 'found' ? null : fault;
});
if (broken.length === 0) {
  console.log(`${faults.length - survivors.length} of ${faults.length} planted faults found`);
}
process.exitCode = faults.length > 0 && broken.length + survivors.length === 0 ? 0 : 1;

/** `found` when a test fails, `survived` when all pass, else what is wrong with the fault itself. */
async function judge(tests, fault) {
  let isPlanted = false;
  const edit = (text, path) => {
    if (fault === undefined || path !== join(SOURCES, fault.file)) return text;
    isPlanted = true;
    return plantFault(text, fault);
  };
  return withFolder(async (folder) => {
    const env = { ...process.env };
    const isServed = tests.some((file) => USES_PROGRAM.test(`${file}\n${readTest(file)}`));
    let bundles;
    try {
      bundles = await bundleTests(tests.map((file) => [`test/${file}`]), folder, edit);
      if (isServed) env.TEST_PROGRAM = await makeProgram(folder, edit);
    } catch (error) {
      // The program is started once when it is made: a fault may already show there.
      return bundles === undefined ? `cannot be built: ${error.message}` : 'found';
    }
    if (fault !== undefined && !isPlanted) return 'not in what the tests load';
    return run(bundles, env);
  });
}

function readTest(file) {
  return readFileSync(join('test', file), 'utf8');
}

async function run(bundles, env) {
  const options = ['--test', '--test-concurrency=1', '--test-reporter=tap'];
  const runner = spawn(process.execPath, [...options, ...bundles],
    { stdio: ['ignore', 'pipe', 'ignore'], env, detached: true });
  let endMs = performance.now() + RUN_MS_MAX;
  const timer = setInterval(() => {
    const bytes = groupBytes(runner.pid);
    if (bytes > RUN_BYTES_MAX || performance.now() > endMs) endGroup(runner.pid, 'SIGKILL');
  }, LOOK_MS);
  runningGroups.add(runner.pid);
  let output = '';
  let hasFailed = false;
  runner.stdout.on('data', (chunk) => {
    output += chunk;
    if (hasFailed || !FAILED_TEST.test(output)) return;
    hasFailed = true;
    endMs = performance.now() + CLOSE_MS_MAX;
    endGroup(runner.pid, 'SIGTERM');
  });
  const [code] = await once(runner, 'close');
  clearInterval(timer);
  runningGroups.delete(runner.pid);
  if (hasFailed || code !== 0) return 'found';
  return /^# pass 0$/m.test(output) ? 'no test ran' : 'survived';
}

function endGroup(group, signal) {
  try {
    process.kill(-group, signal);
  } catch {
    // It has ended by itself.
  }
}

/** The resident memory of a process group. */
function groupBytes(group) {
  const lines = execFileSync('ps', ['-A', '-o', 'pgid=,rss='], { encoding: 'utf8' }).split('\n');
  const kilobytes = lines.map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([pgid]) => pgid === group).map(([, rss]) => rss);
  return kilobytes.reduce((sum, rss) => sum + rss, 0) * 1024;
}

/** What `use` gives for each item but null, in the order in which they end. */
async function inParallel(items, use) {
  const waiting = [...items];
  const results = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await use(next);
      if (result !== null) results.push(result);
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
  return results;
}
