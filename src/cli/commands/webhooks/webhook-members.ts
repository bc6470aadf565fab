/**
 * Reads the members of webhooks whose options are not read as the kind of the member asks: members
 * with several options, and those that people write shorter than JSON. Each throws `usage`.
 */
import { AppError, messageOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { isSecretName } from '../../../base/log.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { listPemBlocks } from '../../../base/text/pem.ts';
import { verificationSchema } from '../../../webhooks/incoming/verification-member.ts';
import { DEFAULT_CONTENT_TYPE } from '../../../webhooks/members/target-rules.ts';
import { isJsonType } from '../../../webhooks/members/templates/content-type.ts';
import { parseTemplateJson } from '../../../webhooks/members/templates/body-template.ts';
import type { CommandContext } from '../command-context.ts';
import {
  readJsonOption, readObjectOption, readPlainOption, readTextOption, readUrlOption,
} from '../option-input.ts';
import { parseNames } from '../option-members.ts';
import type { OptionReaders } from '../option-members.ts';
import { parseHeaderLine } from './header-line.ts';

export const WEBHOOK_READERS: OptionReaders = {
  enabled: () => false,
  // `readSecretFile` and `generateSecret` have it.
  secret: () => undefined,
  targetUrl: async (context) => (await readUrlOption(context, 'target-url')).trim(),
  headers: readHeaders,
  payloadTemplate: readTemplate,
  // A webhook has one of the two members: the other is removed.
  triggerEvent: ({ args }) => {
    const [first = null, ...others] = args.all('trigger-event');
    return others.length === 0 ? first : null;
  },
  triggerEvents: ({ args }) => {
    const events = args.all('trigger-event');
    return events.length > 1 ? events : null;
  },
  retryOn: readRetryOn,
  rate: readRate,
  order: readOrder,
  clientCertificate: readClientCertificate,
  verification: readVerification,
  allowedMethods: ({ args }) => parseNames(args.all('allowed-methods'))
    .map((method) => method.toUpperCase()),
  deduplicate: readDeduplicate,
};

/**
 * Combines `--headers-file` and `--header`. Throws `usage` for a header that stands twice, or whose
 * value may be a secret that other users could see.
 */
async function readHeaders(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const optionHeaders = args.all('header').map((line) => parseHeaderLine(line, '--header'));
  const secretName = optionHeaders.find(([name]) => isSecretName(name))?.[0];
  if (secretName !== undefined) {
    throw new AppError('usage', `--header ${secretName} may be a secret, which other users could `
      + 'see in the process list; write it to a file and give --headers-file <file>');
  }
  const fileHeaders = args.has('headers-file')
    ? parseHeadersFile(await readTextOption(context, 'headers-file')) : [];
  const headers = [...fileHeaders, ...optionHeaders];
  const names = headers.map(([name]) => name.toLowerCase());
  const twice = headers.find(([name], index) => names.indexOf(name.toLowerCase()) < index)?.[0];
  if (twice !== undefined) throw new AppError('usage', `the header ${twice} stands twice`);
  return Object.fromEntries(headers);
}

/** Parses a JSON object, or one header a line. */
function parseHeadersFile(text: string): (readonly [name: string, value: JsonValue])[] {
  if (!text.trimStart().startsWith('{')) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    return lines.map((line) => parseHeaderLine(line, '--headers-file'));
  }
  try {
    const headers = parseJson(Buffer.from(text));
    if (isJsonObject(headers)) {
      // Objects are passed on: the service rejects them and names the header.
      return Object.entries(headers).map(([name, value]) =>
        [name, typeof value === 'object' ? value : String(value)]);
    }
  } catch {
    // The message of JSON.parse would show a piece of the file: another is thrown below.
  }
  throw new AppError('usage', '--headers-file is not a JSON object of names and values');
}

/**
 * Reads a template as it is. One of JSON is parsed for its errors; where a webhook is changed, the
 * stored type is not known here, and the service checks the template.
 */
async function readTemplate(context: CommandContext): Promise<string> {
  const { args } = context;
  const storedType = args.has('identifier') ? null : DEFAULT_CONTENT_TYPE;
  const contentType = args.find('content-type') ?? storedType;
  if (contentType === null || !isJsonType(contentType)) {
    return readPlainOption(context, 'payload-template');
  }
  const parse = (json: Buffer): unknown => {
    try {
      return parseTemplateJson(json);
    } catch (thrown) {
      if (args.has('content-type')) throw thrown;
      throw new AppError('malformed', `${messageOf(thrown)}; for plain text give --content-type `
        + 'text/plain');
    }
  };
  const { bytes } =
    await readJsonOption(context, 'payload-template', { inlineSecrets: 'accepted', parse });
  return bytes.toString('utf8');
}

