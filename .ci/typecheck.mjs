// `npm run typecheck`: checks the types of sources, tests and the console, and again only what has
// changed since. Prints nothing when all is well. Options are those of tsc.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache/hookshelf');

for (const [name, project] of [['all', '.'], ['console', 'src/console']]) {
  const { status } = spawnSync(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, project), '--noEmit',
    '--incremental', '--tsBuildInfoFile', join(cache, `typecheck-${name}`),
    ...process.argv.slice(2),
  ], { stdio: 'inherit' });
  process.exitCode ||= status ?? 1;
}
