#!/usr/bin/env node
/** argv -> exit code; nothing else. */
import { BUILD, VERSION } from './base/version.ts';
import { endOnSignals, keepDebuggerClosed } from './cli/process/early-signals.ts';

const VERSION_WORDS = ['--version', '-V', 'version'];

keepDebuggerClosed();
endOnSignals();
const words = process.argv.slice(2);
if (isNodeTooOld(process.versions.node)) {
  process.stderr.write('hookshelf: Node 20.15 or later is needed (of 22, 22.2 or later); '
    + `this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else if (words.length === 1 && VERSION_WORDS.includes(words[0] ?? '')) {
  // Scripts ask for the version first: nothing else is loaded for them.
  process.stdout.write(`${words[0] === 'version' ? BUILD : VERSION}\n`);
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

/** Older Nodes have no `crc32` in node:zlib: an import of the store fails there. */
function isNodeTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 20 || major === 21 || (major === 20 && minor < 15) || (major === 22 && minor < 2);
}
