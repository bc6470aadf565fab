/** Puts the package that speaks to PostgreSQL in its place, for tests with servers. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { postgresMissing as serversMissing } from './postgres-cluster.ts';

/** Why tests with PostgreSQL cannot run here; false when they can. */
export const postgresMissing = serversMissing === false ? installDriver() : serversMissing;

function installDriver(): string | false {
  const root = resolve(import.meta.dirname, '../../..');
  const result = spawnSync(process.execPath, ['.ci/postgres.mjs'], { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? false : `the package postgres is not to be had: ${result.stderr}`;
}
