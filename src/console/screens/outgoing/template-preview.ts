/** Makes the body of a payload that is sent by hand as the service does. */
import { encodeJson, isContainer, parseJson } from '../../base/json-text.ts';
import { isEnvelope } from '../../../webhooks/outgoing/envelope.ts';

export type PreviewedWebhook = {
  readonly payloadTemplate?: unknown; readonly contentType?: unknown; readonly format?: unknown;
};

/** Returns the body that would be sent, for people. Throws as `fillPayloadTemplate` does. */
export function previewBody(
  { payloadTemplate: template, contentType, format }: PreviewedWebhook, payload: unknown,
): string {
  if (typeof template === 'string' && typeof contentType === 'string' && !isJson(contentType)) {
    return fillTextTemplate(template, contentType, payload);
  }
  const data = typeof template === 'string' ? fillPayloadTemplate(template, payload) : payload;
  const isEnclosed = format !== 'envelope' || isEnvelope(data, null);
  return encodeJson(isEnclosed ? data
    : { type: 'hookshelf.send', timestamp: new Date().toISOString(), data }, 2);
}

/** Returns the filled text, with values escaped as its type asks. */
export function fillTextTemplate(
  template: string, contentType: string, payload: unknown,
): string {
  const escape = chooseEscape(parseMediaType(contentType));
  return fillPlaceholders(template, payload, escape);
}

/** Returns the filled value. Throws Error for a template that the service would reject. */
export function fillPayloadTemplate(template: string, payload: unknown): unknown {
  return fillValue(parseJson(template), payload);
}

function fillValue(template: unknown, payload: unknown): unknown {
  if (typeof template === 'string') return fillText(template, payload);
  if (Array.isArray(template)) return template.map((item) => fillValue(item, payload));
  if (!isContainer(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) =>
    [name, fillValue(value, payload)]));
}

/** A string of only one placeholder becomes the value itself; `\{{` stands for `{{`. */
function fillText(text: string, payload: unknown): unknown {
  const [, whole] = /^\{\{([^{}]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined) return resolvePath(whole, payload) ?? null;
  return fillPlaceholders(text, payload, (value) => value);
}

function fillPlaceholders(
  text: string, payload: unknown, escape: (value: string) => string,
): string {
  return text.replace(/\\\{\{|\{\{([^{}]*)\}\}|\{\{/g, (match, path: string | undefined) => {
    if (match.startsWith('\\')) return '{{';
    if (path === undefined) throw new Error('A placeholder is opened with {{ and not closed.');
    const value = resolvePath(path, payload) ?? '';
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
