/** Makes the body of a payload as the service does, and finds what a template names in vain. */
import { parseTypedJson } from '../base/json-places.ts';
import { encodeJson, isContainer } from '../base/json-text.ts';
import { isEnvelope } from '../../webhooks/outgoing/envelope.ts';

export type PreviewedWebhook = {
  readonly payloadTemplate?: unknown; readonly contentType?: unknown; readonly format?: unknown;
};

type BodyPreview = {
  readonly body: string;
  /** The paths of the template at which the payload has no value. */
  readonly missingPaths: readonly string[];
};

/** Finds the value of a placeholder; undefined: the payload has none. */
type FindValue = (path: string) => unknown;

/** Makes the body that would be sent, for people. Throws as `fillPayloadTemplate` does. */
export function previewBody(webhook: PreviewedWebhook, payload: unknown): BodyPreview {
  const missingPaths = new Set<string>();
  const body = makeBody(webhook, payload, (path) => {
    const value = resolvePath(path, payload);
    if (value === undefined) missingPaths.add(path.trim());
    return value;
  });
  return { body, missingPaths: [...missingPaths] };
}

function makeBody(
  { payloadTemplate: template, contentType, format }: PreviewedWebhook, payload: unknown,
  readValue: FindValue,
): string {
  if (typeof template === 'string' && typeof contentType === 'string' && !isJson(contentType)) {
    return fillTextTemplate(template, contentType, readValue);
  }
  const data = typeof template === 'string' ? fillPayloadTemplate(template, readValue) : payload;
  const isEnclosed = format !== 'envelope' || isEnvelope(data, null);
  return encodeJson(isEnclosed ? data
    : { type: 'hookshelf.send', timestamp: new Date().toISOString(), data }, 2);
}

/** Returns the filled text, with values escaped as its type asks. */
function fillTextTemplate(template: string, contentType: string, readValue: FindValue): string {
  const escape = chooseEscape(parseMediaType(contentType));
  return fillPlaceholders(template, readValue, escape);
}

/** Returns the filled value. Throws Error for a template that the service would reject. */
function fillPayloadTemplate(template: string, readValue: FindValue): unknown {
  return fillValue(parseTypedJson(template, 'The template'), readValue);
}

function fillValue(template: unknown, readValue: FindValue): unknown {
  if (typeof template === 'string') return fillText(template, readValue);
  if (Array.isArray(template)) return template.map((item) => fillValue(item, readValue));
  if (!isContainer(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) =>
    [name, fillValue(value, readValue)]));
}

/** A string of only one placeholder becomes the value itself; `\{{` stands for `{{`. */
function fillText(text: string, readValue: FindValue): unknown {
  const [, whole] = /^\{\{([^{}]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined) return readValue(whole) ?? null;
  return fillPlaceholders(text, readValue, (value) => value);
}

function fillPlaceholders(
  text: string, readValue: FindValue, escape: (value: string) => string,
): string {
  return text.replace(/\\\{\{|\{\{([^{}]*)\}\}|\{\{/g, (match, path: string | undefined) => {
    if (match.startsWith('\\')) return '{{';
    if (path === undefined) throw new Error('A placeholder is opened with {{ and not closed.');
    const value = readValue(path) ?? '';
    return escape(typeof value === 'string' ? value : encodeJson(value));
  });
}

function parseMediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function isJson(contentType: string): boolean {
  const mediaType = parseMediaType(contentType);
  return /^(application|text)\/json$/.test(mediaType) || mediaType.endsWith('+json');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '\r': '&#13;',
};

function chooseEscape(mediaType: string): (value: string) => string {
  if (mediaType === 'application/x-www-form-urlencoded') {
    return (value) => new URLSearchParams({ '': value }).toString().slice(1);
  }
  const isXml = /^(text|application)\/xml$/.test(mediaType) || mediaType.endsWith('+xml');
  if (!isXml && mediaType !== 'text/html') return (value) => value;
  // The server puts the replacement character for all that XML cannot hold.
  return (value) => value
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(isXml ? /[&<>"'\r]/g : /[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** A path may begin with `payload`, unless the payload has a member of that name. */
function resolvePath(path: string, payload: unknown): unknown {
  const steps = path.split('.').map((step) => step.trim());
  if (steps.includes('')) throw new Error('A placeholder needs a path: {{ path.to.value }}.');
  if (steps[0] === 'payload' && getMember(payload, 'payload') === undefined) steps.shift();
  return steps.reduce(getMember, payload);
}

function getMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name) : undefined;
}
