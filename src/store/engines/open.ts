/** From the URL of a store to the engine behind it; each is loaded when it is named. */
import { late } from '../../base/late.ts';
import type { Engine } from './engine.ts';
import type { PasswordFiles } from './postgres/password.ts';

const withPostgres = late(() => import('./postgres/engine.ts'));

/** Throws `usage` for a URL that is wrong. Nothing is connected yet. */
export async function openEngine(url: string, files: PasswordFiles): Promise<Engine> {
  return withPostgres(({ createPostgresEngine }) => createPostgresEngine(url, files));
}
