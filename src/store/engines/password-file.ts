/** Files that hold passwords: their owner alone may read them. */
import { statSync } from 'node:fs';
import { AppError, messageOf } from '../../base/errors.ts';
import { readSmallFile } from '../../base/files/small-file.ts';

/** The first line of the file that `store.passwordFile` names, or a command. Throws `usage`. */
export function readPasswordFile(path: string): string {
  const [line = ''] = readPrivate(path, 'the password file').split(/\r?\n/);
  if (line !== '') return line;
  throw new AppError('usage', `the password file ${path} begins with an empty line; write the `
    + 'password there');
}

/** `name` says what names the file. Throws `usage`. */
export function readPrivate(path: string, name: string): string {
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new AppError('usage', `${name} ${path} is open to other users; chmod 600 ${path}`);
    }
    return readSmallFile(path).toString('utf8');
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('usage', `cannot read ${name}: ${messageOf(thrown)}`, {}, thrown);
  }
}
