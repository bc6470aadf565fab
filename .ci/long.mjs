// `npm run test:long [-- <part> …]`: what takes too long for each `npm test`, in parts, each of
// them, or those that are named. `turn` names the one whose turn it is by the commit, so that CI
// runs all of them within some landings. A file of tests is long when its name ends with `.long.ts`
// (`npm test` passes it over) or when it asks for `IS_LONG` of test/support/long.ts (`npm test` runs
// it with few rounds). Its part is the first one below that its path fits.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { reachedFrom } from './imports.mjs';
import { findTests, turnOf } from './share.mjs';

const PARTS = {
  memory: /memory|constrained|full-disk/,
  kills: /kill|restart|durab|activation|own-backups|cli-stop/,
  crash: /crash/,
  root: /\/root/,
  packaging: /e2e\/(binary|build|ci|container|installs|package)/,
  manual: /manual|docs|adnanh/,
  'console-catalog': /console-(book|bulk|catalog|duplicates|reading)/,
  'console-hooks':
    /console-(actions|credentials|customer|deliveries|events|incoming|outgoing|requests|routes)/,
  console: /console/,
  nodes: /^test\/(nodes|store)\//,
  formats: /^test\/books\/transfer\//,
  books: /^test\/books\//,
  webhooks: /^test\/webhooks\//,
  others: /^/,
};
const NAMES = Object.keys(PARTS);
const LONG_MODULE = resolve('test/support/long.ts');

const words = process.argv.slice(2);
const unknownWord = words.find((word) => word !== 'turn' && !NAMES.includes(word));
if (unknownWord !== undefined) {
  process.stderr.write(`hookshelf: no part ${unknownWord}; there are ${NAMES.join(', ')}\n`);
  process.exit(1);
}
const parts = words.length === 0 ? NAMES
  : [...new Set(words.map((word) => word === 'turn' ? NAMES[turnOf(NAMES.length)] : word))];
const files = findTests(/\.(test|long)\.ts$/)
  .filter((file) => parts.includes(partOf(file)) && isLong(file));
console.log(`== long tests: ${parts.join(', ')} (${files.length} files)`);
if (files.length > 0) {
  const { status } = spawnSync(process.execPath, ['.ci/test.mjs', ...files],
    { stdio: 'inherit', env: { ...process.env, TEST_LONG: '1' } });
  process.exitCode = status ?? 1;
}

function partOf(file) {
  return NAMES.find((name) => PARTS[name].test(file));
}

function isLong(file) {
  const isOfTests = (path) => path.startsWith(resolve('test'));
  return file.endsWith('.long.ts') || reachedFrom(resolve(file), isOfTests).has(LONG_MODULE);
}
