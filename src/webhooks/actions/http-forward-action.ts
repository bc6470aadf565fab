/**
 * The built-in action `http-forward`. It sends on the payload in the very bytes that came, so that
 * a signature over them stays valid; with `pass` it sends the whole request. The caller, who may be
 * anybody, never learns the target; the record of a failed run has it, with the answer's beginning.
 */
import { isChainRefused, nextHop, addChainHeader } from '../../base/webhook-chain.ts';
import type { FieldError } from '../../base/errors.ts';
import { ProgramReplacedError } from '../../base/lazy-import.ts';
import { redactText } from '../../base/log.ts';
import { addTraceHeaders } from '../../base/trace-context.ts';
import { quote } from '../../base/text/error-message.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';
import {
  decodeTextStart, formatResponseBody, hideSecrets, isSuccessStatus, listHeaderSecrets,
  networkErrorCode, RESPONSE_BYTES_MAX, SECRET_LENGTH_MIN, type HttpSender,
} from '../members/http-sender.ts';
import {
  DEFAULT_METHOD, parseConfiguredHeaders, findHeaderProblems, hasRequestBody, headersSchema,
  isTargetMethod, isTargetUrl, resolveHeaders, targetMethodSchema, targetUrlSchema,
} from '../members/target-rules.ts';
import {
  REQUEST_ID_HEADER, buildPassedHeaders, appendQuery, type PassedHeaders, type RequestOrigin,
} from '../members/pass-through.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import { listHeaderNames, listQueryParameters } from '../senders/request/hide-signature.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { ActionResult } from './action.ts';
import { findUnknownOptions, type ActionCall, type RegisteredAction } from './action-registry.ts';
import { DetailedRunResult } from './run-action.ts';

export type Forward = {
  readonly url: string;
  readonly method: string;
  readonly headers: PassedHeaders;
  readonly body: Buffer | null;
  /** Parameters of the URL with the sender's signature or secret. */
  readonly hiddenParameters?: readonly string[];
};

/** Resolves with the delivery's identifier once the forward is on disk. */
type QueueForward = (forward: Forward) => Promise<string>;

/** The body without a payload: the target is told that the body is JSON. */
const EMPTY_PAYLOAD = Buffer.from('[]');
/** A relay sends on the query of a caller, and each of many attempts is kept. */
const RECORD_URL_LENGTH_MAX = 1024;
const OPTIONS: MemberSchemas = {
  url: { schema: targetUrlSchema, isRequired: true, description: 'Where to send: http or https' },
  method: { schema: targetMethodSchema, default: DEFAULT_METHOD, description: 'The HTTP method' },
  headers: {
    schema: headersSchema, form: { field: 'pairs' },
    description: 'Names and values, over `Content-Type: application/json`',
  },
  exposeResponse: {
    schema: { kind: 'boolean' }, default: false, description: 'Shows the answer to the caller',
  },
  mode: {
    schema: { kind: 'string', values: ['sync', 'queue'] }, default: 'sync',
    description: '`sync` answers when it has sent, `queue` once the request is accepted',
  },
  pass: {
    schema: { kind: 'boolean' }, default: false,
    description: 'A transparent relay: the request goes on as it came, with its method, query, '
      + 'headers and bytes',
  },
  passAuthorization: {
    schema: { kind: 'boolean' }, default: false,
    description: 'Passes the header Authorization, too',
  },
};

export function createHttpForwardAction(http: HttpSender, queue: QueueForward): RegisteredAction {
  return {
    identifier: 'http-forward',
    label: 'Forward to a URL',
    isBuiltIn: true,
    module: null,
    options: OPTIONS,
    validateOptions: findOptionProblems,
    formatTarget: ({ url }) => formatTargetLabel(String(url)),
    findTargetUrl: ({ url }) => typeof url === 'string' ? url : null,
    run: (call) => call.options['mode'] === 'queue'
      ? forwardLater(call, queue) : forwardNow(call, http),
  };
}

async function forwardNow(call: ActionCall, http: HttpSender): Promise<ActionResult> {
  const forward = buildForward(call);
  const { url, method, headers, body } = forward;
  const redactUrl = (): string => hideUrlSecrets(url, forward.hiddenParameters);
  const recordUrl = (): string => redactUrl().slice(0, RECORD_URL_LENGTH_MAX);
  try {
    // The client sends again as `http.retries` says, within each attempt of a route.
    const response = await http.request({ url, method, headers, ...body === null ? {} : { body } });
    const { statusCode } = response;
    const exposedResponse = call.options['exposeResponse'] === true
      ? { response: formatResponseBody(response.body) } : {};
    if (isSuccessStatus(statusCode)) return ActionResult.ok({ statusCode, ...exposedResponse });
    // `runAction` reads this, so that our caller is told, too.
    if (isChainRefused(response.headers)) call.isChainRefused = true;
    call.log.debug('a forward was refused', { url: redactUrl(), statusCode });
    const data = { statusCode, ...exposedResponse };
    const responseStart = formatResponseStart(response.body, listSentSecrets(forward, call));
    return new DetailedRunResult(false, `The upstream answered ${statusCode}`, data, {
      recordData: { statusCode, method, url: recordUrl(), response: responseStart },
    });
  } catch (thrown) {
    if (thrown instanceof ProgramReplacedError) throw thrown;
    const code = networkErrorCode(thrown);
    call.log.debug('a forward failed', { url: redactUrl(), error: code });
    const message = `The upstream could not be reached: ${code}`;
    return new DetailedRunResult(false, message, { statusCode: null }, {
      recordData: { statusCode: null, method, url: recordUrl() },
    });
  }
}

