#!/usr/bin/env node
/** argv -> exit code; nothing else. */
import { run } from './cli/run.ts';

// No top-level await: the single binary's bundle is a script, so that it loads modules lazily.
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