/** Reads `--retry-on`: `none`, statuses and classes with commas between them, or a JSON array. */
async function readRetryOn(context: CommandContext): Promise<JsonValue> {
  const text = context.args.get('retry-on');
  if (text === 'none') return [];
  if (text.startsWith('[')) return readInlineJson(context, 'retry-on');
  return text.split(',').map((item) => item.trim())
    .map((item) => WHOLE_NUMBER.test(item) ? Number(item) : item);
}

/** Reads `--rate`: attempts and seconds, such as 100/60, or JSON. Throws `usage`. */
async function readRate(context: CommandContext): Promise<JsonValue> {
  const text = context.args.get('rate');
  if (text.startsWith('{')) return readInlineJson(context, 'rate');
  const [limit = '', seconds = '', ...others] = text.split('/').map((part) => part.trim());
  if (WHOLE_NUMBER.test(limit) && WHOLE_NUMBER.test(seconds) && others.length === 0) {
    return { limit: Number(limit), seconds: Number(seconds) };
  }
  throw new AppError('usage', '--rate must be attempts/seconds, such as 100/60 for a hundred a '
    + `minute, not ${JSON.stringify(text)}`);
}

/** Reads an option as JSON that people mostly write shorter. */
async function readInlineJson(context: CommandContext, name: string): Promise<JsonValue> {
  return (await readJsonOption(context, name, { inlineSecrets: 'accepted' })).value as JsonValue;
}

const WHOLE_NUMBER = /^\d{1,15}$/;

/** `--order-key` is an order by itself. */
function readOrder({ args }: CommandContext): JsonValue {
  const key = args.find('order-key');
  if (key === undefined) return args.get('order');
  if (args.has('order')) {
    throw new AppError('usage', '--order-key is an order by itself: give it without --order');
  }
  return { key };
}

/**
 * Reads `--client-certificate`: a file with the certificate, those of its issuers and the key in
 * PEM, in any order but that the certificate comes first of its kind; or the member as JSON. A key
 * on the command line is refused. The service checks certificate and key.
 */
async function readClientCertificate(context: CommandContext): Promise<JsonObject> {
  return readObjectOption(context, 'client-certificate',
    { inlineSecrets: 'rejected', parse: parseCertificateFile });
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

/** Combines `--preset` and `--verification`, or reads `--token-header` or `--token-query`. */
async function readVerification(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const [tokenOption, otherOption] = VERIFICATION_OPTIONS.filter((name) => args.has(name));
  const tokenPlace = TOKEN_PLACES.find((place) => `token-${place}` === tokenOption);
  if (tokenOption !== undefined && tokenPlace !== undefined) {
    if (otherOption === undefined) {
      return createTokenVerification(tokenPlace, args.get(tokenOption));
    }
    throw new AppError('usage', `--${tokenOption} says all of it: leave out --${otherOption}`);
  }
  const preset = args.find('preset');
  const presetMember = preset === undefined ? {} : { preset };
  if (!args.has('verification')) return presetMember;
  const value = await readObjectOption(context, 'verification',
    { inlineSecrets: 'rejected', row: { schema: verificationSchema } });
  if (preset !== undefined && value['preset'] !== undefined && value['preset'] !== preset) {
    throw new AppError('usage', '--preset contradicts the preset of --verification');
  }
  return { ...value, ...presetMember };
}

const TOKEN_PLACES = ['header', 'query'] as const;
const VERIFICATION_OPTIONS = ['token-header', 'token-query', 'preset', 'verification'];

/** The secret itself stands in the header or the parameter of that name. */
function createTokenVerification(place: typeof TOKEN_PLACES[number], name: string): JsonObject {
  return {
    preset: 'custom', scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { [place]: name }, encoding: 'utf8' },
    },
  };
}

/** Converts `header:<name>`, `json:<path>` or JSON for the API; passes other text on. */
async function readDeduplicate(context: CommandContext): Promise<JsonValue> {
  const text = context.args.get('deduplicate');
  if (text.startsWith('{')) return readInlineJson(context, 'deduplicate');
  const [, kind, path] = /^(header|json):(.*)$/s.exec(text) ?? [];
  return kind === undefined || path === undefined ? text : { [kind]: path };
}
