// Installs the development packages when they are missing or older than the lock file.
// NODE_ENV=production would leave them out, so they are asked for by name; once installed, nothing
// here needs the network again.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const wanted = readFileSync('package-lock.json', 'utf8');
const stampPath = 'node_modules/.hookshelf-lock.json';

if (readStamp() !== wanted) {
  const arguments_ = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync('npm', arguments_, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) {
    process.stderr.write('hookshelf: npm ci failed; the first run needs the npm registry\n');
    process.exit(result.status ?? 1);
  }
  writeFileSync(stampPath, wanted);
}

function readStamp() {
  try {
    return readFileSync(stampPath, 'utf8');
  } catch {
    return null;
  }
}
