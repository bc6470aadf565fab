/**
 * Finds likely slips in an outgoing webhook that the service takes all the same: anybody may emit
 * events of any name, with any members. Pure.
 */
import type { JsonPath } from '../../../base/json/path.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { bookSchema } from '../../../books/book.ts';
import {
  CATALOG_EVENTS, describeForeignName, isSystemEventName,
} from '../../../webhooks/actions/event-name.ts';
import { parseTemplate } from '../../../webhooks/outgoing/payload-template.ts';
import { listWebhookTriggers } from '../../../webhooks/outgoing/token-holders.ts';

const ENVELOPE_MEMBERS: readonly unknown[] = ['type', 'timestamp', 'data'];
const BOOK_TRIGGERS: readonly unknown[] = [...CATALOG_EVENTS, 'book.*'];

/** Says each slip in a sentence. `webhook` is as callers see it. */
export function listOutgoingSlips(webhook: JsonObject): readonly string[] {
  const triggers = listWebhookTriggers(webhook);
  return [
    ...triggers.flatMap((trigger) => describeForeignName(trigger) ?? []),
    ...listMissingPaths(webhook, triggers),
  ];
}

/** Nobody knows the members of other events, nor what an action makes of an event. */
function listMissingPaths(
  { payloadTemplate, contentType, actionConfiguration }: JsonObject, triggers: readonly string[],
): readonly string[] {
  if (typeof payloadTemplate !== 'string' || (actionConfiguration ?? null) !== null) return [];
  const isOfBooks = triggers.every((trigger) => BOOK_TRIGGERS.includes(trigger));
  if (triggers.length === 0 || !isOfBooks && !triggers.every(isSystemEventName)) return [];
  const { paths } =
    parseTemplate(payloadTemplate, typeof contentType === 'string' ? contentType : undefined);
  const isThere = isOfBooks ? isInBookEvent : isInEnvelope;
  return paths.map((path) => path[0] === 'payload' ? path.slice(1) : path)
    .filter((path) => !isThere(path)).map((path) => {
      const fullPath =
        [['data', ...path], ['data', 'book', ...path]].find((each) => isThere(each));
      const advice = fullPath === undefined ? '' : `: did you mean ${fullPath.join('.')}?`;
      return `${path.join('.')} is not in ${triggers.join(', ')}, and stays empty${advice}`;
    });
}

function isInEnvelope([member]: JsonPath): boolean {
  return member === undefined || ENVELOPE_MEMBERS.includes(member);
}

function isInBookEvent(path: JsonPath): boolean {
  const [member, book, bookMember] = path;
  if (!isInEnvelope(path)) return false;
  if (member !== 'data' || book === undefined) return true;
  return book === 'book'
    && (bookMember === undefined || Object.hasOwn(bookSchema.members, bookMember));
}
