/** Sends the response that a webhook has of its own in place of the JSON. */
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import { findValueAt, type JsonPath } from '../../../base/json/path.ts';
import { AppError } from '../../../base/errors.ts';
import { createTaggedLogger } from '../../../base/log.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { CHAIN_REFUSED } from '../../../base/webhook-chain.ts';
import { formatHeaders } from '../../../server/exchange/header-text.ts';
import type { Exchange, HeaderText } from '../../../server/http-route.ts';
import { createEmptyPayload } from '../../actions/action-payload.ts';
import type { BodyTemplate, ReadValue } from '../../members/templates/body-template.ts';
import {
  getContentType, parseBody, type CustomResponse, type ResponseOutcome,
} from '../custom-response.ts';
import type { AdmittedRequest } from './admitted-request.ts';
import {
  findCustomResponse, type AnsweredRequest, type WebhookResponse,
} from './webhook-response.ts';

type PreparedResponse = {
  readonly headers: HeaderText;
  readonly headersOfChain: HeaderText;
  readonly body: BodyTemplate | null;
};

/** Many responses are sent at once, and senders decide how much memory they take. */
const BODY_LENGTH_MAX = 1 << 20;

const OUTCOMES_OF_RUNS: readonly ResponseOutcome[] =
  ['accepted', 'unmatched', 'failed', 'duplicate'];

/**
 * Prepares the responses that a request may get once it was handled, and tells whether a body of
 * them holds what stands in the payload. Throws `malformed` for a template that cannot be read.
 */
export function prepareResponses(request: AnsweredRequest): boolean {
  const responses = OUTCOMES_OF_RUNS.map((outcome) => findCustomResponse(request, outcome));
  const bodies = responses.map((custom) => custom === null ? null : prepare(custom, false).body);
  return bodies.some((body) => body?.paths.some(([source]) => source === 'payload') === true);
}

/** `response` is what the sender would get otherwise. */
export function sendCustomResponse(
  request: AdmittedRequest, custom: CustomResponse, response: WebhookResponse,
): void {
  const { exchange, webhook } = request;
  const { headers, headersOfChain, body } = prepare(custom, false);
  let text: string | undefined;
  try {
    text = body?.fill(createValueReader(request, response), BODY_LENGTH_MAX);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    // The action has run: another status would have the sender send the request again.
    createTaggedLogger(exchange.log, webhook.labels).warning(
      'a response was sent without its body, which is too long', { error: thrown.message });
  }
  exchange.send(custom.status, response.isChainRefused === true ? headersOfChain : headers, text);
}

/** The response to a rejected request holds nothing of the request. */
export function sendRejection(exchange: Exchange, custom: CustomResponse): void {
  const { headers, body } = prepare(custom, true);
  exchange.send(custom.status, headers, body?.fill(() => undefined));
}

const preparedResponses = new WeakMap<CustomResponse, PreparedResponse>();

function prepare(custom: CustomResponse, isRejected: boolean): PreparedResponse {
  const cachedResponse = preparedResponses.get(custom);
  if (cachedResponse !== undefined) return cachedResponse;
  const { headers = {}, body } = custom;
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const list = [
    ...isTyped || body === undefined ? [] : ['Content-Type', getContentType(custom)],
    ...Object.entries(headers).flat(),
    // A sender's text could be a page: a browser must not run it in our origin. `nosniff` is in
    // every response.
    'Content-Security-Policy', 'sandbox',
  ];
  const response = {
    headers: formatHeaders(list),
    headersOfChain: formatHeaders([...list, 'X-Hookshelf-Chain', CHAIN_REFUSED]),
    body: body === undefined ? null : parseBody(custom, body, isRejected),
  };
  preparedResponses.set(custom, response);
  return response;
}

function createValueReader(request: AdmittedRequest, response: WebhookResponse): ReadValue {
  const { body, event, eventId } = request;
  const { dataJson, message, requestId } = response;
  const values: Record<string, JsonValue | undefined> = {
    message, request: { id: requestId, event, eventId },
  };
  const readSource = (source: string): JsonValue | undefined => {
    if (source === 'data') return values['data'] ??= parseJsonText(dataJson) as JsonValue;
    // The body is asked, as a call of an action would count an unparsed body once more.
    if (source !== 'payload') return values[source];
    return (body.readPayload() ?? createEmptyPayload()) as JsonValue;
  };
  return ([source = '', ...path]: JsonPath) => findValueAt(readSource(source) ?? null, path);
}
