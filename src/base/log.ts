/**
 * Logging as a parameter, and the only place that decides what may never be written: `redact`
 * replaces the values of credential headers and secret-like members by `***`.
 */
import * as types from 'node:util/types';
import { formatTimestamp } from './clock.ts';
import { isError } from './errors.ts';
import { encodeJson } from './json/encode.ts';
import { ExactNumber } from './exact-number.ts';
import { sourceStack } from './source-stack.ts';
import { findJsonValueEnd } from './text/json-value-end.ts';
import { escapeControls } from './text/printable.ts';
import { unescapeText } from './text/unescape.ts';
import type { UnescapedText } from './text/unescape.ts';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** A line that was written, its secrets replaced. */
export type LogLine = {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
};

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** False if lines of the level go nowhere, so that their fields need not be gathered. */
  readonly isWritten?: (level: LogLevel) => boolean;
  /** The fields that stand before those of each line. */
  readonly readTags?: () => LogFields;
}

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warning', 'error'];

/** Stands in place of each secret, in log lines, in responses and in what is stored. */
export const MASK = '***';
const DEPTH_MAX = 16;
// Limits of one line: a stranger's payload may hold a million values, and a line must not hold up
// the event loop. Both together take 10 ms (Node 20); the rest is left out, and its size told.
const LINE_VALUES_MAX = 5_000;
const LINE_CHARACTERS_MAX = 262_144;
// These name a secret anywhere within a name, however its words are joined: `clientsecret`,
// `X-Auth-Token`, `api_key`.
const SECRET_PARTS = new RegExp('signature|passw(?:or)?d|pwd|passphrase|secret|token|apikey'
  + '|privatekey|credential|authorization|cookie|clientstate');
// Shorter parts count only as a whole word: `pinned`, `signal`, `withMac` name no secrets.
const SECRET_WORD = /^(?:hmac[a-z]*|[a-z]*hmac|pin|sig)$/i;
const MAY_HOLD_SECRET_WORD = /hmac|pin|sig/;
const WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
// Both patterns begin with a mark, and not with a run of letters: a stranger's text must take time
// with its length only. A password may hold an @, so the last @ before the path ends it.
const URL_CREDENTIALS = /(:\/{2,})[^\s/?#"'<>]*@/g;
const URL_PARAMETER_NAME = /(?:^|[?&;#/])([^\s=&;?#/"'<>]+)=/g;
const URL_PARAMETER_END = /[\s&#"'<>]/g;
const JSON_MEMBER_NAME = /"([^"\\]+)"\s*:\s*/g;
// A URL in JSON in a form in a URL has three layers of escapes.
const LAYERS_MAX = 4;

/** A logger that writes one line a call through `write`, from `level` up. */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
  readonly write: (line: string, level: LogLevel) => void;
  readonly now: () => number;
  /** Called with each line that is written. */
  readonly keep?: (line: LogLine) => void;
}): Logger {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const encode = options.format === 'json' ? encodeLine : encodePretty;
  const at = (level: LogLevel) => (rawMessage: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const time = formatTimestamp(options.now());
    const message = formatMessage(rawMessage);
    const safeFields = redact(fields);
    options.write(`${encode(time, level, message, safeFields)}\n`, level);
    options.keep?.({ time, level, message, fields: { ...(safeFields as object) } });
  };
  return {
    debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error'),
    isWritten: (level) => LOG_LEVELS.indexOf(level) >= threshold,
  };
}

export const silentLogger: Logger = {
  debug() {}, info() {}, warning() {}, error() {}, isWritten: () => false,
};

function isAlwaysWritten(): boolean {
  return true;
}

/** `logger` with `fields` before those of each line. */
export function createTaggedLogger(logger: Logger, fields: LogFields): Logger {
  const at = (level: LogLevel) => (message: string, more?: LogFields): void =>
    logger[level](message, { ...fields, ...more });
  return {
    debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error'),
    isWritten: logger.isWritten ?? isAlwaysWritten,
    // No getter: each request makes loggers, and an object with one takes a microsecond to make.
    readTags: () => ({ ...logger.readTags?.(), ...fields }),
  };
}

/**
 * A logger that replaces every secret before it passes a line on to `logger`, and to `keep` from
 * `level` up.
 */
