/** The tools about incoming webhooks that no route has: to wait for a request, and to send one. */
import { sleep } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isCount, isJsonObject } from '../base/fields.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { malformed } from '../server/query.ts';
import { computeFillRatio } from './fit-result.ts';
import { METHODS, TEXT, deriveArguments, callRoute } from './route-call.ts';
import { makeArgument } from './route-tools.ts';
import type { Tool, ToolContext } from './tool.ts';

const WAIT_SECONDS_MAX = 60;
const WAIT_SECONDS = 30;
const WAITS_MAX = 20;
const POLL_MS = 500;
const PROGRESS_SECONDS = 5;

/** `routes` are all there are. `hasServer`: requests can come. */
export function makeWebhookTools(
  routes: readonly HttpRoute[], hasServer: boolean,
): readonly Tool[] {
  const byId = new Map(routes.map((route) => [route.operationId, route]));
  const list = byId.get('listRequests');
  const sample = byId.get('makeSampleRequest');
  const diagnose = byId.get('diagnoseIncomingWebhook');
  return [
    ...list === undefined ? [] : [makeWaitTool(list, hasServer)],
    ...sample === undefined || diagnose === undefined ? [] : [makeTryTool(sample, diagnose)],
  ];
}

function makeWaitTool(list: HttpRoute, hasServer: boolean): Tool {
  const { limit: _limit, cursor: _cursor, ...filters } = deriveArguments(list);
  let waitCount = 0;
  return {
    name: 'requests_wait', access: list.access, isReadOnly: true, isDestructive: false,
    tellsProgress: true,
    description: 'Wait for the next request that a webhook keeps, filtered as requests_list is',
    outputSchema: {
      type: 'object', properties: { request: { type: ['object', 'null'] } }, required: ['request'],
    },
    arguments: {
      ...Object.fromEntries(Object.entries(filters).map(([name, filter]) =>
        [name, { ...filter, isBrief: true }])),
      after: makeArgument(TEXT, 'Id of the last request seen, so that none is missed'),
      seconds: makeArgument(SECONDS, `At most ${WAIT_SECONDS_MAX}`),
    },
    async run(context, args) {
      if (!hasServer) throw new AppError('unavailable', NO_SERVER);
      if (waitCount === WAITS_MAX) {
        throw new AppError('too_many_requests', `${WAITS_MAX} calls wait already: try again later`);
      }
      waitCount += 1;
      const { request, after } = await waitForRequest(context, list, args)
        .finally(() => waitCount -= 1);
      return {
        value: computeFillRatio({ request }) > 1 ? { request: { id: after } } : { request },
        origin: request === null ? null : `${list.method} ${list.path}`,
        notes: after === '' ? [] : [`Go on with after: ${JSON.stringify(after)}`],
      };
    },
  };
}

const SECONDS = { kind: 'integer', minimum: 0, maximum: WAIT_SECONDS_MAX } as const;
const NO_SERVER = 'no server runs on this data directory, so no request can come: start '
  + '`hookshelf serve`';

/**
 * The oldest request after the one of the id `after`, else after the newest of now; null when none
 * came in time. `after` in the result is the id from which a further wait goes on.
 */
async function waitForRequest(
  { api, caller, clock, signal, tellProgress }: ToolContext, route: HttpRoute, args: JsonObject,
): Promise<{ readonly request: JsonValue; readonly after: string }> {
  const { seconds = WAIT_SECONDS, after = null, ...filters } = args;
  if (!isCount(seconds) || seconds > WAIT_SECONDS_MAX) {
    throw malformed(`\`seconds\` must be an integer from 0 to ${WAIT_SECONDS_MAX}`);
  }
  const list = (query: JsonObject): Promise<JsonObject> =>
    callRoute(api, route, caller, query, signal);
  const { hook = null } = filters;
  const findNewest = async (): Promise<string> => idOf(itemsOf(await list({ hook, limit: 1 }))[0]);
  // Throws for wrong filters before anything waits.
  await list({ ...filters, limit: 1 });
  const start = after === null ? await findNewest() : String(after);
  const startMs = clock.monotonicMs();
  let seen = start;
  let nextToldS = 0;
  for (;;) {
    const elapsedS = (clock.monotonicMs() - startMs) / 1000;
    const newest = await findNewest();
    // The filters are asked only when a request has come.
    const request = newest > seen ? await findFirst(list, filters, start) : null;
    seen = newest;
    if (request !== null) return { request, after: idOf(request) };
    if (elapsedS >= seconds) return { request: null, after: start };
    if (elapsedS >= nextToldS) {
      tellProgress(Math.floor(elapsedS), seconds);
      nextToldS += PROGRESS_SECONDS;
    }
    await sleep(clock, Math.min(POLL_MS, (seconds - elapsedS) * 1000), signal);
    if (signal.aborted) return { request: null, after: start };
  }
}

