/**
 * The member `response` of an incoming webhook: what its sender gets in place of the JSON that
 * hookshelf answers, by what became of the request.
 */
import { AppError, messageOf, type FieldError } from '../../base/errors.ts';
import { isJsonObject, pointerStep } from '../../base/fields.ts';
import { parsePath, type JsonPath } from '../../base/json/path.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { quote } from '../../base/text/error-message.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import {
  RESERVED_RESPONSE_HEADERS, findHeaderProblems, headersSchema, parseConfiguredHeaders,
} from '../members/target-rules.ts';
import { parseBodyTemplate, type BodyTemplate } from '../members/templates/body-template.ts';
import { findContentTypeProblem } from '../members/templates/content-type.ts';

const BODY_LENGTH_MAX = 64 * 1024;
const DEFAULT_TYPE = 'text/plain; charset=utf-8';
/** Their responses have no content (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export const BODILESS_STATUSES: readonly number[] = [204, 205, 304];

const successSchema = createResponseSchema('WebhookSuccessResponse', 200, 299);
const unmatchedSchema = createResponseSchema('WebhookUnmatchedResponse', 200, 599);
const failureSchema = createResponseSchema('WebhookFailureResponse', 400, 599);

export const responseMember = {
  schema: describeObject({
    kind: 'object', name: 'WebhookResponses',
    members: {
      accepted: {
        schema: successSchema,
        description: 'To a request that was accepted',
      },
      unmatched: {
        schema: unmatchedSchema,
        description: 'To a request that no route is for. Without it as `accepted`',
      },
      failed: { schema: failureSchema, description: 'To a request whose action failed' },
      duplicate: { schema: successSchema, description: 'To a request that came before' },
      rejected: {
        schema: failureSchema,
        description: 'To a request that would get 401 or 403. Its body has no placeholders',
      },
    },
    check: (responses) => Object.entries(responses).flatMap(([outcome, response]) =>
      findResponseProblems(response, outcome === 'rejected')
        .map(({ pointer, detail }) => ({ pointer: `/${outcome}${pointer}`, detail }))),
  }),
  isPublic: true,
  label: 'Answers of its own', form: { group: 'more' },
  description: 'What the sender gets in place of the JSON of hookshelf, by what became of the '
    + 'request. Without it: what the sender wants, else the JSON',
  option: {
    help: 'what the sender gets in place of the JSON: '
      + '{"accepted":{"status":202,"body":"{{ message }}"}, …}',
  },
} as const satisfies MemberSchema;

/** A body is a template for its Content-Type; `rejected` has no placeholders. Absent: no body. */
export type CustomResponse = RecordOf<typeof successSchema>;

/** The responses by outcome; for an outcome without a response the sender gets the JSON. */
export type CustomResponses = RecordOf<typeof responseMember.schema>;

/** The outcome of a request. An `unmatched` request fits no route; `rejected` are 401 and 403. */
export type ResponseOutcome = keyof CustomResponses;

function createResponseSchema(name: string, minimum: number, maximum: number) {
  return describeObject({
    kind: 'object', name,
    members: {
      status: {
        schema: { kind: 'integer', minimum, maximum }, isRequired: true,
        description: `A status from ${minimum} to ${maximum}; 204 has no body`,
      },
      headers: {
        schema: headersSchema, description: 'Names and values, without placeholders',
        form: { field: 'pairs' },
      },
      body: {
        schema: { kind: 'string', maxLength: BODY_LENGTH_MAX },
        description: 'Text with `{{ message }}`, `{{ data.… }}`, `{{ payload.… }}` or '
          + '`{{ request.id }}`, escaped by the `Content-Type` among the headers. Without that it '
          + 'is `text/plain`',
      },
    },
  });
}

function findResponseProblems(response: JsonValue, isRejected: boolean): readonly FieldError[] {
  if (!isJsonObject(response)) return [];
  const { status, headers, body } = response;
  const errors = headers === undefined ? [] : findOwnHeaderProblems(headers);
  if (typeof body !== 'string') return errors;
  if (BODILESS_STATUSES.some((bodiless) => bodiless === status)) {
    const detail = `must not stand there: a ${String(status)} has no body`;
    return [...errors, { pointer: '/body', detail }];
  }
  // The type of a body says how its placeholders are read.
  if (errors.length > 0) return errors;
  try {
    parseBody(response, body, isRejected);
    return [];
  } catch (thrown) {
    return [{ pointer: '/body', detail: messageOf(thrown) }];
  }
}

function findOwnHeaderProblems(headers: JsonValue): FieldError[] {
  const problems = findHeaderProblems(headers);
  const entries = isJsonObject(headers) ? Object.entries(headers) : [];
  return [...problems, ...entries.flatMap(([name, value]) => {
    const pointer = pointerStep(name);
    const detail = problems.some((problem) => problem.pointer === pointer) ? null
      : findOwnHeaderProblem(name.toLowerCase(), String(value));
    return detail === null ? [] : [{ pointer, detail }];
  })].map(({ pointer, detail }) => ({ pointer: `/headers${pointer}`, detail }));
}

function findOwnHeaderProblem(name: string, value: string): string | null {
  if (RESERVED_RESPONSE_HEADERS.includes(name)) return 'may not be configured: hookshelf sets it';
  if (value.includes('{{')) return 'must have no placeholders: they are for the body alone';
  return name === 'content-type' ? findContentTypeProblem(value) : null;
}

export function getContentType({ headers }: { readonly headers?: unknown }): string {
  return parseConfiguredHeaders(headers)['content-type'] ?? DEFAULT_TYPE;
}

/** Throws `malformed`, with what is wrong. */
export function parseBody(
  response: { readonly headers?: unknown }, body: string, isRejected: boolean,
): BodyTemplate {
  return parseBodyTemplate(body, getContentType(response),
    isRejected ? refusePlaceholder : parsePlaceholder);
}

function refusePlaceholder(text: string): never {
  throw new AppError('malformed', `{{ ${text} }} cannot be filled: rejected has no placeholders, `
    + 'as its caller may be anybody; \\{{ stands for {{');
}

const SOURCES = ['data', 'message', 'payload', 'request'];
const REQUEST_MEMBERS = ['id', 'event', 'eventId'];

function parsePlaceholder(text: string): JsonPath | null {
  const path = parsePath(text);
  if (path === null) return null;
  const [source = '', member, ...rest] = path;
  const fail = (detail: string): never => {
    throw new AppError('malformed', `{{ ${text} }} ${detail}`);
  };
  if (!SOURCES.includes(source)) {
    fail(`must begin with data, message, payload or request, not ${quote(source)}`
      + didYouMean(source, SOURCES));
  }
  if (source === 'message' && member !== undefined) fail('must be message alone, which is a text');
  const isOfRequest = rest.length === 0 && member !== undefined && REQUEST_MEMBERS.includes(member);
  if (source === 'request' && !isOfRequest) {
    fail('must be request.id, request.event or request.eventId');
  }
  return path;
}

/** Refuses a response to requests that fit no route, for a webhook without routes. */
export function findUnmatchedProblems({ response, routes }: JsonObject): FieldError[] {
  const isUnmatched = isJsonObject(response) && response['unmatched'] !== undefined;
  return !isUnmatched || routes !== undefined ? [] : [{
    pointer: '/response/unmatched', detail: 'needs routes: without them no request is unmatched',
  }];
}
