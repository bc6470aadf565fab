// `npm run test:faults -- <room> … --count 50 --seed 7`: makes small mistakes (mutations.mjs) in the
// sources of rooms, folders or files below src, one after another, as they are bundled and nowhere on
// disk, and runs the tests that import the file, the nearest first. Prints what no test found. Neither
// long tests nor those that start the program are among them.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleTests, withFolder } from './bundle.mjs';
import { reachedFrom } from './imports.mjs';
import { findMutations } from './mutations.mjs';
import { findTests, shared, WITHOUT_TEST_HOOKS } from './share.mjs';

const SOURCES = resolve('src');
const PROGRAM = resolve('test/support/program.ts');
// Farther ones hardly find what these do not, and each survivor meets all of them.
const TESTS_MAX = 16;
const NEAREST_TESTS = 4;
// A mistake may show as a test that hangs, or that takes all memory: both end its processes.
const RUN_MS_MAX = 120_000;
const RUN_BYTES_MAX = 2 ** 31;
// One test that fails is enough: with many a mistake the next ones wait for a minute each, in vain.
const FAILED_TEST = /^\s*not ok /m;
// The time to close after that, and to remove what tests have written.
const CLOSE_MS_MAX = 3000;
const LOOK_MS = 500;
const RUNS_AT_ONCE = 2;
const SHOWN_LENGTH = 70;

// Each run of tests is a process group, which a Ctrl-C on a terminal does not reach.
const runningGroups = new Set();
process.once('SIGINT', () => {
  for (const group of runningGroups) endGroup(group, 'SIGKILL');
  process.exit(130);
});

const { rooms, count, seed } = readArguments();
const stepsOfTests = new Map(findTests(/\.test\.ts$/)
  .map((file) => [file, reachedFrom(resolve(file))])
  .filter(([, steps]) => !steps.has(PROGRAM)));
const mutations = pick(findMutations(rooms.flatMap(sourcesOf)), count, seed);
/** Whether tests pass without a mistake, by their names. */
const soundness = new Map();

const verdicts = await inParallel(mutations, async (mutation) => {
  const startMs = performance.now();
  const verdict = await judge(mutation);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const place = `${relative('.', mutation.path)}:${mutation.line}`;
  const shown = mutation.text.replace(/\s+/g, ' ').slice(0, SHOWN_LENGTH);
  const mark = verdict === 'found' ? '✔' : '✖';
  console.log(`${mark} ${place} ${mutation.kind}: ${shown} (${verdict}, ${seconds} s)`);
  return verdict;
});
const judged = verdicts.filter((verdict) => verdict !== 'cannot be built');
const foundCount = judged.filter((verdict) => verdict === 'found').length;
console.log(`${foundCount} of ${judged.length} mistakes found in ${rooms.join(', ')}, seed ${seed}`);

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        count: { type: 'string', default: '50' }, seed: { type: 'string', default: '1' },
      },
    });
    const [count, seed] = [values.count, values.seed].map(Number);
    const missing = positionals.find((room) => !existsSync(join(SOURCES, room)));
    if (missing !== undefined) throw new Error(`src has no ${missing}`);
    if (positionals.length === 0) throw new Error('name a room');
    if (!(count >= 1 && seed >= 0)) throw new Error('--count and --seed are numbers');
    return { rooms: positionals, count, seed };
  } catch (error) {
    console.error(`hookshelf: ${error.message}; test:faults -- <room> … --count <n> --seed <n>`);
    process.exit(2);
  }
}

function sourcesOf(room) {
  const path = join(SOURCES, room);
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true }).sort()
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(path, name));
}

/** Some of them, no two of a line, the same for the same seed. */
function pick(all, some, seed) {
  const random = createRandom(seed);
  const order = all.map((mutation) => ({ mutation, rank: random() }))
    .sort((a, b) => a.rank - b.rank);
  const byLine = new Map();
  for (const { mutation } of order) {
    const place = `${mutation.path}:${mutation.line}`;
    if (!byLine.has(place)) byLine.set(place, mutation);
  }
  return [...byLine.values()].slice(0, some);
}

/** Mulberry32: numbers in [0, 1). */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The tests that reach a source: those named as it is, its folder's, then by the steps to it. */
function testsOf(path) {
  const name = basename(path, '.ts');
  const folder = dirname(relative(SOURCES, path));
  const distanceOf = (file, steps) => {
    if (basename(file).startsWith(`${name}.`)) return 0;
    return dirname(relative('test', file)) === folder ? 1 : steps;
  };
  const sorted = [...stepsOfTests].filter(([, steps]) => steps.has(path))
    .map(([file, steps]) => ({
      file, steps: distanceOf(file, steps.get(path)), size: steps.size,
    }))
    .sort((a, b) => a.steps - b.steps || a.size - b.size);
  return sorted.slice(0, TESTS_MAX).map(({ file }) => file);
}

/** `found` when a test fails that passes without the mistake, else what has become of it. */
async function judge(mutation) {
  const tests = testsOf(mutation.path);
  for (;;) {
    const sound = tests.filter((file) => soundness.get(file) !== false);
    if (sound.length === 0) return 'no test imports it';
    const lists = [...shared(sound.slice(0, NEAREST_TESTS)), ...shared(sound.slice(NEAREST_TESTS))];
    const failed = await findFailure(lists, mutation);
    if (failed === 'cannot be built') return failed;
    if (failed === null) return `survived ${sound.length} files of tests`;
    await checkSoundness(failed);
    if (failed.every((file) => soundness.get(file))) return 'found';
  }
}

async function checkSoundness(files) {
  const unchecked = files.filter((file) => !soundness.has(file));
  if (unchecked.length === 0 || await findFailure([unchecked], null) === null) {
    for (const file of unchecked) soundness.set(file, true);
    return;
  }
  for (const file of unchecked) {
    soundness.set(file, await findFailure([[file]], null) === null);
    if (!soundness.get(file)) console.log(`✖ ${file} fails without a mistake, and is left out`);
  }
}

/** The first of the lists of files that fails, or null. */
function findFailure(lists, mutation) {
  const edit = (text, path) => path !== mutation?.path ? text
    : text.slice(0, mutation.start) + mutation.replacement + text.slice(mutation.end);
  return withFolder(async (folder) => {
    let bundles;
    try {
      bundles = await bundleTests(lists, folder, edit);
    } catch {
      return 'cannot be built';
    }
    for (const [index, bundle] of bundles.entries()) {
      if (await hasFailure(bundle)) return lists[index];
    }
    return null;
  });
}

async function hasFailure(bundle) {
  const words = [WITHOUT_TEST_HOOKS, '--test', '--test-reporter=tap', bundle];
  const runner = spawn(process.execPath, words,
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let endMs = performance.now() + RUN_MS_MAX;
  const timer = setInterval(() => {
    const isTooLarge = groupBytes(runner.pid) > RUN_BYTES_MAX;
    if (isTooLarge || performance.now() > endMs) endGroup(runner.pid, 'SIGKILL');
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
  return hasFailed || code !== 0;
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

/** What `use` gives for each item. */
async function inParallel(items, use) {
  const waiting = [...items];
  const results = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results.push(await use(next));
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
  return results;
}
