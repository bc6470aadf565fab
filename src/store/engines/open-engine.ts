/** Picks the engine for a URL. The code of an engine is loaded only when its URL is used. */
import { lazyImport } from '../../base/lazy-import.ts';
import type { Engine } from './engine.ts';
import { readPasswordFile } from './password-file.ts';
import type { PasswordFiles } from './password-file.ts';

const loadEtcdEngine = lazyImport(() => import('./etcd/etcd-engine.ts'));
const loadPostgresEngine = lazyImport(() => import('./postgres/postgres-engine.ts'));

/** Throws `usage` for a URL that is wrong. Nothing is connected yet. */
export async function openEngine(url: string, files: PasswordFiles): Promise<Engine> {
  const { passwordFile } = files;
  if (/^etcds?:/.test(url)) {
    return loadEtcdEngine(({ createEtcdEngine }) => createEtcdEngine({
      url, readPassword: () => passwordFile === null ? null : readPasswordFile(passwordFile),
    }));
  }
  return loadPostgresEngine(({ createPostgresEngine }) => createPostgresEngine(url, files));
}
