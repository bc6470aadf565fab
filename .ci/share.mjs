// Which files of tests share a process: a start and what is loaded take half a second of processor
// time, and what runs often is made fast once. A file has a process of its own when it, or what it
// imports of the tests, changes or measures what belongs to a whole process or waits before its tests,
// or when it has hooks that would be called for each test of the process. Files that have their hooks
// from the same modules may share.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { reachedFrom, readModule } from './imports.mjs';

// To read these is nobody's own.
const READ = 'execPath|pid|ppid|platform|arch|versions?|get\\w*[ug]id|cwd|argv|kill|env|cpuUsage'
  + '|listenerCount';
const OWN = new RegExp([
  String.raw`\bprocess\.(?!(?:${READ})\b)[a-z]`,
  String.raw`\bdelete process\.env\b`, String.raw`\bprocess\.env\S* = `,
  String.raw`\bglobalThis\b`, String.raw`\bmock\b`, String.raw`^(?:const \w+ = )?await\b`,
  'node:(?:async_hooks|cluster|diagnostics_channel|inspector|process|v8|vm|worker_threads)\\b',
].join('|'), 'm');
const HOOK = /\b(?:beforeEach|afterEach)\(/;
const TESTS = resolve('test');
// They act only when the process ends, whoever shares it.
const FOLDERS = resolve('test/support/temporary-folder.ts');
const CHILDREN = resolve('test/support/children.ts');
/** An option for Node, of the runner and so of the processes that it starts. */
export const WITHOUT_TEST_HOOKS = `--require=${resolve('.ci/no-test-hooks.cjs')}`;
const FILES_MAX = 32;
// Of those that start processes, which take long.
const WAITING_FILES_MAX = 6;
/** Files whose tests wait for processes and threads most of their time. */
const WAITING = /\/e2e\/|\/actions\/(?:commands\/command-runner|modules\/worker-life)\./;

/**
 * Lists of files, one for each process: first those that take longest, last the shortest. Those that
 * start processes wait for half of their time, so that lists that only compute stand between them.
 */
export function shared(files) {
  const lists = new Map();
  const full = [];
  for (const file of files) {
    const key = keyOf(file);
    const list = [...lists.get(key) ?? [], file];
    const isFull = list.length === (key.includes(CHILDREN) ? WAITING_FILES_MAX : FILES_MAX);
    if (isFull) full.push(list);
    lists.set(key, isFull ? [] : list);
  }
  const all = [...full, ...lists.values()].filter((list) => list.length > 0);
  const isLong = (list) => list.some((file) => WAITING.test(file));
  const [long, others] = [all.filter(isLong), all.filter((list) => !isLong(list))];
  const isShort = (list) => list.length === 1;
  return [...spread(others.filter((list) => !isShort(list)), long), ...others.filter(isShort)];
}

/** Files with the same key may share a process. */
function keyOf(file) {
  const isFollowed = (path) => path.startsWith(TESTS) && path !== FOLDERS;
  const modules = [...reachedFrom(resolve(file), isFollowed).keys()];
  const isOwn = (path) => path !== CHILDREN && OWN.test(readModule(path).text);
  const hooks = modules.filter((path) => HOOK.test(readModule(path).text));
  return modules.some(isOwn) || hooks[0] === modules[0] ? file : hooks.sort().join();
}

/** `items` between `others`, as evenly as can be. */
function spread(items, others) {
  if (others.length === 0) return items;
  const placeOf = (index) => Math.floor(index * items.length / others.length);
  return others.flatMap((other, index) =>
    [other, ...items.slice(placeOf(index), placeOf(index + 1))]);
}

/** Whose turn it is of so many, by the commit: who runs it again runs the same. */
export function turnOf(count) {
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  return parseInt(commit, 16) % count;
}

/** The files of tests whose names fit, in order. */
export function findTests(pattern) {
  return readdirSync('test', { recursive: true })
    .filter((name) => pattern.test(name) && !name.startsWith('node_modules'))
    .map((name) => `test/${name}`)
    .sort();
}

/** Ends the process, with one line that says why, when one of the names is not that of a file. */
export function assertFiles(names) {
  const wrongName = names.find((name) => !statSync(name, { throwIfNoEntry: false })?.isFile());
  if (wrongName === undefined) return;
  process.stderr.write(`hookshelf: ${wrongName} is no file of tests\n`);
  process.exit(1);
}
