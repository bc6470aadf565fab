/**
 * Loads modules while V8's optimizers stand by and its young generation stays small. Loading a
 * graph of modules makes Node's loader hot for a moment; to optimize what never runs again brings
 * in the compilers, and the garbage makes room that V8 keeps, on Node 26 for good as long as the
 * server is idle: 10.5 MB of 78 there, and 7 of 65 on Node 20, measured.
 *
 * The flags are changed for the whole process, so only a process that is ours alone loads so; and
 * only while nobody else has set them: what --jitless keeps off, a Node 26 does not survive.
 */
import { setFlagsFromString } from 'node:v8';

const QUIET = ['--no-opt', '--maglev-filter=-*', '--semi-space-growth-factor=1'];
/** What V8 begins with, in each Node that we run on. */
const STANDARD = ['--opt', '--maglev-filter=*', '--semi-space-growth-factor=2'];
const SET_BY_OTHERS =
  /(^| )--(no[-_]?)?(opt|turbofan|maglev|jitless|lite[-_]mode|semi[-_]space[-_]growth)/;

/** What `load` resolves with; from then on V8 does as it always does. */
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
