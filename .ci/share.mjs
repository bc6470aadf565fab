// Which files of tests share a process. A file shares one when neither it nor what it imports of the
// tests touches what belongs to a whole process, has hooks that would be called for each test of the
// process, or waits before its tests.
import { readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { reachedFrom, readModule } from './imports.mjs';

const OWN = new RegExp([
  // To read what a run was told is nobody's own.
  String.raw`\bprocess\.(?!env\['\w+'\] ===)[a-z]`, String.raw`\bglobalThis\b`, String.raw`\bmock\b`,
  String.raw`\b(?:beforeEach|afterEach)\(`, String.raw`^(?:const \w+ = )?await\b`,
  'node:(?:async_hooks|child_process|cluster|diagnostics_channel|inspector|process|v8|vm|'
    + 'worker_threads)\\b',
].join('|'), 'm');
// It acts only when the process ends, whoever shares it.
const TEMPORARY_FOLDER = resolve('test/support/temporary-folder.ts');
const FILES_MAX = 12;

/**
 * Lists of files, one for each process: first those that take longest, last the shortest. Those that
 * start processes wait for half of their time, so that lists that only compute stand between them.
 */
export function shared(files) {
  const alone = files.filter((file) => isAlone(file));
  const others = files.filter((file) => !alone.includes(file));
  const lists = [];
  for (let at = 0; at < others.length; at += FILES_MAX) {
    lists.push(others.slice(at, at + FILES_MAX));
  }
  const isLong = (file) => file.includes('/e2e/');
  const eachAlone = (some) => some.map((file) => [file]);
  return [...spread(lists, eachAlone(alone.filter(isLong))),
    ...eachAlone(alone.filter((file) => !isLong(file)))];
}

/** `items` between `others`, as evenly as can be. */
function spread(items, others) {
  if (others.length === 0) return items;
  const placeOf = (index) => Math.floor(index * items.length / others.length);
  return others.flatMap((other, index) =>
    [other, ...items.slice(placeOf(index), placeOf(index + 1))]);
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

function isAlone(file) {
  const isFollowed = (path) => path.startsWith(resolve('test')) && path !== TEMPORARY_FOLDER;
  return [...reachedFrom(resolve(file), isFollowed).keys()]
    .some((path) => OWN.test(readModule(path).text));
}
