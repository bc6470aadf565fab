// Lets tests share processes: under Node 20 each costs 0.3 s of processor time, most of it for tsx.
// A file shares one when neither it nor what it imports of the tests touches what belongs to a whole
// process, has hooks that would be called for each test of the process, or waits before its tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const OWN = new RegExp([
  String.raw`\bprocess\.[a-z]`, String.raw`\bglobalThis\b`, String.raw`\bmock\b`,
  String.raw`\b(?:beforeEach|afterEach)\(`, String.raw`^(?:const \w+ = )?await\b`,
  'node:(?:async_hooks|child_process|cluster|diagnostics_channel|inspector|process|v8|vm|'
    + 'worker_threads)\\b',
].join('|'), 'm');
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const FILES_MAX = 12;

/** Calls `use` with what to run for these files, and removes what was made for it. */
export function withShared(files, use) {
  const alone = files.filter((file) => isAlone(resolve(file), new Set()));
  const others = files.filter((file) => !alone.includes(file));
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-tests-'));
  try {
    const shared = [];
    for (let at = 0; at < others.length; at += FILES_MAX) {
      const file = join(folder, `${at}.mjs`);
      writeFileSync(file, others.slice(at, at + FILES_MAX)
        .map((other) => `import ${JSON.stringify(pathToFileURL(resolve(other)))};\n`).join(''));
      shared.push(file);
    }
    return use([...shared, ...alone]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isAlone(file, seen) {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  return OWN.test(text) || [...text.matchAll(IMPORT)]
    .map(([, path]) => resolve(dirname(file), path))
    .some((path) => path.startsWith(resolve('test')) && isAlone(path, seen));
}
