/**
 * Loads modules while V8 does not optimize and its young generation stays small. Otherwise V8 would
 * optimize what loads them, which never runs again, and take its own compiler into memory for it:
 * 6 MB of 64 on Node 20 until the first idle seconds, and 1.6 MB of 69 on Node 26 for as long as
 * the server is idle, measured.
 *
 * V8's flags count for the whole process, so only `serve` loads so, never a program that embeds us;
 * and only where nobody has set these flags: to turn on what --jitless keeps off ends a Node 26.
 */
import { setFlagsFromString } from 'node:v8';

const QUIET = ['--no-opt', '--maglev-filter=-*', '--semi-space-growth-factor=1'];
/** V8's defaults in every Node that we run on. */
const STANDARD = ['--opt', '--maglev-filter=*', '--semi-space-growth-factor=2'];
const SET_BY_OTHERS =
  /(^| )--(no[-_]?)?(opt|turbofan|maglev|jitless|lite[-_]mode|semi[-_]space[-_]growth)/;

/** Resolves with what `load` does; V8 has its default flags again by then. */
export async function loadQuietly<T>(load: () => Promise<T>): Promise<T> {
  const given = [...process.execArgv, process.env['NODE_OPTIONS']].join(' ');
  if (SET_BY_OTHERS.test(given)) return load();
  QUIET.forEach(setFlag);
  try {
    return await load();
  } finally {
    STANDARD.forEach(setFlag);
  }
}

function setFlag(flag: string): void {
  setFlagsFromString(flag);
}
