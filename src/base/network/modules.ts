/**
 * Node's network modules, required instead of imported. An import makes every export of a module
 * ready at once: for node:http of Node 26 that is a whole second HTTP client, 17 MB of resident
 * memory and 20 ms of start (measured), which nobody here uses. TLS, 8 MB more, waits until
 * somebody speaks it. Types are imported as usual.
 */
import { createRequire } from 'node:module';

// Built-in modules are found from any place; a bundle has none of its own.
const load = createRequire('/');

export const http: typeof import('node:http') = load('node:http');

export function loadHttps(): typeof import('node:https') {
  return load('node:https');
}

export function loadTls(): typeof import('node:tls') {
  return load('node:tls');
}
