/**
 * Reads the values of options that may come from a file or standard input. There are two kinds:
 *
 * - `--payload <json | @file | ->` takes the value itself; behind an `@` stands a path instead
 *   (`readJsonOption`, `readPlainOption`, `readUrlOption`).
 * - `--secret-file <file | ->` takes a path alone, without an `@`: its value is a secret, or too
 *   large for a command line (`readSecretOption`, `readBytesOption`, `readTextOption`).
 *
 * A secret on the command line is rejected, as other users of the machine can read arguments.
 */
import { isUtf8 } from 'node:buffer';
import { AppError, messageOf } from '../../base/errors.ts';
import { explainFileError } from '../../base/file-error.ts';
import {
  CONFIGURATION_BYTES_MAX, SECRET_FILE_BYTES_MAX, createTooLargeError, readBounded,
} from '../../base/files/bounded-read.ts';
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { parseJson, withoutByteOrderMark } from '../../base/json/parse.ts';
import { holdsSecret } from '../../base/log.ts';
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { findOwner } from '../api-client/local-app.ts';
import type { CommandContext } from './command-context.ts';
import { BODY_BYTES_MAX } from '../../settings/setting-table.ts';
import type { Io } from '../terminal/process-io.ts';

type JsonInput = {
  /** The bytes as the user gave them; they are sent unchanged. */
  readonly bytes: Buffer;
  readonly value: unknown;
};

export type JsonOptionRules = {
  /**
   * Whether JSON on the command line may hold what the log would hide, such as a member `password`.
   * `accepted` is for data that only looks like a secret: payloads, conditions, templates.
   */
  readonly inlineSecrets: 'rejected' | 'accepted';
  /** Its row, which says what of it is secret; without one names alone do. */
  readonly row?: MemberSchema;
  /** Throws `malformed`; `parseJson` by default. */
  readonly parse?: (bytes: Buffer) => unknown;
};

const STANDARD_INPUT = '-';

/**
 * Reads the JSON of an option that takes `<json | @file | ->`. Throws `usage` for invalid JSON,
 * with line and column, and for a secret on the command line; `too_large` for more than a request
 * may have.
 */
export async function readJsonOption(
  context: CommandContext, name: string,
  { inlineSecrets, row, parse = parseJson }: JsonOptionRules,
): Promise<JsonInput> {
  const bytes = await readValueOrFile(context, name, getBodyLimit);
  const value = parseOption(name, bytes, parse);
  if (inlineSecrets === 'rejected') {
    rejectInlineSecret(context, name, row === undefined ? value : dropNames(row, value));
  }
  return { bytes, value };
}

/** The same for a JSON object. Throws `usage` for another value. */
export async function readObjectOption(
  context: CommandContext, name: string, rules: JsonOptionRules,
): Promise<JsonObject> {
  const { value } = await readJsonOption(context, name, rules);
  if (isJsonObject(value)) return value;
  throw new AppError('usage', `--${name} is not a JSON object`);
}

function parseOption(name: string, bytes: Buffer, parse: (bytes: Buffer) => unknown): unknown {
  try {
    return parse(bytes);
  } catch (cause) {
    throw new AppError('usage', `--${name}: ${messageOf(cause)}`, {}, cause);
  }
}

/** The value without the names of members whose rows say whether they are secret. */
function dropNames({ schema, isSecret, isPublic }: MemberSchema, value: unknown): unknown {
  if (isPublic === true) return null;
  if (isSecret === true) return { secret: value };
  if (schema.kind !== 'object' || !isJsonObject(value)) return value;
  return Object.entries(value).map(([name, inner]) => {
    const row = Object.hasOwn(schema.members, name) ? schema.members[name] : undefined;
    return row === undefined ? { [name]: inner } : dropNames(row, inner);
  });
}

/**
 * Reads the JSON of `--payload <json | @file | ->`, and encodes the body of a request that has it
 * beside `members`. The text of the payload stays as the user wrote it. Throws as
 * `readJsonOption` does.
 */
export async function readBodyWithPayload(
  context: CommandContext, members: JsonObject,
): Promise<Buffer> {
  const { bytes } = await readJsonOption(context, 'payload', { inlineSecrets: 'accepted' });
  const head = encodeJson({ ...members, payload: 0 }).slice(0, -'0}'.length);
  return Buffer.concat([Buffer.from(head), withoutByteOrderMark(bytes), Buffer.from('}')]);
}

/**
 * Reads a secret from a file or standard input, without one trailing newline. Throws `invalid`, and
 * `too_large` for more than 8 KiB.
 */
export async function readSecretOption(context: CommandContext, name: string): Promise<string> {
  const bytes = await readFileOrStdin(context, context.args.get(name), name, getSecretLimit);
  const secret = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (secret === '') throw new AppError('invalid', `the secret of --${name} is empty`);
  if (!Buffer.from(secret).equals(bytes.subarray(0, Buffer.byteLength(secret)))) {
    throw new AppError('invalid', `the secret of --${name} is not UTF-8`);
  }
  return secret;
}

