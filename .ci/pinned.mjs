// Packages of the npm registry that are no dependencies, held to a checksum: other bytes are not
// unpacked, and no script of theirs is run. Kept in node_modules/.cache/hookshelf.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

// EX_UNAVAILABLE of sysexits.h: what is missing is the network, and nothing here is wrong.
const EXIT_UNREACHABLE = 69;

const cache = resolve(import.meta.dirname, '../node_modules/.cache/hookshelf/packages');

/**
 * The folder of a package, there from the first need on, with all that it holds or `paths` of it.
 * Ends the process when it cannot be had.
 */
export function folderOfPackage({ name, version, integrity, paths = [] }) {
  const folder = join(cache, `${name}-${version}`);
  if (!existsSync(folder)) install({ name, version, integrity, paths }, folder);
  return folder;
}

// Elsewhere first, so that what lies at `folder` is always whole. A runtime is 3,400 files beside
// the one that is wanted: `npm ci` takes 30 s of processor time for them, this 5 s.
function install({ name, version, integrity, paths }, folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const fail = (code, message) => {
    rmSync(unfinished, { recursive: true, force: true });
    process.stderr.write(`hookshelf: ${name}@${version}: ${message}\n`);
    process.exit(code);
  };
  const { NODE_EXTRA_CA_CERTS, TEST_CA_CERTS, ...env } = process.env;
  const certificates = NODE_EXTRA_CA_CERTS ?? TEST_CA_CERTS;
  if (certificates !== undefined) env.NODE_EXTRA_CA_CERTS = certificates;
  const run = (program, words) => spawnSync(program, words, {
    cwd: unfinished, env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8',
  });
  const packed = run('npm', ['pack', `${name}@${version}`, '--ignore-scripts', '--prefer-offline',
    '--loglevel=error', '--fetch-retries=1']);
  if (packed.status !== 0) {
    // Other bytes than the registry knows are no missing network.
    fail(packed.stderr?.includes('EINTEGRITY') === true ? 1 : EXIT_UNREACHABLE,
      `cannot be had from the npm registry\n${packed.stderr ?? ''}`);
  }
  const archive = packed.stdout.trim();
  const digest = createHash('sha512').update(readFileSync(join(unfinished, archive)));
  if (`sha512-${digest.digest('base64')}` !== integrity) fail(1, 'has other bytes than are known');
  const wanted = paths.map((path) => `package/${path}`);
  const unpacked = run('tar', ['-xzf', archive, '--strip-components=1', ...wanted]);
  if (unpacked.status !== 0) fail(1, `cannot be unpacked\n${unpacked.stderr ?? ''}`);
  rmSync(join(unfinished, archive));
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Somebody else was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
