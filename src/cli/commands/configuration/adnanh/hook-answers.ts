/**
 * Converts what a hook answers into the `response` of a webhook. "There" is adnanh/webhook, which
 * answers a hook's message or the output of its command, with the hook's headers and statuses.
 */
import { listObjects } from '../../../../base/fields.ts';
import { encodeJson } from '../../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { BODILESS_STATUSES } from '../../../../webhooks/incoming/custom-response.ts';
import { isJsonType } from '../../../../webhooks/members/templates/content-type.ts';
import { chooseEscape } from '../../../../webhooks/members/templates/escape-value.ts';
import { at, type HookReport } from './hook-report.ts';
import { textOf } from './request-values.ts';
import type { ConvertedRule } from './trigger-rule.ts';

/** The members that are converted here. */
export const ANSWER_MEMBERS = [
  'response-message', 'response-headers', 'success-http-response-code',
  'trigger-rule-mismatch-http-response-code', 'include-command-output-in-response',
  'include-command-output-in-response-on-error',
];

/** The texts and statuses that adnanh/webhook answers. */
const NOT_SATISFIED = 'Hook rules were not satisfied.';
const COMMAND_FAILED = 'Error occurred while executing the hook\'s command. Please check your logs '
  + 'for more details.';
/**
 * How a text begins that Go's net/http answers as HTML, or as XML, where there is no Content-Type
 * (`DetectContentType`, after https://mimesniff.spec.whatwg.org).
 */
const PAGE_TAGS =
  '!--|!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p';
const PAGE_START = new RegExp(`^[\\t\\n\\f\\r ]*<(?:${PAGE_TAGS})[ >]`, 'i');
const XML_START = /^[\t\n\f\r ]*<\?xml/;
const OK = 200;
const SERVER_ERROR = 500;

/**
 * The `response`. A hook without a message is answered by a status alone there. `routeName` is that
 * of the route of a hook with a condition.
 */
export function convertAnswers(
  hook: JsonObject, rule: ConvertedRule, routeName: string, report: HookReport,
): JsonObject {
  const headers = readHeaders(report.readList(hook, 'response-headers'));
  const answersOutput = hook['include-command-output-in-response'] === true;
  const status = convertSuccess(hook, report);
  const message = textOf(hook['response-message']);
  const responses: Record<string, JsonValue> = {};
  if (answersOutput) {
    const path = rule.when === null ? 'data.output' : `data.routes.${routeName}.output`;
    reportEscaped(headers, report);
    responses['accepted'] = createResponse(status, headers, `{{ ${path} }}`);
    responses['failed'] = hook['include-command-output-in-response-on-error'] === true
      ? createResponse(SERVER_ERROR, headers, `{{ ${path} }}`)
      : createResponse(SERVER_ERROR, withoutType(headers), COMMAND_FAILED);
  } else {
    const isBodiless = BODILESS_STATUSES.includes(status);
    const type = isBodiless ? {} : detectType(message, headers);
    responses['accepted'] = createResponse(status, { ...headers, ...type }, null, message);
  }
  const mismatch = convertMismatch(hook, rule, report);
  if (rule.when !== null) {
    responses['unmatched'] = createResponse(mismatch, {}, null, NOT_SATISFIED);
  }
  const isRejecting = rule.verification !== null || rule.allowedAddresses !== null;
  // 200 is the status there without the member, too.
  if (isRejecting && mismatch !== OK) {
    responses['rejected'] = { status: mismatch, body: NOT_SATISFIED };
  }
  return responses;
}

/** `template` has placeholders; in place of it there may be a text without. */
function createResponse(
  status: number, headers: JsonObject, template: string | null, text = '',
): JsonObject {
  const isJson = isJsonType(findType(headers));
  const literal = text.replaceAll('{{', isJson ? '\\\\{{' : '\\{{');
  const placeholders = isJson ? encodeJson(template) : template;
  const body = template === null ? literal : placeholders;
  return {
    status, ...Object.keys(headers).length === 0 ? {} : { headers },
    ...body === '' || BODILESS_STATUSES.includes(status) ? {} : { body },
  };
}

/** Whether the Content-Type of what a hook answers is one of JSON. */
export function isJsonAnswer(hook: JsonObject): boolean {
  return isJsonType(findType(readHeaders(hook['response-headers'])));
}

/** The headers by name. As in adnanh/webhook the last of two of one name counts. */
function readHeaders(list: JsonValue | undefined): JsonObject {
  const headers = new Map<string, readonly [string, string]>();
  for (const header of listObjects(list)) {
    const name = textOf(header['name']);
    headers.set(name.toLowerCase(), [name, textOf(header['value'])]);
  }
  return Object.fromEntries(headers.values());
}

function findType(headers: JsonObject): string {
  const name = findTypeName(headers);
  return name === undefined ? 'text/plain' : textOf(headers[name]);
}

function findTypeName(headers: JsonObject): string | undefined {
  return Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
}

/** The Content-Type that Go adds to a message, where it is not that of text. */
function detectType(message: string, headers: JsonObject): JsonObject {
  if (findTypeName(headers) !== undefined) return {};
  if (PAGE_START.test(message)) return { 'Content-Type': 'text/html; charset=utf-8' };
  return XML_START.test(message) ? { 'Content-Type': 'text/xml; charset=utf-8' } : {};
}

function withoutType(headers: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(headers).filter(([name]) =>
    name.toLowerCase() !== 'content-type'));
}

/** Reports output that would not be answered as it is. */
function reportEscaped(headers: JsonObject, report: HookReport): void {
  const type = findType(headers);
  if (chooseEscape(type)('<&') === '<&') return;
  report.lose(at(report.pointer, 'include-command-output-in-response'),
    `the output would be escaped within ${type}, as anybody may have a part in it`,
    'answer it as text/plain, or as JSON');
}

function convertSuccess(hook: JsonObject, report: HookReport): number {
  const code = Number(hook['success-http-response-code'] ?? 0);
  if (code === 0 || code >= 200 && code <= 299) return code || OK;
  report.lose(at(report.pointer, 'success-http-response-code'),
    `${code} is no status of what was accepted`, 'choose one from 200 to 299 for "accepted"');
  return OK;
}

/** The status of what a rule does not let through. */
function convertMismatch(
  hook: JsonObject, { verification, allowedAddresses, when }: ConvertedRule, report: HookReport,
): number {
  const code = Number(hook['trigger-rule-mismatch-http-response-code'] ?? 0);
  const isRejecting = verification !== null || allowedAddresses !== null;
  if (code === 0 || !isRejecting && when === null) return OK;
  const minimum = isRejecting ? 400 : 200;
  if (Number.isInteger(code) && code >= minimum && code <= 599) return code;
  const place = at(report.pointer, 'trigger-rule-mismatch-http-response-code');
  const choice = `choose one from ${minimum} to 599`;
  if (isRejecting) {
    report.lose(place, `what this rule keeps out gets 401 or 403 here, and cannot get ${code}`,
      `${choice}, or switch the webhook on if 401 and 403 will do`);
  } else report.lose(place, `${code} is no status of what no route is for`, choice);
  return OK;
}