export function createRedactingLogger(logger: Logger, history?: {
  readonly level: LogLevel;
  readonly now: () => number;
  readonly keep: (line: LogLine) => void;
}): Logger {
  const threshold = LOG_LEVELS.indexOf(history?.level ?? 'debug');
  const at = (level: LogLevel) => (rawMessage: string, fields: LogFields = {}): void => {
    const isKept = history !== undefined && LOG_LEVELS.indexOf(level) >= threshold;
    if (logger === silentLogger && !isKept) return;
    const safeFields = { ...(redact(fields) as object) };
    const message = formatMessage(rawMessage);
    if (isKept) {
      history.keep({ time: formatTimestamp(history.now()), level, message, fields: safeFields });
    }
    logger[level](message, safeFields);
  };
  return {
    debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error'),
    isWritten: (level) => logger.isWritten?.(level) !== false
      || (history !== undefined && LOG_LEVELS.indexOf(level) >= threshold),
  };
}

/** Custom actions are mostly JavaScript, where a message may be anything. */
export function formatMessage(message: unknown): string {
  if (typeof message === 'string') return copyText(message, createRedaction());
  return encodeJson(redact(message)) ?? String(message);
}

// A long text mostly has the same few names: a look into the cache takes a tenth of the time.
const CACHED_NAMES_MAX = 1000;
const CACHED_NAME_LENGTH_MAX = 64;
const secretNameCache = new Map<string, boolean>();

/** Whether a header, member or URL parameter of this name holds a secret. */
export function isSecretName(name: string): boolean {
  const cachedResult = secretNameCache.get(name);
  if (cachedResult !== undefined) return cachedResult;
  const isSecret = soundsSecret(name);
  if (secretNameCache.size < CACHED_NAMES_MAX && name.length <= CACHED_NAME_LENGTH_MAX) {
    // A copy: a piece of a text keeps all of it in memory.
    secretNameCache.set(Buffer.from(name, 'utf16le').toString('utf16le'), isSecret);
  }
  return isSecret;
}

function soundsSecret(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '');
  if (SECRET_PARTS.test(letters)) return true;
  return MAY_HOLD_SECRET_WORD.test(letters)
    && (name.match(WORDS) ?? []).some((word) => SECRET_WORD.test(word));
}

/**
 * `text` with the secrets in it replaced: credentials of URLs, and values of secret-like URL
 * parameters and JSON members. They are found within escapes as well, as in a URL that is a
 * parameter of another one, and in JSON that is a string in JSON.
 */
export function redactText(text: string): string {
  return replaceSpans(text, findSecrets(text, findPlainSecrets));
}

/** `redactText` without a look at JSON: our messages may show JSON that people copy. */
export function redactUrls(text: string): string {
  return replaceSpans(text, findSecrets(text, findUrlSecrets));
}

/** `text` with `***` for each place where `secret` stands, also within escapes. */
export function hideSecretText(text: string, secret: string): string {
  return replaceSpans(text, findSecrets(text, (layer) => findOccurrences(layer, secret)));
}

function findOccurrences(text: string, part: string): TextSpan[] {
  const spans: TextSpan[] = [];
  for (let start = text.indexOf(part); start !== -1;) {
    const end = start + part.length;
    spans.push({ start, end });
    start = text.indexOf(part, end);
  }
  return spans;
}

function replaceSpans(text: string, spans: readonly TextSpan[]): string {
  let result = '';
  let at = 0;
  for (const { start, end } of spans) {
    if (end <= at) continue;
    if (start >= at) result += text.slice(at, start) + MASK;
    at = end;
  }
  return result + text.slice(at);
}

type TextSpan = { readonly start: number; readonly end: number };

/** The spans found in any layer of escapes, in order of their starts; they may overlap. */
function findSecrets(text: string, find: (text: string) => TextSpan[]): readonly TextSpan[] {
  const spans = find(text);
  let layer: UnescapedText | null = unescapeText(text);
  for (let count = 1; layer !== null && count <= LAYERS_MAX; count += 1) {
    const { offsets } = layer;
    for (const { start, end } of find(layer.text)) {
      spans.push({ start: offsets[start] ?? text.length, end: offsets[end] ?? text.length });
    }
    layer = unescapeFurther(layer);
  }
  return spans.sort((left, right) => left.start - right.start);
}

