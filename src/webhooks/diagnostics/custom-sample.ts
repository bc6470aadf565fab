/**
 * The sample request of a webhook with a scheme of its own. Its sender is not known, so the sample
 * is made of the values that the scheme reads. Pure.
 */
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonValue } from '../../base/schema.ts';
import { JSON_TYPE } from '../../resources/route-specs.ts';
import type { Preset } from '../senders/presets/preset.ts';
import { FORM_TYPE } from '../../base/text/parse-form.ts';
import { toSourceList, type Scheme, type ValueSource } from '../senders/scheme/scheme.ts';
import { isInBody, listPlacements } from '../senders/scheme/placement.ts';
import { encodeFormTemplate, setAtPath, toFormFields } from './sample-body.ts';

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
    ...listPlacements(scheme).map(([name, source]) =>
      ({ text: `{${name}}`, source, isKept: true })),
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

function makeBody(
  { payload: payloadFormat, content }: Scheme, payload: JsonValue,
  values: readonly PlacedText[],
): Pick<CustomSample, 'body' | 'contentType'> {
  let document = payload;
  for (const { text, source, isKept } of isJsonObject(payload) ? values : []) {
    if (!('json' in source)) continue;
    document = setAtPath(document, source.json.split('.'), (current) =>
      isKept ? current ?? text : text);
  }
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