/** Reads the bytes of a body from a file, or from standard input when the path is `-`. */
export async function readBytesOption(context: CommandContext, name: string): Promise<Buffer> {
  return readFileOrStdin(context, context.args.get(name), name, getBodyLimit);
}

/** Reads headers from a file, or standard input when the path is `-`, without a byte order mark. */
export async function readTextOption(context: CommandContext, name: string): Promise<string> {
  const bytes = await readFileOrStdin(context, context.args.get(name), name, getHeadersLimit);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

/**
 * Reads the URL of an option that takes `<URL | @file | ->`. Throws `usage` for one on the command
 * line that holds a password or a token.
 */
export async function readUrlOption(context: CommandContext, name: string): Promise<string> {
  rejectInlineSecret(context, name, context.args.get(name));
  return (await readValueOrFile(context, name, getUrlLimit)).toString('utf8');
}

/**
 * Reads the text of an option that takes `<text | @file | ->`, as it is. Throws `invalid` for what
 * is not UTF-8, and `too_large` for more than a request may have.
 */
export async function readPlainOption(context: CommandContext, name: string): Promise<string> {
  const bytes = await readValueOrFile(context, name, getBodyLimit);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new AppError('invalid', `--${name} is not UTF-8`);
}

async function readValueOrFile(
  context: CommandContext, name: string, getLimit: GetInputLimit,
): Promise<Buffer> {
  const text = context.args.get(name);
  if (isInline(text)) return Buffer.from(text);
  return readFileOrStdin(context, text.replace(/^@/, ''), name, getLimit);
}

/** Throws `usage` when `value` stands on the command line and holds what the log would hide. */
function rejectInlineSecret({ args }: CommandContext, name: string, value: unknown): void {
  if (!isInline(args.get(name)) || !holdsSecret(value)) return;
  throw new AppError('usage', `--${name} holds a secret, which other users could see in the `
    + `process list; write it to a file and give --${name} @<file>`);
}

/** Whether the argument of `<… | @file | ->` is the value itself. */
function isInline(text: string): boolean {
  return text !== STANDARD_INPUT && !text.startsWith('@');
}

/** The most bytes that are read, and the error message for more. */
type InputLimit = { readonly bytesMax: number; readonly problem: string };
type GetInputLimit = (context: CommandContext) => InputLimit;

// A secret may end with a newline, which does not count.
const getSecretLimit: GetInputLimit = () => ({
  bytesMax: SECRET_FILE_BYTES_MAX + '\r\n'.length,
  problem: `it is larger than ${SECRET_FILE_BYTES_MAX} bytes, the most that a secret may have`,
});
const getUrlLimit: GetInputLimit = () => ({
  bytesMax: SECRET_FILE_BYTES_MAX,
  problem: `it is larger than ${SECRET_FILE_BYTES_MAX} bytes, the most that a URL may have`,
});
const getHeadersLimit: GetInputLimit = () => ({
  bytesMax: CONFIGURATION_BYTES_MAX,
  problem: `it is larger than ${CONFIGURATION_BYTES_MAX} bytes, the most that headers may have`,
});

/**
 * The limit for a body. Where a server may run the largest limit holds, and the server rejects what
 * is more than its own. The same holds for root, who reads files before it becomes the owner of the
 * data directory and reads the settings there.
 */
function getBodyLimit(context: CommandContext): InputLimit {
  const { identity, serverUrl } = context;
  const isOthers = serverUrl !== null || identity.needsSwitch
    || findOwner(context.enterDataAsOwner()) !== null;
  const bytesMax = isOthers ? BODY_BYTES_MAX : context.loadSettings().settings.server.maxBodyBytes;
  return { bytesMax, problem: `it is larger than ${bytesMax} bytes, the server.maxBodyBytes` };
}

async function readFileOrStdin(
  context: CommandContext, path: string, name: string, getLimit: GetInputLimit,
): Promise<Buffer> {
  const { bytesMax, problem } = getLimit(context);
  try {
    if (path === STANDARD_INPUT) return await readStandardInput(context.io, bytesMax);
    context.identity.prepareToRead(path);
    return readBounded(path, { bytesMax }).bytes;
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'too_large') {
      throw new AppError('too_large', `--${name}: ${problem}`, {}, cause);
    }
    throw new AppError('not_found', `--${name}: ${explainFileError(cause)}`, {}, cause);
  }
}

/** All of standard input. Throws `too_large` for more than `bytesMax`. */
export async function readStandardInput(io: Io, bytesMax: number): Promise<Buffer> {
  const bytes = new ByteCollector();
  for await (const chunk of io.stdin) {
    bytes.add(Buffer.from(chunk));
    if (bytes.length > bytesMax) throw createTooLargeError(bytesMax);
  }
  return bytes.take();
}