function unescapeFurther({ text, offsets }: UnescapedText): UnescapedText | null {
  const layer = unescapeText(text);
  return layer === null ? null
    : { text: layer.text, offsets: layer.offsets.map((offset) => offsets[offset] ?? offset) };
}

/** Secrets that stand in the text as it is. */
function findPlainSecrets(text: string): TextSpan[] {
  const spans = findUrlSecrets(text);
  if (text.includes('"')) for (const span of findSecretMembers(text)) spans.push(span);
  return spans;
}

function findUrlSecrets(text: string): TextSpan[] {
  const spans: TextSpan[] = text.includes('=') ? findSecretParameters(text, URL_PARAMETER_END, 0)
    .filter(({ start, end }) => end > start) : [];
  if (text.includes('@')) {
    for (const match of text.matchAll(URL_CREDENTIALS)) {
      const end = match.index + match[0].length - '@'.length;
      spans.push({ start: match.index + (match[1] ?? '').length, end });
    }
  }
  return spans;
}

/** The values of JSON members with secret-like names: what is in the quotes of a string. */
function findSecretMembers(text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  let end = 0;
  for (const match of text.matchAll(JSON_MEMBER_NAME)) {
    if (match.index < end || !isSecretName(match[1] ?? '')) continue;
    const start = match.index + match[0].length;
    end = findJsonValueEnd(text, start);
    const value = stripQuotes(text, { start, end });
    // These values tell nothing: `hidden` leaves them as they are, too.
    const isHarmless = /^(?:true|false|null)?$/.test(text.slice(value.start, value.end));
    if (!isHarmless) spans.push(value);
  }
  return spans;
}

function stripQuotes(text: string, { start, end }: TextSpan): TextSpan {
  if (text.charAt(start) !== '"') return { start, end };
  const isClosed = end > start + 1 && text.charAt(end - 1) === '"';
  return { start: start + 1, end: isClosed ? end - 1 : end };
}

/** A parameter `name=value` in text; `start` and `end` are its value's. */
export type TextParameter = { readonly name: string; readonly start: number; readonly end: number };

/**
 * The parameters with secret-like names from `from` on, in order; their names percent-decoded. A
 * value ends where the global pattern `valueEnd` matches: not at a `;`, which it may hold.
 */
export function findSecretParameters(
  text: string, valueEnd: RegExp, from: number,
): TextParameter[] {
  const parameters: TextParameter[] = [];
  let end = from;
  for (const match of text.matchAll(URL_PARAMETER_NAME)) {
    const start = match.index + match[0].length;
    const name = decodePercent(match[1] ?? '');
    if (match.index < end || !isSecretName(name)) continue;
    valueEnd.lastIndex = start;
    end = valueEnd.exec(text)?.index ?? text.length;
    parameters.push({ name, start, end });
  }
  return parameters;
}

