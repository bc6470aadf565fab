#!/usr/bin/env node
/** argv -> exit code; nothing else. */
import { VERSION } from './base/version.ts';
import { endOnSignals, keepDebuggerClosed } from './cli/process/early-signals.ts';

const VERSION_WORDS = ['--version', '-V', 'version'];

keepDebuggerClosed();
endOnSignals();
const words = process.argv.slice(2);
if (words.length === 1 && VERSION_WORDS.includes(words[0] ?? '')) {
  // Scripts ask for the version first: nothing else is loaded for them.
  process.stdout.write(`${VERSION}\n`);
} else {
  // No top-level await: the single binary's bundle is a script, so that it loads modules lazily.
  // Both modules are loaded before anything runs: once a command has taken the rights of the data's
  // owner, it cannot read root's own program any more.
  void Promise.all([import('./cli/run.ts'), import('./cli/process/exit-code.ts')])
    .then(async ([{ run }, { exitDespiteThreads }]) => {
      process.exitCode = await run(words);
      exitDespiteThreads();
    });
}
