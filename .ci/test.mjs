// Runs every test through tsx, or the files named on the command line. HOOKSHELF_TEST_NODE names
// another node binary, so that both ends of the supported range run the same tests. Under Node 20 a
// test's time limit holds for a whole file, too.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { withShared } from './share.mjs';

const named = process.argv.slice(2);
const files = named.length > 0 ? named : readdirSync('test', { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('node_modules'))
  .map((name) => `test/${name}`)
  .sort();
const node = process.env.HOOKSHELF_TEST_NODE ?? process.execPath;
const options = ['--import', 'tsx', '--test', '--test-concurrency=3', '--test-timeout=600000',
  '--test-reporter=./.ci/reporter.mjs', '--test-reporter-destination=stdout'];
// Ours, not the program's: it refuses to start with a HOOKSHELF_ variable that it does not know.
const { HOOKSHELF_TEST_NODE: _, ...env } = process.env;
const { status } = withShared(files, (all) =>
  spawnSync(node, [...options, ...all], { stdio: 'inherit', env }));
process.exit(status ?? 1);
