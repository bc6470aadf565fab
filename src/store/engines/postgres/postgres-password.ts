/**
 * Finds the password of a PostgreSQL user: in the URL, else in the file `store.passwordFile`, else
 * in the file that PGPASSFILE names, whose lines are `host:port:database:user:password`, with
 * `*` for any and `\` before a `:` or `\` that is meant (PostgreSQL's chapter "The Password File").
 * Files are read at each connection, so that a password can be changed while the server runs.
 */
import { readPasswordFile, readPrivateFile } from '../password-file.ts';
import type { PostgresAddress, PostgresHost } from './postgres-url.ts';

export type PasswordFiles = {
  /** The setting `store.passwordFile` as an absolute path. */
  readonly passwordFile: string | null;
  /** The environment variable PGPASSFILE. */
  readonly passFile: string | null;
};

/** Null when none is given. Throws `usage` for a file that cannot be used. */
export function findPassword(
  address: PostgresAddress, { host, port }: PostgresHost, files: PasswordFiles,
): string | null {
  if (address.password !== null) return address.password;
  if (files.passwordFile !== null) return readPasswordFile(files.passwordFile);
  if (files.passFile === null) return null;
  const criteria = [host.startsWith('/') ? 'localhost' : host, String(port), address.database,
    address.user];
  for (const line of readPrivateFile(files.passFile, 'the file of PGPASSFILE').split(/\r?\n/)) {
    const fields = line.startsWith('#') ? [] : splitFields(line);
    const [password] = fields.slice(criteria.length);
    const isMatch = criteria.every((value, index) => ['*', value].includes(fields[index] ?? ''));
    if (isMatch && password !== undefined) return password;
  }
  return null;
}

function splitFields(line: string): string[] {
  return [...line.matchAll(/(?:^|:)((?:\\.|[^\\:])*)/g)]
    .map(([, field = '']) => field.replace(/\\(.)/g, '$1'));
}