/** The oldest request after that id, of a list with the newest first; null: there is none. */
async function findFirst(
  list: (query: JsonObject) => Promise<JsonObject>, filters: JsonObject, after: string,
): Promise<JsonValue> {
  let first: JsonValue = null;
  for (let cursor: JsonObject | null = {}; cursor !== null;) {
    const page: JsonObject = await list({ ...filters, ...cursor, limit: 100 });
    for (const request of itemsOf(page)) {
      // Ids rise with time.
      if (idOf(request) <= after) return first;
      first = request;
    }
    const { next } = page;
    cursor = next === undefined ? null : { cursor: next };
  }
  return first;
}

function itemsOf({ items }: JsonObject): readonly JsonValue[] {
  return Array.isArray(items) ? items : [];
}

function idOf(request: JsonValue | undefined): string {
  return isJsonObject(request) ? String(request['id']) : '';
}

const ENDPOINT_PATH = '/webhook/in/';
const ADDRESS_NOTE = 'allowedAddresses was not checked, as this call has not the address of the '
  + 'sender: incoming_webhooks_diagnose with `client` checks one';

function makeTryTool(sampleRoute: HttpRoute, diagnoseRoute: HttpRoute): Tool {
  const { handshake: _handshake, ...shown } = deriveArguments(sampleRoute);
  return {
    name: 'webhook_try', access: sampleRoute.access, isReadOnly: false, isDestructive: false,
    description: 'Send an incoming webhook a sample of its sender: says which check failed, and '
      + 'what would mend it',
    arguments: shown,
    async run({ api, caller, signal }, args) {
      const sample = await callRoute(api, sampleRoute, caller, args, signal);
      const { method: sampleMethod, path, headers, body, isAddressLimited } = sample;
      const method = METHODS.find((one) => one === sampleMethod);
      if (method === undefined || !isJsonObject(headers)) {
        throw new AppError('conflict', 'such a request is not sent from here');
      }
      // Before the sample is sent: afterwards it would be diagnosed as a duplicate.
      const { failedCheck = null, checks = [] } = await callRoute(api, diagnoseRoute, caller, {
        identifier: args['identifier'] ?? '', method, url: path ?? '', headers, body: body ?? '',
      }, signal);
      const { status, body: answer } = await api.callEndpoint({
        method, path: String(path), signal,
        headers: Object.fromEntries(Object.entries(headers)
          .map(([name, value]) => [name.toLowerCase(), String(value)])),
        ...typeof body === 'string' ? { body: Buffer.from(body, 'base64') } : {},
      });
      // The answer to a handshake may be signed, and a signature is shown to nobody.
      const isHandshake = Array.isArray(checks) && checks.some((entry) =>
        isJsonObject(entry) && entry['check'] === 'handshake' && entry['status'] === 'ok');
      const isShown = !isHandshake && (isJsonObject(answer) || typeof answer === 'string');
      return {
        value: {
          accepted: status < 300, status, failedCheck, checks, ...isShown ? { answer } : {},
        },
        origin: `${method} ${ENDPOINT_PATH}`,
        ...isAddressLimited === true ? { notes: [ADDRESS_NOTE] } : {},
      };
    },
  };
}
