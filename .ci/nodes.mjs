// What needs real engines: each of them as the store uses it, and several nodes over them with
// everything that can break. `node .ci/nodes.mjs` runs each fault in a life of its own, `node
// .ci/nodes.mjs short` some of them, one after another in few lives; files may be named instead.
// Needs a built program; what is not installed is skipped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';

const isShort = process.argv.includes('short');
const named = process.argv.slice(2).filter((word) => word !== 'short');
const files = named.length > 0 ? named : readdirSync('test/nodes', { recursive: true })
  .filter((name) => name.endsWith('.nodes.ts'))
  .map((name) => `test/nodes/${name}`)
  .sort();
console.log(`== real engines, and ${isShort ? 'some faults' : 'every fault'} of several nodes`);
// One at a time: each starts some ten processes. In the short form all of them mostly wait, for
// leases to end, so that those without clients that write all the time run beside the others.
const isBusy = (file) => /failures\/|frozen/.test(file);
const rows = isShort ? [files.filter(isBusy), files.filter((file) => !isBusy(file))] : [files];
const results = await Promise.all(rows.filter((row) => row.length > 0).map(run));
process.exitCode = Math.max(...results);

/** Runs files one after the other, and resolves with the code of the run. */
async function run(row, index) {
  const options = ['--import', 'tsx', '--test', '--test-concurrency=1', '--test-force-exit',
    '--test-reporter=./.ci/reporter.mjs', '--test-reporter-destination=stdout'];
  const runner = spawn(process.execPath, [...options, ...row], {
    stdio: ['inherit', index === 0 ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, NODES_FORM: isShort ? 'short' : 'long' },
  });
  // What the second run says is not to stand between lines of the first.
  const said = runner.stdout?.toArray() ?? [];
  const [code] = await once(runner, 'exit');
  if (index > 0) process.stdout.write(Buffer.concat(await said));
  return code ?? 1;
}
