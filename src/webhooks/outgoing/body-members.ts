/** The members of an outgoing webhook that say which body it sends, and in which format. */
import { messageOf, type FieldError } from '../../base/errors.ts';
import { isJsonObject, pointerStep } from '../../base/fields.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';
import { DEFAULT_CONTENT_TYPE } from '../members/target-rules.ts';
import { contentTypeSchema, isJsonType } from '../members/templates/content-type.ts';
import { parseTemplate } from './payload-template.ts';

const TEMPLATE_LENGTH_MAX = 256 * 1024;

export const CLOUD_EVENT_HEADERS = [
  'ce-specversion', 'ce-id', 'ce-source', 'ce-type', 'ce-time', 'ce-subject',
] as const;

export const bodyMembers = {
  payloadTemplate: {
    schema: { kind: 'string', maxLength: TEMPLATE_LENGTH_MAX }, label: 'Template of the body',
    description: 'JSON with `{{ path.to.value }}` in its texts, or any text with a type of its '
      + 'own. Without a template the event is sent as it is',
    option: { placeholder: '<template | @file | ->' },
  },
  contentType: {
    schema: contentTypeSchema, label: 'Type of the body', form: { group: 'request' },
    description: 'The media type of the body, such as `text/xml`; without it JSON. Any other needs '
      + 'a template, whose values are escaped for XML, HTML and forms. Bodies are UTF-8',
    option: { placeholder: '<type>' },
  },
  format: {
    schema: { kind: 'string', values: ['standard', 'envelope', 'cloudevents'] },
    form: { group: 'request' },
    description: 'How a receiver learns what the event is. `envelope`: the body is `{"type", '
      + '"timestamp", "data"}`, as Standard Webhooks recommends; `cloudevents`: headers such as '
      + '`ce-type` (CloudEvents 1.0, binary mode); without it `standard`: the payload as it is',
  },
} as const satisfies MemberSchemas;

/** Checks the template by its type, and headers that contradict the members. */
export function findBodyProblems(webhook: JsonObject, input: JsonObject): FieldError[] {
  const { payloadTemplate, contentType = DEFAULT_CONTENT_TYPE, format } = webhook;
  const errors: FieldError[] = findHeaderConflicts(webhook);
  // A template whose type was refused cannot be checked.
  if (webhook['contentType'] === undefined && isGiven(input['contentType'])) return errors;
  if (format === 'envelope' && !isJsonType(String(contentType))) {
    const detail = 'is JSON: leave out the contentType, or the format';
    errors.push({ pointer: '/format', detail });
  }
  if (typeof payloadTemplate === 'string') {
    try {
      parseTemplate(payloadTemplate, String(contentType));
    } catch (thrown) {
      const hint = webhook['contentType'] === undefined ? OTHER_TYPE_HINT : '';
      errors.push({ pointer: '/payloadTemplate', detail: messageOf(thrown) + hint });
    }
  } else if (!isJsonType(String(contentType)) && !isGiven(input['payloadTemplate'])) {
    const detail = 'needs a payloadTemplate, the text of its body: without one the body is JSON';
    errors.push({ pointer: '/contentType', detail });
  }
  return errors;
}

const OTHER_TYPE_HINT = '; a body that is not JSON needs a contentType, such as text/plain';

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function findHeaderConflicts({ headers, contentType, format }: JsonObject): FieldError[] {
  if (!isJsonObject(headers)) return [];
  return Object.keys(headers).flatMap((name) => {
    const lower = name.toLowerCase();
    const pointer = `/headers${pointerStep(name)}`;
    if (lower === 'content-type' && contentType !== undefined) {
      return [{ pointer, detail: 'stands beside contentType: give one of the two' }];
    }
    const isAttribute = format === 'cloudevents'
      && CLOUD_EVENT_HEADERS.some((header) => header === lower);
    return isAttribute
      ? [{ pointer, detail: 'is set by the format cloudevents: remove it' }] : [];
  });
}
