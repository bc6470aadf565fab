/**
 * Preloaded into a process (`--import`) where strace(1) is missing: writes the file calls of the
 * process to the file that TRACE names, a line each, in strace's words.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { promisify } from 'node:util';

type Call = (...words: unknown[]) => unknown;

const write = fs.writeSync;
const open = fs.openSync;
const trace = open(process.env['TRACE'] ?? '', 'w');
const paths = new Map<unknown, unknown>();
const table: Record<string, unknown> = Object(fs);

// Calls in the thread pool end in any order, and are told apart by their thread.
let threads = process.pid;

function say(line: string, thread = process.pid): void {
  write(trace, `${thread} ${line}\n`);
}

function described(descriptor: unknown): string {
  return `${descriptor}<${paths.get(descriptor)}>`;
}

function replace(name: string, wrap: (real: Call) => Call): void {
  const real = table[name];
  if (typeof real === 'function') table[name] = wrap((...words) => Reflect.apply(real, fs, words));
}

replace('openSync', (real) => (path, flags, mode) => {
  const descriptor = real(path, flags, mode);
  paths.set(descriptor, path);
  const made = typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0 ? 'O_CREAT' : '';
  say(`openat("${path}", ${made}) = ${described(descriptor)}`);
  return descriptor;
});

const BY_DESCRIPTOR = [
  ['writeSync', 'write', 'pwrite64'], ['fdatasyncSync', 'fdatasync', 'fdatasync'],
  ['fsyncSync', 'fsync', 'fsync'], ['ftruncateSync', 'ftruncate', 'ftruncate'],
  ['closeSync', 'close', 'close'],
] as const;

for (const [blocking, pooled, name] of BY_DESCRIPTOR) {
  const start = (descriptor: unknown, second: unknown): string => {
    const text = Buffer.isBuffer(second) ? JSON.stringify(second.toString('latin1')) : second;
    return `${name}(${described(descriptor)}${text === undefined ? '' : `, ${text}`}`;
  };
  replace(blocking, (real) => (...words) => {
    const line = start(words[0], words[1]);
    const result = real(...words);
    say(`${line}) = ${result ?? 0}`);
    return result;
  });
  replace(pooled, (real) => {
    const call = (...words: unknown[]): unknown => {
      const done = words.pop();
      threads += 1;
      const thread = threads;
      say(`${start(words[0], words[1])} <unfinished ...>`, thread);
      return real(...words, (error: unknown, ...results: unknown[]) => {
        say(`<... ${name} resumed>) = ${error === null ? 0 : -1}`, thread);
        if (typeof done === 'function') done(error, ...results);
      });
    };
    return Object.assign(call, {
      // What Node's own gives: more than one result, by name.
      [promisify.custom]: (...words: unknown[]) => new Promise((resolve, reject) => {
        call(...words, (error: Error | null, count: unknown) => {
          if (error === null) resolve({ bytesWritten: count });
          else reject(error);
        });
      }),
    });
  });
}

for (const [blocking, call] of [['renameSync', 'rename'], ['unlinkSync', 'unlink']] as const) {
  replace(blocking, (real) => (...words) => {
    const result = real(...words);
    say(`${call}(${words.map((path) => `"${path}"`).join(', ')}) = 0`);
    return result;
  });
}
replace('unlink', (real) => (path, done) => {
  say(`unlink("${path}") = 0`);
  return real(path, done);
});

const socket: Record<string, unknown> = Object(net.Socket.prototype);
for (const name of ['_write', '_writev']) {
  const real = socket[name];
  if (typeof real !== 'function') continue;
  socket[name] = function (this: unknown, data: unknown, ...rest: unknown[]): unknown {
    const [first] = Array.isArray(data) ? data : [{ chunk: data }];
    const text = String(Object(first).chunk).slice(0, 200);
    say(`write(0<socket>, ${JSON.stringify(text)}) = 1`);
    return Reflect.apply(real, this, [data, ...rest]);
  };
}
syncBuiltinESMExports();
