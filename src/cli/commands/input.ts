/** Reads what options name: JSON in place, a file or standard input; secrets never in place. */
import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../../base/errors.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { parseJson, withoutByteOrderMark } from '../../base/json/parse.ts';
import { holdsSecret } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { CommandContext } from './context.ts';
import type { Io } from '../terminal/io.ts';

type JsonInput = {
  /** The bytes as given, which are what is sent. */
  readonly bytes: Buffer;
  readonly value: unknown;
};

const STANDARD_INPUT = '-';
const INPUT_BYTES_MAX = 268_435_456;

/**
 * The JSON of an option that takes `<json | @file | ->`. Throws `usage`, with line and column,
 * when it is none.
 */
export async function readJsonOption(context: CommandContext, name: string): Promise<JsonInput> {
  const bytes = await readInPlace(context, name);
  try {
    return { bytes, value: parseJson(bytes) };
  } catch (cause) {
    throw new AppError('usage', `--${name}: ${messageOf(cause)}`, {}, cause);
  }
}

/** A body of `members` and a payload, whose text is sent as it was given. */
export function withPayload(members: JsonObject, payloadJson: Buffer): Buffer {
  const head = JSON.stringify({ ...members, payload: 0 }).slice(0, -'0}'.length);
  return Buffer.concat([Buffer.from(head), withoutByteOrderMark(payloadJson), Buffer.from('}')]);
}

/**
 * Throws `usage` when an option that takes `<… | @file | ->` has `value` in place and it holds what
 * the log would hide: other users of the machine can read arguments.
 */
export function refuseSecretInPlace(
  { given }: CommandContext, name: string, value: unknown,
): void {
  if (isElsewhere(given.get(name)) || !holdsSecret(value)) return;
  throw new AppError('usage', `--${name} holds a secret, which other users could see in the `
    + `process list; write it to a file and give --${name} @<file>`);
}

/** A secret from a file or standard input, without one trailing newline. Throws `invalid`. */
export async function readSecretOption(context: CommandContext, name: string): Promise<string> {
  const bytes = await readNamed(context, context.given.get(name), name);
  const secret = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (secret === '') throw new AppError('invalid', `the secret of --${name} is empty`);
  if (!Buffer.from(secret).equals(bytes.subarray(0, Buffer.byteLength(secret)))) {
    throw new AppError('invalid', `the secret of --${name} is not UTF-8`);
  }
  return secret;
}

/** The bytes of a file, or of standard input when the path is `-`. */
export async function readBytesOption(context: CommandContext, name: string): Promise<Buffer> {
  return readNamed(context, context.given.get(name), name);
}

/** Text from a file, or from standard input when the path is `-`; no byte order mark. */
export async function readTextOption(context: CommandContext, name: string): Promise<string> {
  const bytes = await readNamed(context, context.given.get(name), name);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

/** Text of an option that takes `<text | @file | ->`. */
export async function readNamedText(context: CommandContext, name: string): Promise<string> {
  return (await readInPlace(context, name)).toString('utf8');
}

async function readInPlace(context: CommandContext, name: string): Promise<Buffer> {
  const text = context.given.get(name);
  return isElsewhere(text) ? readNamed(context, text.replace(/^@/, ''), name) : Buffer.from(text);
}

function isElsewhere(text: string): boolean {
  return text === STANDARD_INPUT || text.startsWith('@');
}

async function readNamed(
  { io, identity }: CommandContext, path: string, name: string,
): Promise<Buffer> {
  try {
    if (path === STANDARD_INPUT) return await readStandardInput(io);
    identity.prepareToRead(path);
    return readFileSync(path);
  } catch (cause) {
    throw new AppError('not_found', `--${name}: ${messageOf(cause)}`, {}, cause);
  }
}

async function readStandardInput(io: Io): Promise<Buffer> {
  const bytes = new ByteCollector();
  for await (const chunk of io.stdin) {
    bytes.add(Buffer.from(chunk));
    if (bytes.length > INPUT_BYTES_MAX) {
      throw new AppError('too_large', 'standard input is too long');
    }
  }
  return bytes.take();
}
