/**
 * Lets the heap of a server grow further before V8 collects all of it. Records lie in buffers, and
 * V8 counts what buffers have grown by as if it were garbage to come: with the small heap of an
 * idle server it marked everything anew for each 7 MB of records kept, 3,000 requests of 2 KB.
 *
 * V8's flags count for the whole process, so only `serve` does so, never a program that embeds us;
 * not under a memory cap, and only where nobody has set this.
 */
import { setFlagsFromString } from 'node:v8';

// Of what is alive after a collection: as far as V8 lets a heap grow at most. Keeping a request
// with its result takes a tenth fewer instructions so: 347k of them became 311k.
const GROWTH_PERCENT = 300;
const SET_BY_OTHERS = /(^| )--heap[-_]growing[-_]percent/;

/** To be called once what is on disk is in memory: loading it leaves garbage that has to go. */
export function letHeapGrow(): void {
  const nodeOptions = [...process.execArgv, process.env['NODE_OPTIONS']].join(' ');
  if (SET_BY_OTHERS.test(nodeOptions)) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