function formatResponseStart(body: Buffer, secrets: readonly string[]): string {
  const publicBody = hideSecrets(body, secrets, RESPONSE_BYTES_MAX);
  return redactText(decodeTextStart(publicBody, RESPONSE_BYTES_MAX));
}

/**
 * The secrets that the target may repeat in its answer: those of the headers, and the sender's
 * signature or secret. Shorter values than `SECRET_LENGTH_MIN` may stand in any text.
 */
function listSentSecrets(
  { url, headers, hiddenParameters = [] }: Forward, { secretSources }: ActionCall,
): readonly string[] {
  const headerNames = listHeaderNames(secretSources);
  const signatures = Object.entries(headers).flatMap(([name, value]) =>
    headerNames.includes(name.toLowerCase()) ? [value].flat() : []);
  const { searchParams } = new URL(url);
  const parameters = hiddenParameters.flatMap((name) => searchParams.getAll(name));
  return [
    ...listHeaderSecrets(headers),
    ...[...signatures, ...parameters].filter(({ length }) => length >= SECRET_LENGTH_MIN),
  ];
}

/** The result says that the request is queued; the delivery that begins here says more. */
async function forwardLater(call: ActionCall, queue: QueueForward): Promise<ActionResult> {
  const deliveryId = await queue(buildForward(call));
  return ActionResult.ok({ deliveryId });
}

/** An outgoing webhook has no request to pass: there `pass` has no effect. */
function buildForward(call: ActionCall): Forward {
  const { options } = call;
  // Read only where needed: a call makes its origin anew.
  const origin = options['pass'] === true ? call.requestOrigin : null;
  if (origin !== null) return buildPassedForward(call, origin);
  const method = typeof options['method'] === 'string' ? options['method'] : DEFAULT_METHOD;
  return {
    url: String(options['url']),
    method,
    headers: addOwnHeaders(resolveHeaders(method, options['headers']), call),
    body: hasRequestBody(method) ? call.payloadJson() ?? EMPTY_PAYLOAD : null,
  };
}

function buildPassedForward(call: ActionCall, origin: RequestOrigin): Forward {
  const { options, context, secretSources } = call;
  const { query, body, eventId } = context;
  const hiddenParameters = listQueryParameters(secretSources);
  const method = typeof options['method'] === 'string' ? options['method'] : context.method;
  const passedHeaders = buildPassedHeaders(origin, eventId, options['passAuthorization'] === true);
  return {
    url: appendQuery(String(options['url']), query),
    method,
    headers: addOwnHeaders(
      { ...passedHeaders, ...parseConfiguredHeaders(options['headers']) }, call),
    body: hasRequestBody(method) ? body : null,
    ...hiddenParameters.length === 0 ? {} : { hiddenParameters },
  };
}

/**
 * Adds the id of a stored request, by which the target can tell that it is sent again, the trace,
 * and the number of hops: a forward counts as a hop, as a forward to ourselves would go round for
 * ever.
 */
function addOwnHeaders(
  headers: PassedHeaders, { hops, trace, storedRequestId, options }: ActionCall,
): PassedHeaders {
  const sentHeaders = storedRequestId === null ? headers
    : { ...headers, [REQUEST_ID_HEADER]: storedRequestId };
  const hop = nextHop(hops, () => formatTargetLabel(String(options['url'])));
  return addTraceHeaders(addChainHeader(sentHeaders, hop), trace);
}

function findOptionProblems(options: JsonObject): string[] {
  const problems = findUnknownOptions(options, Object.keys(OPTIONS));
  const { url, method, headers, exposeResponse, mode, pass, passAuthorization } = options;
  if (typeof url !== 'string' || !isTargetUrl(url)) {
    const suffix = url === undefined ? '' : `, not ${quote(url)}`;
    problems.push(`url must be an http(s) URL${suffix}`);
  }
  if (method !== undefined && (typeof method !== 'string' || !isTargetMethod(method))) {
    problems.push('method must be an HTTP method in upper case, other than CONNECT and TRACE, '
      + `not ${quote(method)}`);
  }
  if (headers !== undefined) {
    problems.push(...findHeaderProblems(headers).map(formatHeaderProblem));
  }
  for (const [name, value] of Object.entries({ exposeResponse, pass, passAuthorization })) {
    if (value === undefined || typeof value === 'boolean') continue;
    problems.push(`${name} must be true or false, not ${quote(value)}`);
  }
  if (passAuthorization === true && pass !== true) {
    problems.push('passAuthorization needs pass: without it no header of the caller goes on');
  }
  if (mode !== undefined && mode !== 'sync' && mode !== 'queue') {
    problems.push(`mode must be sync or queue, not ${quote(mode)}`);
  }
  return problems;
}

/** The pointer is `/Name`, or empty for all headers. */
function formatHeaderProblem({ pointer, detail }: FieldError): string {
  return `headers${pointer.replace('/', ' ')} ${detail}`;
}
