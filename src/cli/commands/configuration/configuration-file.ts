/**
 * Reads a file that says the configuration: JSON with the three arrays `actionConfigurations`,
 * `incomingWebhooks` and `outgoingWebhooks`, in which a reference may stand for any string. Which
 * records are valid is for the server to say.
 */
import { dirname, resolve } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import {
  CONFIGURATION_BYTES_MAX, DOCUMENT_BYTES_MAX, readBounded,
} from '../../../base/files/bounded-read.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJsonStrictly } from '../../../base/json/parse.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';
import type { Identity } from '../../process/identity.ts';
import type { Io } from '../../terminal/process-io.ts';
import { resolveReferences } from './references.ts';
import type { ResolvedDocument } from './references.ts';

export const STANDARD_INPUT = '-';

/** Members of the request that options set, by the option: a file holds records alone. */
const OPTION_OF_MEMBER: ReadonlyMap<string, string> = new Map([
  ['set', '--set <name>'], ['prune', '--prune'], ['dryRun', 'hookshelf apply --dry-run'],
  ['noOverlap', '--no-overlap'], ['keep', '--keep <member>'], ['yes', '--yes'],
]);

type FileDeps = {
  readonly identity: Identity;
  readonly environment: Io['environment'];
  /** Refuses pipes and devices: for a server, which reads the files again and must not wait. */
  readonly isRegular: boolean;
  /** Members that stored webhooks keep: see `ReferenceDeps`. */
  readonly keep: readonly string[];
};

/** Reads and parses a file. Throws as `readDocumentFile` and `parseConfiguration` do. */
export function readConfigurationFile(path: string, deps: FileDeps): ResolvedDocument {
  deps.identity.prepareToRead(path);
  return parseConfiguration(readDocumentFile(path, deps.isRegular), path, deps);
}

/** The bytes of a file that holds all records. Throws `not_found` when it cannot be read. */
export function readDocumentFile(path: string, isRegular: boolean): Buffer {
  try {
    return readBounded(path, { bytesMax: DOCUMENT_BYTES_MAX, isRegular }).bytes;
  } catch (cause) {
    throw new AppError('not_found', `cannot read ${path}: ${explainFileError(cause)}`, {}, cause);
  }
}

/**
 * The configuration document that `bytes` hold, its references resolved; relative files are below
 * the folder of `path`. Throws `malformed` with line and column for what is not JSON, and `invalid`
 * for what is no object and for references that stand for nothing.
 */
export function parseConfiguration(
  bytes: Buffer, path: string, { identity, environment, isRegular, keep }: FileDeps,
): ResolvedDocument {
  try {
    const document = parseDocument(bytes, path);
    return resolveReferences(document, {
      environment, keep, folder: dirname(resolve(path)),
      isReadLast: (file) => identity.isOwnersPath(file),
      readFile(file) {
        identity.prepareToRead(file);
        return readBounded(file, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular }).bytes;
      },
    });
  } catch (thrown) {
    throw thrown instanceof AppError ? nameFile(thrown, path) : thrown;
  }
}

/** The error with the file's name before it. */
export function nameFile(error: AppError, path: string): AppError {
  const name = path === STANDARD_INPUT ? 'standard input' : path;
  return new AppError(error.code, `${name}: ${error.message}`, error.details, error);
}

function parseDocument(bytes: Buffer, path: string): JsonObject {
  const document = parseUnlessHooks(bytes, path);
  if (!isJsonObject(document)) {
    throw new AppError('invalid',
      'must be a JSON object, such as { "incomingWebhooks": [{ "pathSegment": "gh" }] }');
  }
  for (const [member, option] of OPTION_OF_MEMBER) {
    if (!Object.hasOwn(document, member)) continue;
    throw new AppError('invalid', `/${member}: is not said by the file, but by ${option}`);
  }
  return document;
}

/** A member that each hook of adnanh/webhook has. People write their files in YAML, too. */
const HOOK_MEMBER = 'execute-command';

/** Throws as `parseJsonStrictly`, and `invalid` for a hooks file of adnanh/webhook. */
function parseUnlessHooks(bytes: Buffer, path: string): unknown {
  let document: unknown;
  let problem: unknown = null;
  try {
    document = parseJsonStrictly(bytes);
  } catch (thrown) {
    problem = thrown;
  }
  const isDocument = isJsonObject(document) && !Object.hasOwn(document, HOOK_MEMBER);
  if (!isDocument && bytes.includes(HOOK_MEMBER)) {
    throw new AppError('invalid', 'these are hooks of adnanh/webhook, to convert first: hookshelf '
      + `config:convert --from adnanh ${shellQuote(path)} > shelf.json`, {}, problem);
  }
  if (problem !== null) throw problem;
  return document;
}
