/**
 * Lets the heap of a server grow further before V8 does a full collection. Records lie in buffers,
 * and V8 takes the growth of buffers for future garbage: with the small heap of an idle server it
 * did a full marking for each 7 MB of new records, which are 3,000 requests of 2 KB.
 *
 * V8's flags apply to the whole process, so only `serve` sets this, never a program that embeds us;
 * not under a memory cap, and not where somebody else has set the flag.
 */
import { setFlagsFromString } from 'node:v8';

// Percent of what is alive after a collection; V8 allows no more. To store a request with its
// result takes 35 µs of CPU time with it instead of 41 (bench `inbox-all`).
const GROWTH_PERCENT = 300;
const SET_BY_OTHERS = /(^| )--heap[-_]growing[-_]percent/;

/** Call it once the data is loaded: loading leaves garbage that should be collected early. */
export function letHeapGrow(): void {
  const nodeOptions = [...process.execArgv, process.env['NODE_OPTIONS']].join(' ');
  if (SET_BY_OTHERS.test(nodeOptions)) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
