// Packages of the npm registry that are no dependencies, held to a checksum: npm takes no other bytes
// for them, and runs no script of theirs. Kept in node_modules/.cache/hookshelf.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// EX_UNAVAILABLE of sysexits.h: what is missing is the network, and nothing here is wrong.
const EXIT_UNREACHABLE = 69;

const root = resolve(import.meta.dirname, '..');

/** The folder of a package, installed at first need. Ends the process when it cannot be had. */
export function folderOfPackage({ name, version, integrity }) {
  const folder = join(root, 'node_modules/.cache/hookshelf', `${name}-${version}`);
  if (!existsSync(folder)) install({ name, version, integrity }, folder);
  return join(folder, 'node_modules', name);
}

// Elsewhere first, so that what lies at `folder` is always whole.
function install({ name, version, integrity }, folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const manifest = { dependencies: { [name]: version } };
  const lock = {
    lockfileVersion: 3,
    packages: { '': manifest, [`node_modules/${name}`]: { version, integrity } },
  };
  writeFileSync(join(unfinished, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(unfinished, 'package-lock.json'), JSON.stringify(lock));
  // --force: a runtime for another platform is wanted, whatever its package says it runs on.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--force', '--loglevel=error',
    '--fetch-retries=1'];
  const { NODE_EXTRA_CA_CERTS, TEST_CA_CERTS, ...env } = process.env;
  const certificates = NODE_EXTRA_CA_CERTS ?? TEST_CA_CERTS;
  if (certificates !== undefined) env.NODE_EXTRA_CA_CERTS = certificates;
  const result = spawnSync('npm', ['ci', ...options], {
    cwd: unfinished, env, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8',
  });
  if (result.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    process.stderr.write(`${result.stderr ?? ''}`
      + `hookshelf: cannot get ${name}@${version} from the npm registry\n`);
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
