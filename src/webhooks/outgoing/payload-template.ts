/** Payload templates of outgoing webhooks: they read only own members and elements. Pure. */
import { findOwnMember, findValueAt, parsePath, type JsonPath } from '../../base/json/path.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/schema.ts';
import { parseBodyTemplate, type BodyTemplate } from '../members/templates/body-template.ts';
import { isJsonType } from '../members/templates/content-type.ts';
import { DEFAULT_CONTENT_TYPE } from '../members/target-rules.ts';

const WHOLE_PAYLOAD = 'payload';

/** Throws `malformed` with line and column: see `parseBodyTemplate`. */
export function parseTemplate(source: string, contentType = DEFAULT_CONTENT_TYPE): BodyTemplate {
  if (source === '' && !isJsonType(contentType)) {
    throw new AppError('malformed', 'is empty; it must be the text of the body');
  }
  return parseBodyTemplate(source, contentType, (text) =>
    text === WHOLE_PAYLOAD ? [] : parsePath(text));
}

/** Throws `too_large`. */
export function fillTemplate(template: BodyTemplate, payload: JsonValue): string {
  return template.fill((path) => readValue(payload, path));
}

/** A path may begin with `payload`, unless the payload has a member of that name. */
function readValue(payload: JsonValue, path: JsonPath): JsonValue | undefined {
  const isPrefixed = path[0] === WHOLE_PAYLOAD
    && findOwnMember(payload, WHOLE_PAYLOAD) === undefined;
  return findValueAt(payload, isPrefixed ? path.slice(1) : path);
}
