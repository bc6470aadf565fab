/**
 * Reads the attributes of a CloudEvent 1.0.2 in its HTTP binding, whose three modes the
 * Content-Type tells apart:
 *
 *   application/cloudevents-batch+json   batch: an array of events
 *   application/cloudevents+json         structured: one event, its data within it
 *   any other                            binary: the body is the data, attributes are headers
 *
 * The headers `ce-id`, `ce-source`, `ce-type` and `ce-specversion` of the binary mode are quoted or
 * percent-encoded as section 3.1.3.2 of the binding says, which refuses escapes that are no UTF-8.
 * An event is valid if it has all four as texts that are not empty; a batch, if each of its events
 * is. No format but JSON is read. Pure.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { findOwnMember } from '../../../base/json/path.ts';
import { parseMediaType } from '../../../base/text/parse-form.ts';

/** Identifies an event; both are null of a batch, and of an event that is not valid. */
export type CloudEventHead = {
  readonly type: string | null;
  /** The JSON of `[source, id]`, which is unique among all events (section 3.1 of the core). */
  readonly id: string | null;
  /** Says for the webhook's owner what is missing; null: nothing is. */
  readonly problem: string | null;
};

const REQUIRED_ATTRIBUTES = ['specversion', 'id', 'source', 'type'] as const;
type Attribute = typeof REQUIRED_ATTRIBUTES[number];
type ReadAttribute = (name: Attribute) => unknown;

const STRUCTURED_TYPE = 'application/cloudevents';
const BATCH_TYPE = 'application/cloudevents-batch';

/** `readJson` parses the body; undefined: it is no JSON. */
export function readCloudEvent(
  headers: IncomingHttpHeaders, readJson: () => unknown,
): CloudEventHead {
  const mediaType = parseMediaType(headers['content-type']);
  const [format, suffix] = mediaType.split('+', 2);
  if (format !== STRUCTURED_TYPE && format !== BATCH_TYPE) {
    const invalidName = REQUIRED_ATTRIBUTES.find((name) =>
      hasInvalidEscapes(headers[`ce-${name}`]));
    if (invalidName !== undefined) {
      return createProblem(`the header \`ce-${invalidName}\` has escapes that are no UTF-8`);
    }
    return createHead((name) => decodeAttribute(headers[`ce-${name}`]), 'the header `ce-', '`');
  }
  if (suffix !== 'json') return createProblem(`CloudEvents as ${mediaType} cannot be read`);
  const document = readJson();
  if (format === BATCH_TYPE) return checkBatch(document);
  return createHead((name) => findOwnMember(document, name), 'the attribute `', '`');
}

function checkBatch(document: unknown): CloudEventHead {
  if (!Array.isArray(document)) return createProblem('the batch of CloudEvents is no JSON array');
  for (const [index, event] of document.entries()) {
    const missing = findMissing((name) => findOwnMember(event, name));
    if (missing !== undefined) {
      return createProblem(`event ${index + 1} of the batch lacks the attribute \`${missing}\``);
    }
  }
  return { type: null, id: null, problem: null };
}

function createHead(read: ReadAttribute, before: string, behind: string): CloudEventHead {
  const missing = findMissing(read);
  if (missing !== undefined) {
    return createProblem(`the CloudEvent lacks ${before}${missing}${behind}`);
  }
  return {
    type: String(read('type')), id: JSON.stringify([read('source'), read('id')]), problem: null,
  };
}

function findMissing(read: ReadAttribute): Attribute | undefined {
  return REQUIRED_ATTRIBUTES.find((name) => {
    const value = read(name);
    return typeof value !== 'string' || value === '';
  });
}

function createProblem(problem: string): CloudEventHead {
  return { type: null, id: null, problem };
}

/** First the quotes, which older senders write, then one round of percent-decoding. */
function decodeAttribute(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const content = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  const unquotedText = content === undefined ? value : content.replace(/\\(.)/g, '$1');
  return unquotedText.replace(ESCAPES, (escapes) => decodeEscapes(escapes).toString('utf8'));
}

const ESCAPES = /(?:%[0-9a-f]{2})+/gi;

function decodeEscapes(escapes: string): Buffer {
  return Buffer.from(escapes.replaceAll('%', ''), 'hex');
}

/** With replacement characters two ids could become one, and the second event a duplicate. */
function hasInvalidEscapes(value: string | string[] | undefined): boolean {
  if (typeof value !== 'string') return false;
  return (value.match(ESCAPES) ?? []).some((escapes) => !isUtf8(decodeEscapes(escapes)));
}
