// What needs real engines: each of them as the store uses it, and several nodes over them with
// everything that can break. `node .ci/nodes.mjs` runs each fault in a life of its own, `node
// .ci/nodes.mjs short` some of them, one after another in few lives, and half of the other files, by
// turns; files may be named instead.
// Needs a built program; what is not installed is skipped.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { bundleTests, withFolder } from './bundle.mjs';
import { turnOf } from './share.mjs';

const isShort = process.argv.includes('short');
const named = process.argv.slice(2).filter((word) => word !== 'short');
const files = named.length > 0 ? named : readdirSync('test/nodes', { recursive: true })
  .filter((name) => name.endsWith('.nodes.ts'))
  .map((name) => `test/nodes/${name}`)
  .sort()
  .filter((file, index) => !isShort || file.includes('/failures/') || index % 2 === turnOf(2));
console.log(`== real engines, and ${isShort ? 'some faults' : 'every fault'} of several nodes`);
// One at a time: each starts some ten processes.
const options = ['--test', '--test-concurrency=1', '--test-force-exit',
  '--test-reporter=./.ci/reporter.mjs', '--test-reporter-destination=stdout'];
process.exitCode = await withFolder(async (folder) => {
  const bundles = await bundleTests(files.map((file) => [file]), folder);
  const { status } = spawnSync(process.execPath, [...options, ...bundles], {
    stdio: 'inherit', env: { ...process.env, NODES_FORM: isShort ? 'short' : 'long' },
  });
  return status ?? 1;
});
