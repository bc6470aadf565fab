/** Reads files that hold passwords, which must be readable by their owner only. */
import { AppError } from '../../base/errors.ts';
import { explainFileError } from '../../base/file-error.ts';
import { CONFIGURATION_BYTES_MAX, readBounded } from '../../base/files/bounded-read.ts';
import { quotePath } from '../../base/text/shell-quote.ts';

export type PasswordFiles = {
  /** The setting `store.passwordFile` as an absolute path. */
  readonly passwordFile: string | null;
  /** The environment variable PGPASSFILE. */
  readonly passFile: string | null;
};

/** Reads the first line of a file that a setting or an option names. Throws `usage`. */
export function readPasswordFile(path: string): string {
  const [line = ''] = readPrivateFile(path, 'the password file').split(/\r?\n/);
  if (line !== '') return line;
  throw new AppError('usage', `the password file ${path} begins with an empty line; write the `
    + 'password there');
}

/** `name` describes the file in messages. Throws `usage`. */
export function readPrivateFile(path: string, name: string): string {
  try {
    // A password file in PostgreSQL's format may have lines for many databases.
    const { bytes, status } = readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX });
    if ((status.mode & 0o077) !== 0) {
      throw new AppError('usage',
        `${name} ${path} is open to other users; chmod 600 ${quotePath(path)}`);
    }
    return bytes.toString('utf8');
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'usage') throw thrown;
    throw new AppError('usage', `cannot read ${name}: ${explainFileError(thrown)}`, {}, thrown);
  }
}
