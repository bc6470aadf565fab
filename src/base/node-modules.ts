/**
 * Modules of Node that are required instead of imported, as network-modules.ts explains. All of
 * node:util, ready at once, is 1.6 MB of resident memory on Node 26; what hashes, signs and draws
 * ids, 2.6 MB, waits until somebody asks (measured). They lie inside Node: a late load needs no
 * file. Types are imported as usual.
 */
import { createRequire } from 'node:module';

const load = createRequire('/');

export const util: typeof import('node:util') = load('node:util');

/** The first call takes some 4 ms, later ones half a microsecond. */
export function loadCrypto(): typeof import('node:crypto') {
  return load('node:crypto');
}

/** What was put into the single binary. */
export function loadSea(): typeof import('node:sea') {
  return load('node:sea');
}
