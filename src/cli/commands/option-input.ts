/**
 * Reads option values from the command line, files or standard input. A secret is read from a file
 * or standard input alone; a URL or JSON on the command line that holds one is refused by
 * `rejectInlineSecret`, which its caller asks.
 */
import { AppError, messageOf } from '../../base/errors.ts';
import {
  CONFIGURATION_BYTES_MAX, SECRET_FILE_BYTES_MAX, createTooLargeError, readBounded,
} from '../../base/files/bounded-read.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { parseJson, withoutByteOrderMark } from '../../base/json/parse.ts';
import { holdsSecret } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { CommandContext } from './command-context.ts';
import { BODY_BYTES_MAX } from '../../settings/setting-table.ts';
import type { Io } from '../terminal/process-io.ts';

type JsonInput = {
  /** The bytes as the user gave them; they are sent unchanged. */
  readonly bytes: Buffer;
  readonly value: unknown;
};

const STANDARD_INPUT = '-';

/**
 * Reads the JSON of an option that takes `<json | @file | ->`. Throws `usage`, with line and
 * column, for invalid JSON, and `too_large` for more than a request may have. `parse` throws
 * `malformed`.
 */
export async function readJsonOption(
  context: CommandContext, name: string, parse: (bytes: Buffer) => unknown = parseJson,
): Promise<JsonInput> {
  const bytes = await readValueOrFile(context, name, getBodyLimit);
  try {
    return { bytes, value: parse(bytes) };
  } catch (cause) {
    throw new AppError('usage', `--${name}: ${messageOf(cause)}`, {}, cause);
  }
}

/** Encodes a body of `members` and a payload; the text of the payload stays as the user gave it. */
export function encodeWithPayload(members: JsonObject, payloadJson: Buffer): Buffer {
  const head = JSON.stringify({ ...members, payload: 0 }).slice(0, -'0}'.length);
  return Buffer.concat([Buffer.from(head), withoutByteOrderMark(payloadJson), Buffer.from('}')]);
}

/**
 * Throws `usage` when the value of an option that takes `<… | @file | ->` stands on the command
 * line and holds what the log would hide: other users of the machine can read arguments.
 */
export function rejectInlineSecret(
  { args }: CommandContext, name: string, value: unknown,
): void {
  if (isFileOrStdin(args.get(name)) || !holdsSecret(value)) return;
  throw new AppError('usage', `--${name} holds a secret, which other users could see in the `
    + `process list; write it to a file and give --${name} @<file>`);
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

/** A URL, which may hold a password, of an option that takes `<URL | @file | ->`. */
export async function readUrlOption(context: CommandContext, name: string): Promise<string> {
  return (await readValueOrFile(context, name, getUrlLimit)).toString('utf8');
}

async function readValueOrFile(
  context: CommandContext, name: string, getLimit: GetInputLimit,
): Promise<Buffer> {
  const text = context.args.get(name);
  return isFileOrStdin(text) ? readFileOrStdin(context, text.replace(/^@/, ''), name, getLimit)
    : Buffer.from(text);
}

function isFileOrStdin(text: string): boolean {
  return text === STANDARD_INPUT || text.startsWith('@');
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
 * The limit for a body. Root reads files before it becomes the owner of the data directory and
 * reads the settings there: until then the largest limit holds, and the app rejects the rest.
 */
function getBodyLimit(context: CommandContext): InputLimit {
  const bytesMax = context.identity.needsSwitch ? BODY_BYTES_MAX
    : context.loadSettings().settings.server.maxBodyBytes;
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
    throw new AppError('not_found', `--${name}: ${messageOf(cause)}`, {}, cause);
  }
}

async function readStandardInput(io: Io, bytesMax: number): Promise<Buffer> {
  const bytes = new ByteCollector();
  for await (const chunk of io.stdin) {
    bytes.add(Buffer.from(chunk));
    if (bytes.length > bytesMax) throw createTooLargeError(bytesMax);
  }
  return bytes.take();
}
