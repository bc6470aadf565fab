/** Reads the files of certificates and keys that settings and URLs name. */
import { AppError } from './errors.ts';
import { explainFileError } from './file-error.ts';
import { CONFIGURATION_BYTES_MAX, readBounded } from './files/bounded-read.ts';
import { findCertificateProblem, findKeyProblem, findPairProblem } from './text/pem-problems.ts';

/** `name` says in messages who names the file. */
type PemFile = { readonly name: string; readonly path: string };

/**
 * Throws `usage`, which says what is wrong with the file, also for a pipe: it is read again later,
 * and a pipe would be empty then.
 */
export function readCertificates(file: PemFile): Buffer {
  return readPem(file, findCertificateProblem);
}

/** A certificate and its key. Throws `usage`. */
export function readCertificateWithKey(
  certificateFile: PemFile, keyFile: PemFile,
): { readonly cert: Buffer; readonly key: Buffer } {
  const cert = readCertificates(certificateFile);
  const key = readPem(keyFile, (text) => findKeyProblem(text, keyFile.path));
  const problem = findPairProblem(cert.toString('latin1'), key.toString('latin1'));
  if (problem === null) return { cert, key };
  throw new AppError('usage', `${keyFile.name} (${keyFile.path}) ${problem} `
    + `(${certificateFile.name} is ${certificateFile.path})`);
}

function readPem(
  { name, path }: PemFile, findProblem: (text: string) => string | null,
): Buffer {
  let bytes: Buffer;
  try {
    ({ bytes } = readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular: true }));
  } catch (thrown) {
    throw new AppError('usage', `cannot read ${name}: ${explainFileError(thrown)}`, {}, thrown);
  }
  const problem = findProblem(bytes.toString('latin1'));
  if (problem === null) return bytes;
  throw new AppError('usage', `${name} (${path}): ${problem}`);
}
