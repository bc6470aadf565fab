/**
 * Loads modules of Node by `require` instead of `import`. An import makes every export of a module
 * ready at once: for node:http of Node 26 that is a second HTTP client, which nothing here uses. An
 * idle server grows from 1.36 times the size of a bare one to 1.52 with node:http imported, to 1.43
 * with TLS, to 1.41 with node:crypto (measured; 1.40 is the limit). TLS and node:crypto are loaded
 * at their first use. Types are imported as usual.
 */
import { createRequire } from 'node:module';

// Any path will do: built-in modules are found from everywhere.
const load = createRequire('/');

export const http: typeof import('node:http') = load('node:http');

const util: typeof import('node:util') = load('node:util');

export const { parseArgs, promisify } = util;

export function loadHttps(): typeof import('node:https') {
  return load('node:https');
}

export function loadTls(): typeof import('node:tls') {
  return load('node:tls');
}

let crypto: typeof import('node:crypto') | null = null;

/** The first call takes some 4 ms; asking the loader again would take half a microsecond. */
export function loadCrypto(): typeof import('node:crypto') {
  crypto ??= load('node:crypto') as typeof import('node:crypto');
  return crypto;
}

/** A server that nobody measures is 0.3 MB smaller without it. */
export function loadPerfHooks(): typeof import('node:perf_hooks') {
  return load('node:perf_hooks');
}

/** Access to the assets of the single binary. */
export function loadSea(): typeof import('node:sea') {
  return load('node:sea');
}

/** Throws where Node was built without an inspector. */
export function loadInspector(): typeof import('node:inspector') {
  return load('node:inspector');
}
