/**
 * Reads `--client-certificate`: a file with the certificate, those of its issuers and the key in
 * PEM, in any order but that the certificate comes first of its kind; or the member as JSON.
 */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { listPemBlocks } from '../../../base/text/pem.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption } from '../option-input.ts';

const OPTION = 'client-certificate';

/** Throws `usage`, also for a key on the command line. The service checks certificate and key. */
export async function readClientCertificate(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, OPTION,
    { inlineSecrets: 'rejected', parse: parseCertificateFile });
  if (isJsonObject(value)) return value;
  throw new AppError('usage', `--${OPTION} is not a JSON object`);
}

/** Throws `malformed`. */
function parseCertificateFile(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (/^\s*[{["]/.test(text)) return parseJson(bytes);
  const blocks = listPemBlocks(text);
  if (blocks.length === 0) {
    throw new AppError('malformed', 'give @<file>, a file with the certificate and its key in PEM');
  }
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE');
  const others = blocks.filter(({ label }) => label !== 'CERTIFICATE');
  const join = (list: typeof blocks): string => list.map((block) => block.text).join('');
  return {
    ...certificates.length === 0 ? {} : { certificate: join(certificates) },
    ...others.length === 0 ? {} : { privateKey: join(others) },
  };
}
