/** From the URL of a store to the engine behind it; each is loaded when it is named. */
import { late } from '../../base/late.ts';
import type { Engine } from './engine.ts';
import { readPasswordFile } from './password-file.ts';
import type { PasswordFiles } from './postgres/password.ts';

const withEtcd = late(() => import('./etcd/etcd-engine.ts'));
const withPostgres = late(() => import('./postgres/engine.ts'));

/** Throws `usage` for a URL that is wrong. Nothing is connected yet. */
export async function openEngine(url: string, files: PasswordFiles): Promise<Engine> {
  const { passwordFile } = files;
  if (/^etcds?:/.test(url)) {
    return withEtcd(({ createEtcdEngine }) => createEtcdEngine({
      url, readPassword: () => passwordFile === null ? null : readPasswordFile(passwordFile),
    }));
  }
  return withPostgres(({ createPostgresEngine }) => createPostgresEngine(url, files));
}
