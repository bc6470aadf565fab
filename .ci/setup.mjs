// Installs the development packages when they are missing or other than the lock file says. With
// `build` only what the program is built with, for `npm start`; else also those of .ci, for
// the tests, types, and `npm run dev`. No script of a package is run, and once installed,
// nothing here needs the network again.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as zlib from 'node:zlib';

if (zlib.crc32 === undefined) {
  process.stderr.write('hookshelf: Node 20.15 or later is needed (of 22, 22.2 or later); '
    + `this is Node ${process.versions.node}\n`);
  process.exit(1);
}

const isForBuild = process.argv[2] === 'build';
const manifests = isForBuild ? ['package.json'] : ['package.json', '.ci/package.json'];
const names = manifests.flatMap((path) => Object.keys(read(path).devDependencies));

if (!isInstalled()) {
  const what = isForBuild ? 'esbuild' : 'the development packages';
  process.stderr.write(`hookshelf: fetching ${what} from the npm registry, this once\n`);
  // NODE_ENV=production would leave them out, so they are asked for by name.
  const arguments_ = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund',
    '--no-update-notifier',
    '--loglevel=error', ...isForBuild ? ['--workspaces=false'] : []];
  const result = spawnSync('npm', arguments_, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) {
    process.stderr.write('hookshelf: npm ci failed; the first run needs the npm registry\n');
    process.exit(result.status ?? 1);
  }
}

// npm writes what it installed into node_modules, last of all.
function isInstalled() {
  const wanted = read('package-lock.json').packages;
  let installed;
  try {
    installed = read('node_modules/.package-lock.json').packages;
  } catch {
    return false;
  }
  const isSame = (path) => installed[path]?.integrity === wanted[path]?.integrity;
  return names.every((name) => Object.hasOwn(installed, `node_modules/${name}`))
    && Object.keys(installed).every(isSame);
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
