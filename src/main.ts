#!/usr/bin/env node
/** argv -> exit code; nothing else. */
import { endOnSignals } from './cli/process/early-signals.ts';

endOnSignals();
// No top-level await: the single binary's bundle is a script, so that it loads modules lazily.
void import('./cli/run.ts').then(({ run }) => run(process.argv.slice(2))).then((code) => {
  process.exitCode = code;
});