/** `text` itself where it cannot be decoded. */
export function decodePercent(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/** Counts down how much a line may still show. */
class LineBudget {
  #values: number;
  #characters: number;

  constructor(values = LINE_VALUES_MAX, characters = LINE_CHARACTERS_MAX) {
    this.#values = values;
    this.#characters = characters;
  }

  /** Takes room for a text; false: it does not fit. */
  takeText(text: string): boolean {
    if (text.length > this.#characters) return false;
    this.#characters -= text.length;
    return true;
  }

  /** Takes room for a member or element, whose value is still to come. */
  takeValue(name: string): boolean {
    if (this.#values === 0 || !this.takeText(name)) return false;
    this.#values -= 1;
    return true;
  }
}

/** How a value is copied for a line. */
type CopyOptions = {
  readonly budget: LineBudget;
  readonly showText: (text: string) => string;
  readonly isSecret: (name: string) => boolean;
};

/** A copy of `value` for a line, with every secret replaced. */
function redact(value: unknown): unknown {
  return copyValue(value, createRedaction(), []);
}

function createRedaction(budget = new LineBudget()): CopyOptions {
  return { budget, showText: redactText, isSecret: isSecretName };
}

// The copies that `copyForLines` made, which are not copied again.
const safeCopies = new WeakSet();

/**
 * Copies `value` with every secret replaced, for several lines, which show the copy as it is. The
 * copy has as much room as the rest of a line.
 */
export function copyForLines(value: unknown): unknown {
  const copy = redact(value);
  if (typeof copy === 'object' && copy !== null) safeCopies.add(copy);
  return copy;
}

/** A copy of `value` that is no larger than what a line shows, with its secrets. */
export function shorten(value: object): object {
  const options = { budget: new LineBudget(), showText: String, isSecret: () => false };
  const copy = copyValue(value, options, []);
  return typeof copy === 'object' && copy !== null ? copy : {};
}

/** Whether a line would not show a JSON value as it is, for a secret in it. */
export function holdsSecret(value: unknown): boolean {
  const copy = copyValue(value, createRedaction(new LineBudget(Infinity, Infinity)), []);
  return encodeJson(copy) !== encodeJson(value);
}

/**
 * Errors become their name, message and code, bytes their number, and what has no room its size.
 * `above` holds what `value` stands in: an object in itself is shown once.
 */
function copyValue(value: unknown, options: CopyOptions, above: object[]): unknown {
  if (typeof value === 'object' && value !== null && safeCopies.has(value)) return value;
  if (typeof value === 'string') return copyText(value, options);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactNumber) {
    return options.budget.takeText(value.text) ? value : `<${value.text.length} digits>`;
  }
  if (above.length > DEPTH_MAX || above.includes(value)) return '…';
  if (ArrayBuffer.isView(value)) return `<${value.byteLength} bytes>`;
  if (types.isDate(value)) return value.toJSON();
  above.push(value);
  const copy = copyMembers(value, options, above);
  above.pop();
  return copy;
}

// The text is not cut before: only the whole may show that a secret stands at its start.
function copyText(text: string, { budget, showText }: CopyOptions): string {
  return budget.takeText(text) ? showText(text) : `<${text.length} characters>`;
}

function copyMembers(value: object, options: CopyOptions, above: object[]): unknown {
  if (isError(value)) return copyError(value, options, above);
  return Array.isArray(value) ? copyArray(value, options, above)
    : copyObject(value, options, above);
}

function copyArray(array: readonly unknown[], options: CopyOptions, above: object[]): unknown[] {
  const copy: unknown[] = [];
  for (const element of array) {
    if (!options.budget.takeValue('')) return [...copy, formatOmitted(array.length - copy.length)];
    copy.push(copyValue(element, options, above));
  }
  return copy;
}

function copyObject(value: object, options: CopyOptions, above: object[]): object {
  const names = Object.keys(value);
  const copy: [string, unknown][] = [];
  for (const name of names) {
    if (!options.budget.takeValue(name)) {
      copy.push(['…', formatOmitted(names.length - copy.length)]);
      break;
    }
    const member: unknown = Reflect.get(value, name);
    const memberCopy = options.isSecret(name)
      ? maskSecret(member) : copyValue(member, options, above);
    copy.push([name, memberCopy]);
  }
  return Object.fromEntries(copy);
}

function formatOmitted(count: number): string {
  return `<${count} more>`;
}

// Absent and boolean members (`hasSecret`) tell nothing, and are worth seeing.
function maskSecret(member: unknown): unknown {
  return member === null || member === undefined || typeof member === 'boolean' ? member : MASK;
}

function copyError(error: Error, options: CopyOptions, above: object[]): unknown {
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {}
    : { cause: copyValue(error.cause, options, above) };
  const stack = error.stack === undefined
    ? {} : { stack: copyText(sourceStack(error.stack), options) };
  const message = copyText(error.message, options);
  return { name: error.name, message, ...code, ...stack, ...cause };
}

function encodeLine(time: string, level: LogLevel, message: string, fields: unknown): string {
  return encodeJson({ time, level, message, ...(fields as object) });
}

function encodePretty(time: string, level: LogLevel, message: string, fields: unknown): string {
  const members = Object.entries(fields as object).map(([name, value]) =>
    `${name}=${typeof value === 'string' ? value : encodeJson(value)}`);
  const text = [time.slice(11, 23), level.toUpperCase().padEnd(7), message, ...members].join(' ');
  return escapeControls(text);
}
