/**
 * The members of an incoming webhook that say which requests are stored, when they are answered,
 * and which of them are duplicates.
 */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonSchema, JsonValue, MemberSchemas } from '../../base/schema.ts';
import type { SchemaOf } from '../../base/schema-types.ts';
import { retryScheduleMember } from '../members/members.ts';
import { isReadablePath } from '../senders/scheme/scheme-schema.ts';
import type { Scheme, ValueSources } from '../senders/scheme/scheme.ts';

/** `auto`: by the preset's event id. An object names the header or the JSON member with the id. */
type Deduplication =
  | 'auto' | 'off' | { readonly header: string } | { readonly json: string };

const HOURS_MAX = 720;
const HOUR_MS = 3_600_000;
const DEDUPLICATE_BYTES_MAX = 600;

/** `findInboxProblems` checks it. */
const deduplicateSchema: SchemaOf<Deduplication, JsonSchema> = {
  kind: 'json', isObject: false, bytesMax: DEDUPLICATE_BYTES_MAX, depthMax: 1,
};

export const inboxMembers = {
  inbox: {
    schema: { kind: 'string', values: ['off', 'failed', 'all'] }, default: 'failed',
    label: 'Keep requests',
    description: 'Which accepted requests are kept on disk: none, those whose action failed, or '
      + 'every one',
    form: {
      hint: 'Only requests that are kept are listed, with their bodies and what the action said, '
        + 'and can be sent again.',
      choices: [
        ['failed', 'Those whose action failed'], ['all', 'Every one'], ['off', 'None'],
      ],
    },
  },
  answer: {
    schema: { kind: 'string', values: ['result', 'accepted'] }, default: 'result',
    description: 'What the sender is answered: the `result` of the action, or that the request is '
      + '`accepted` once it is on disk. Then the action runs later, with retries, and all requests '
      + 'must be kept (`inbox` `all`)',
    form: {
      hint: 'What runs later is tried again when it fails, and takes that every request is kept.',
      choices: [
        ['result', 'What the action says'],
        ['accepted', 'At once that it is accepted; the action runs later'],
      ],
    },
  },
  deduplicate: {
    schema: deduplicateSchema, default: 'auto', label: 'Tell duplicates by',
    description: 'What tells that a request came before: the sender\'s own id (`auto`), nothing '
      + '(`off`), or an id in a header or in the body. `{ "header": "<name>" }` and '
      + '`{ "json": "path.to.member" }` say where it stands',
    form: {
      group: 'more', hint: 'What tells that a request came before, so that nothing is done twice',
      choices: [
        ['auto', "The sender's own id"], ['off', 'Nothing: each request is taken'],
        ['header', 'The id in a header', 'Name of the header'],
        ['json', 'The id in the body', 'Path of the member, such as event.id'],
      ],
    },
    option: {
      placeholder: '<place>',
      help: 'what tells that a request came before: auto, off, header:<name> or json:<path>',
    },
  },
  deduplicateHours: {
    schema: { kind: 'integer', minimum: 1, maximum: HOURS_MAX },
    default: 72, label: 'Remember ids for', form: { group: 'more' },
    description: 'Hours for which an id is remembered',
  },
  retrySchedule: {
    ...retryScheduleMember, label: 'Waits between runs',
    form: {
      ...retryScheduleMember.form,
      hint: 'Seconds before each further run of what fails, where the action runs later; without '
        + 'waits there is no second run',
    },
    description: 'Seconds before each further run of what fails; an empty list is no second run; '
      + 'without it the setting `incoming.retrySchedule` holds. For the answer `accepted`',
  },
} as const satisfies MemberSchemas;

/** Checks `answer` and `inbox` against each other, and the form of `deduplicate`. */
export function findInboxProblems({ inbox, answer, deduplicate }: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (answer === 'accepted' && inbox !== undefined && inbox !== 'all') {
    const detail = `accepted needs the inbox all, which keeps the request, not ${String(inbox)}`;
    errors.push({ pointer: '/answer', detail });
  }
  return deduplicate === undefined ? errors : [...errors, ...findDeduplicateProblems(deduplicate)];
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

function findDeduplicateProblems(deduplicate: JsonValue): FieldError[] {
  if (deduplicate === 'auto' || deduplicate === 'off') return [];
  const [[name, source] = [], ...others] =
    isJsonObject(deduplicate) ? Object.entries(deduplicate) : [];
  if (others.length > 0 || (name !== 'header' && name !== 'json')) {
    const detail = 'must be auto, off, { "header": "<name>" } or { "json": "path.to.member" }';
    return [{ pointer: '/deduplicate', detail }];
  }
  const pointer = `/deduplicate/${name}`;
  if (name === 'header') {
    return typeof source === 'string' && HEADER_NAME.test(source) ? []
      : [{ pointer, detail: 'must be a header name' }];
  }
  return typeof source === 'string' && isReadablePath(source) ? []
    : [{ pointer, detail: 'must be member names and indexes joined by dots, at most 16' }];
}

/** The rules for duplicates, compiled once for each change of the webhook. */
export type ReadyInbox = {
  /** The places of the event id; null: requests have none. */
  readonly eventIdSources: ValueSources | null;
  /** How long an id is remembered; 0: requests are not compared. */
  readonly deduplicateMs: number;
  readonly isEventIdSigned: boolean;
};

export function prepareInbox(
  { deduplicate, deduplicateHours }: {
    readonly deduplicate: Deduplication; readonly deduplicateHours: number;
  }, scheme: Scheme | null,
): ReadyInbox {
  const eventIdSources = typeof deduplicate === 'object' ? deduplicate
    : scheme?.dedupe ?? scheme?.id ?? null;
  const isCompared = deduplicate !== 'off' && eventIdSources !== null;
  return {
    eventIdSources,
    deduplicateMs: isCompared ? deduplicateHours * HOUR_MS : 0,
    isEventIdSigned: isEventIdSigned(deduplicate, scheme),
  };
}

/** Without a scheme the signature is X-Signature, which covers the body. */
function isEventIdSigned(deduplicate: Deduplication, scheme: Scheme | null): boolean {
  if (typeof deduplicate !== 'object') return scheme?.dedupeSigned === true;
  if ('header' in deduplicate) return false;
  return scheme === null
    || (scheme.algorithm !== 'token' && /\{(?:body|plainBody)\}/.test(scheme.content));
}
