/**
 * The built-in action `http-forward`: sends the received payload on, the very bytes that came, so
 * that a signature over them still holds. The target is never named to the caller, who may be
 * anybody.
 */
import { nextHop, withChainHeader } from '../../base/chain.ts';
import { quoted } from '../../base/text/refusal.ts';
import type { JsonObject } from '../../base/schema.ts';
import {
  isSuccessStatus, networkErrorCode, shownBody, type HttpSender,
} from '../http/client-port.ts';
import {
  DEFAULT_METHOD, findHeaderProblems, hasRequestBody, isTargetMethod, isTargetUrl, sentHeaders,
} from '../http/target.ts';
import { hideUrlSecrets } from '../http/url-credentials.ts';
import { ActionResult } from './action.ts';
import { unknownOptions } from './registry.ts';
import type { ActionCall, OptionDoc, RegisteredAction } from './registry.ts';

/** A request to make later, and durably. */
export type QueuedForward = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text in UTF-8, null for methods without a body. */
  readonly body: string | null;
};

/** Resolves with the delivery's identifier once the forward is on disk. */
type QueueForward = (forward: QueuedForward) => Promise<string>;

const EMPTY_PAYLOAD = Buffer.from('[]');
const OPTIONS: readonly OptionDoc[] = [
  { name: 'url', description: 'where to send: http or https', isRequired: true },
  { name: 'method', description: 'the HTTP method', default: DEFAULT_METHOD },
  { name: 'headers', description: 'names and values, over Content-Type: application/json' },
  { name: 'exposeResponse', description: 'show the answer to the caller', default: false },
  { name: 'mode', description: 'sync: answer when sent; queue: answer when accepted',
    default: 'sync' },
];

export function createHttpForwardAction(parts: {
  readonly http: HttpSender; readonly queue: QueueForward;
}): RegisteredAction {
  return {
    identifier: 'http-forward',
    label: 'Forward to a URL',
    isBuiltIn: true,
    options: OPTIONS,
    validateOptions: findOptionProblems,
    run: (call) => call.options['mode'] === 'queue'
      ? forwardLater(call, parts.queue) : forwardNow(call, parts.http),
  };
}

async function forwardNow(call: ActionCall, http: HttpSender): Promise<ActionResult> {
  const { url, method, headers, body } = requestOf(call);
  try {
    const answer = await http.request({ url, method, headers, ...body === null ? {} : { body } });
    const { statusCode } = answer;
    const exposed = call.options['exposeResponse'] === true
      ? { response: shownBody(answer.body) } : {};
    if (isSuccessStatus(statusCode)) return ActionResult.ok({ statusCode, ...exposed });
    call.log.warning('a forward was refused', { url: hideUrlSecrets(url), statusCode });
    return ActionResult.fail(`The upstream answered ${statusCode}`, { statusCode, ...exposed });
  } catch (thrown) {
    const code = networkErrorCode(thrown);
    call.log.warning('a forward failed', { url: hideUrlSecrets(url), error: code });
    return ActionResult.fail(`The upstream could not be reached: ${code}`, { statusCode: null });
  }
}

async function forwardLater(call: ActionCall, queue: QueueForward): Promise<ActionResult> {
  const { body, ...request } = requestOf(call);
  const text = body === null ? null : body.toString('utf8');
  const deliveryId = await queue({ ...request, body: text });
  return ActionResult.ok({ deliveryId });
}

// A forward to ourselves would go round for ever: it counts as a hop of its chain.
function requestOf(call: ActionCall): {
  url: string; method: string; headers: Readonly<Record<string, string>>; body: Buffer | null;
} {
  const { options } = call;
  const method = typeof options['method'] === 'string' ? options['method'] : DEFAULT_METHOD;
  return {
    url: String(options['url']),
    method,
    headers: withChainHeader(sentHeaders(method, options['headers']), nextHop(call.hops)),
    body: hasRequestBody(method) ? call.bytes() ?? EMPTY_PAYLOAD : null,
  };
}

function findOptionProblems(options: JsonObject): string[] {
  const problems = unknownOptions(options, OPTIONS.map(({ name }) => name));
  const { url, method, headers, exposeResponse, mode } = options;
  if (typeof url !== 'string' || !isTargetUrl(url)) {
    const given = url === undefined ? '' : `, not ${quoted(url)}`;
    problems.push(`url must be an http(s) URL${given}`);
  }
  if (method !== undefined && (typeof method !== 'string' || !isTargetMethod(method))) {
    problems.push('method must be an HTTP method in upper case, other than CONNECT and TRACE, '
      + `not ${quoted(method)}`);
  }
  if (headers !== undefined) {
    problems.push(...findHeaderProblems(headers).map(({ pointer, detail }) =>
      `headers${pointer.replace('/', ' ')} ${detail}`));
  }
  if (exposeResponse !== undefined && typeof exposeResponse !== 'boolean') {
    problems.push(`exposeResponse must be true or false, not ${quoted(exposeResponse)}`);
  }
  if (mode !== undefined && mode !== 'sync' && mode !== 'queue') {
    problems.push(`mode must be sync or queue, not ${quoted(mode)}`);
  }
  return problems;
}
