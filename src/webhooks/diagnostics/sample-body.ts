/**
 * The bodies of sample requests: members and headers put into a sender's sample, and the sample for
 * a scheme of one's own, whose sender is not known: it is made of the values that the scheme reads.
 * Pure.
 */
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Preset } from '../senders/presets/preset.ts';
import {
  toSourceList, type ValueSource, type ValueSources, type Scheme,
} from '../senders/scheme/scheme.ts';
import { JSON_TYPE } from '../../resources/route-specs.ts';
import { FORM_TYPE } from '../../base/text/parse-form.ts';
import { isInBody, listPlacements } from '../senders/scheme/placement.ts';

type Sample = Preset['sample'];

/** Adds an event id if the sender has one: see `ReadyInbox.eventIdSources`. */
export function withEventId(sample: Sample, sources: ValueSources | null, id: string): Sample {
  const [source] = sources === null ? [] : toSourceList(sources);
  if (source === undefined) return sample;
  if ('header' in source || 'cloudEvent' in source) {
    const { headers = {} } = sample;
    const name = 'header' in source ? source.header : 'ce-id';
    return { ...sample, headers: { ...headers, [matchHeaderName(headers, name)]: id } };
  }
  const path = findJsonPath(source);
  return path === null ? sample : { ...sample, body: withMember(sample.body, path, id) };
}

/** The name as the headers spell it; `name` without such a header. */
export function matchHeaderName(headers: Readonly<Record<string, string>>, name: string): string {
  return Object.keys(headers).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
}

/** A body that is no JSON object stays the same. */
export function withMember(body: string, path: readonly string[], value: JsonValue): string {
  try {
    const document: unknown = parseJsonText(body);
    return isJsonObject(document) ? encodeJson(setAtPath(document, path, () => value)) : body;
  } catch {
    return body;
  }
}

/** Sets the first of the fields that the form has, else the first. */
export function withField(body: string, sources: readonly ValueSource[], value: string): string {
  const names = sources.flatMap((source) => 'form' in source ? [source.form] : []);
  const form = new URLSearchParams(body);
  const name = names.find((one) => form.has(one)) ?? names[0];
  if (name === undefined) return body;
  form.set(name, value);
  return encodeFormTemplate([...form]);
}

/** A value that is no text is written as JSON. */
export function toFormFields(payload: JsonObject): [string, string][] {
  return Object.entries(payload).map(([name, value]) =>
    [name, typeof value === 'string' ? value : encodeJson(value)]);
}

/** Encodes a form, but not its placeholders, which signing fills in. */
export function encodeFormTemplate(fields: readonly (readonly [string, string])[]): string {
  const form = new URLSearchParams();
  for (const [name, value] of fields) form.append(name, value);
  return form.toString().replace(/%7B(timestamp|id|signature)%7D/g, '{$1}');
}

/** The path of the first source; null: the source is no member of the JSON. */
export function findJsonPath(sources: ValueSources | undefined): readonly string[] | null {
  const [source] = toSourceList(sources);
  return source !== undefined && 'json' in source ? source.json.split('.') : null;
}

/**
 * Replaces the value at the path by what `make` gives for it. A step that is an index, or ends in
 * `[]` for every element, makes an array where there is none; `[]` gives it one element.
 */
export function setAtPath(
  target: JsonValue | undefined, [step, ...rest]: readonly string[],
  make: (current: JsonValue | undefined) => JsonValue,
): JsonValue {
  if (step === undefined) return make(target);
  if (/^\d{1,2}$/.test(step) && !isJsonObject(target)) {
    const elements = Array.isArray(target) ? target : [];
    const index = Number(step);
    const before = Array.from({ length: index }, (_, at) => elements[at] ?? null);
    return [...before, setAtPath(elements[index], rest, make), ...elements.slice(index + 1)];
  }
  const isEvery = step.endsWith('[]');
  const name = isEvery ? step.slice(0, -'[]'.length) : step;
  const object = isJsonObject(target) ? target : {};
  const member = object[name];
  if (!isEvery) return { ...object, [name]: setAtPath(member, rest, make) };
  const elements = Array.isArray(member) ? member : [undefined];
  return { ...object, [name]: elements.map((element) => setAtPath(element, rest, make)) };
}

type CustomSample = Preset['sample'] & {
  /** The raw query without `?`, without signed values. */
  readonly search: string;
};

const HELLO = { message: 'Hello, World!' };

/**
 * The sample holds `{timestamp}`, `{id}` and `{signature}` where the scheme reads them in the body,
 * and the event in its place. A payload that is no object stays as it is, unless a value has to
 * stand beside it.
 */
export function makeCustomSample(
  scheme: Scheme, payload: JsonValue = HELLO, event: string | null = null,
): CustomSample {
  const [eventSource] = toSourceList(scheme.event);
  const values: readonly PlacedText[] = [
    ...listPlaceholders(scheme),
    ...event === null || eventSource === undefined ? []
      : [{ text: event, source: eventSource, isKept: false }],
  ];
  const isInQuery = event !== null && eventSource !== undefined && 'query' in eventSource;
  return {
    search: isInQuery ? new URLSearchParams({ [eventSource.query]: event }).toString() : '',
    ...makeBody(scheme, payload, values.filter(({ source }) => isInBody(source))),
  };
}

type PlacedText = {
  readonly text: string;
  readonly source: ValueSource;
  /** Whether a value of the payload in that place stays. */
  readonly isKept: boolean;
};

/** The placeholders of the values of the sender, each in the place that its scheme reads. */
export function listPlaceholders(scheme: Scheme): readonly PlacedText[] {
  return listPlacements(scheme).map(([name, source]) =>
    ({ text: `{${name}}`, source, isKept: true }));
}

/** Puts those texts into a document that have their place in JSON. */
export function placeInJson(document: JsonObject, values: readonly PlacedText[]): JsonValue {
  return values.reduce<JsonValue>((placed, { text, source, isKept }) => !('json' in source) ? placed
    : setAtPath(placed, source.json.split('.'), (current) => isKept ? current ?? text : text),
  document);
}

function makeBody(
  { payload: payloadFormat, content }: Scheme, payload: JsonValue,
  values: readonly PlacedText[],
): Pick<CustomSample, 'body' | 'contentType'> {
  const document = isJsonObject(payload) ? placeInJson(payload, values) : payload;
  const isForm = values.some(({ source }) => 'form' in source) || payloadFormat === 'form'
    || typeof payloadFormat === 'object' || content.includes('{formSorted}');
  if (!isForm) return { body: encodeJson(document), contentType: JSON_TYPE };
  const payloadFields: readonly [string, string][] = typeof payloadFormat === 'object'
    ? [[payloadFormat.formField, encodeJson(document)]]
    : toFormFields(isJsonObject(document) ? document : {});
  const fields = new Map(payloadFields);
  for (const { text, source, isKept } of values) {
    if ('form' in source && !(isKept && fields.has(source.form))) fields.set(source.form, text);
  }
  return { body: encodeFormTemplate([...fields]), contentType: FORM_TYPE };
}
