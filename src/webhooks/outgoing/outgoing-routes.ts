/** The HTTP routes of outgoing webhooks: those that manage them, and one that sends at once. */
import { explainInvalidEventName, isEventName } from '../../base/event-name.ts';
import { AppError } from '../../base/errors.ts';
import { CHAIN_HEADER, CHAIN_REFUSED, parseHops } from '../../base/webhook-chain.ts';
import type { JsonObject } from '../../base/schema.ts';
import { createTaggedLogger, type Logger } from '../../base/log.ts';
import { readTraceContext, type TraceContext } from '../../base/trace-context.ts';
import { logWrite } from '../../resources/change-log.ts';
import {
  collectionRoute, type CollectionFilter, type ListedView,
} from '../../resources/collection-route.ts';
import { decodeRecord } from '../../resources/record.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { NO_PAYLOAD, readPayload } from '../../resources/payload-body.ts';
import type { Repository } from '../../resources/repository.ts';
import { HISTORY_WINDOWS, JSON_TYPE, jsonResponse } from '../../resources/route-specs.ts';
import { createKeyParameter, resourceRoutes } from '../../resources/resource-routes.ts';
import { announcesBody } from '../../server/exchange/request-head.ts';
import { problemResponses } from '../../server/problem.ts';
import {
  bindRoutes, includesBoundScope, type Exchange, type HttpRoute, type ParameterSpec, type RouteRow,
  type BoundScope, type Grant,
} from '../../server/http-route.ts';
import { malformed, readQuery } from '../../server/query.ts';
import { markAcknowledged } from '../health/disabled-members.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { webhookStatisticsSchema } from '../health/webhook-statistics.ts';
import { hideForeignWait } from '../health/public-health.ts';
import { rotationRoute } from '../members/rotate-secret.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import type { FindVisibility, Visibility } from '../members/visibility.ts';
import { webhookListParameters, webhookListView } from '../records/webhook-list.ts';
import { outgoingResource } from './outgoing-resource.ts';
import { listTriggers, outgoingSchema, type StoredOutgoingWebhook } from './outgoing-webhook.ts';
import {
  sendingSchema, sendResultSchema, type SendOptions, type SendResult,
} from './send-options.ts';
import {
  canHoldPrevious, chooseOutgoingSecretShape, findChosenSecretProblem,
  findDialectSecretProblem,
} from './signing-member.ts';
import {
  CONDITION_ADVICE, describeUnconditional, findHolders, type TokenBinding,
} from './token-holders.ts';
import {
  createTriggerTest, type OutgoingWebhookIndex, type ReadyOutgoingWebhook,
} from './outgoing-webhook-index.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { quote } from '../../base/text/error-message.ts';
import { explainNewOrigin } from '../members/mask-secrets.ts';

type OutgoingServices = {
  readonly records: Repository;
  readonly webhooks: OutgoingWebhookIndex;
  readonly health: HealthMonitor;
  readonly findVisibility: FindVisibility;
  readonly listBoundTokens: () => readonly TokenBinding[];
  /** Most attempts at once of a webhook without a number of its own. */
  readonly inFlightPerHookMax: number;
  /** Sends at once, and resolves with the result also when sending fails. */
  readonly send: (
    webhook: ReadyOutgoingWebhook, payloadJson: Buffer, options: SendOptions,
    origin: {
      readonly hops: number; readonly trace: TraceContext | null; readonly log: Logger;
      readonly onChainRefused: () => void;
    },
  ) => Promise<SendResult>;
};

export function outgoingRoutes(services: OutgoingServices): readonly HttpRoute[] {
  const { records, webhooks, health, findVisibility } = services;
  const findView = (exchange: Exchange): ListedView | null =>
    createListedView(findVisibility(exchange));
  return [
    sendRoute(services), ...bindRoutes(outgoingRows, records), statisticsRoute(services),
    rotationRoute({
      resource: outgoingResource, records, chooseShape: chooseOutgoingSecretShape,
      findProblem: findDialectSecretProblem, canOverlap: canHoldPrevious,
      bound: {
        rule: { scope: 'write', subject: 'webhook' }, findView,
        findProblem: findChosenSecretProblem,
      },
    }),
    collectionRoute(outgoingResource, records, {
      ...webhookListView(health, 'outgoing', webhooks,
        ({ targetUrl }) => hideUrlSecrets(targetUrl), [eventFilter(webhooks)]),
      bound: { rule: { scope: 'read' }, findView },
    }),
    ...resourceRoutes(outgoingResource, records, null, {
      read: { scope: 'read', subject: 'webhook' },
      patch: { scope: 'resend', subject: 'webhook' },
      findView,
      findHint: (exchange, record) => exchange.grant?.binding === undefined
        ? findConditionHint(services, decodeRecord(record)) : null,
      checkPatch(exchange, patch) {
        const webhook = webhooks.findNamed(exchange.params[0] ?? '');
        if (exchange.grant?.binding === undefined || webhook === undefined) return;
        checkBoundChange(exchange.grant, patch, webhook, services.inFlightPerHookMax);
      },
    }),
  ];
}

/** Says that a webhook without a condition hears what is not for the tokens alone that see it. */
function findConditionHint(
  { webhooks, listBoundTokens }: OutgoingServices, webhook: JsonObject,
): string | null {
  const tokens = listBoundTokens();
  if (webhook['when'] !== undefined || tokens.length === 0) return null;
  const others = [...webhooks.all()].map((other) => ({
    identifier: other.identifier, name: other.name ?? null, triggerEvents: listTriggers(other),
  })).filter(({ identifier }) => identifier !== webhook['identifier']);
  const holders = findHolders([webhook, ...others], tokens);
  const detail = describeUnconditional(holders, (subject) => subject === webhook);
  return detail === null ? null : `${detail}; ${CONDITION_ADVICE}`;
}

function createListedView(visibility: Visibility | null): ListedView | null {
  return visibility && {
    sees: (identifier) => visibility.seesWebhook(identifier),
    show: (bytes) => hideForeignWait(visibility, bytes),
  };
}

/** `route-options.ts` reads these rows without a repository. */
export const outgoingRows: readonly RouteRow<Repository>[] = [
  {
    method: 'POST', path: `${outgoingResource.path}/{identifier}/acknowledge`, access: 'write',
    operationId: 'acknowledgeOutgoingWebhook',
    summary: 'Acknowledge that a failure has switched off one outgoing webhook: overviews name it '
      + 'no more',
    commands: [{
      name: 'outgoingwebhook:acknowledge', done: 'acknowledged outgoing webhook {id}',
      summary: 'Say that you have seen that a failure switched one off: overviews name it no more',
    }],
    parameters: [createKeyParameter(outgoingResource)],
    responses: [
      jsonResponse('The webhook, with `acknowledgedAt`', outgoingSchema),
      ...problemResponses(404, 409, 503, 507),
    ],
    async handle(exchange, records) {
      const { bytes } = await logWrite(exchange, outgoingResource.noun, (options) =>
        records.changeServiceMembers(exchange.params[0] ?? '', markAcknowledged, options));
      exchange.send(200, ['Content-Type', JSON_TYPE], bytes);
    },
  },
];

const windowParameter = {
  name: 'window', in: 'query', schema: { kind: 'string', values: HISTORY_WINDOWS },
  description: 'How far back; the last hour when absent',
} as const satisfies ParameterSpec;

function statisticsRoute({ webhooks, health }: OutgoingServices): HttpRoute {
  return {
    method: 'GET', path: `${outgoingResource.path}/{identifier}/statistics`, access: 'read',
    bound: { scope: 'read', subject: 'webhook' },
    operationId: 'getOutgoingWebhookStatistics',
    summary: 'What became of the attempts of one outgoing webhook in the last hour, day or week, '
      + 'by five minutes, also before a restart',
    parameters: [createKeyParameter(outgoingResource), windowParameter],
    responses: [jsonResponse('The series', webhookStatisticsSchema), ...problemResponses(400, 404)],
    async handle(exchange) {
      const { window } = readQuery(exchange.search, [windowParameter]);
      const { identifier } = await webhooks.getNamed(exchange.params[0] ?? '');
      exchange.sendJson(200, health.statistics.read(identifier, window ?? '1h'));
    },
  };
}

const eventParameter = {
  name: 'event', in: 'query', schema: { kind: 'string' },
  description: 'Those that would hear an event of this name, by their triggers: conditions are not '
    + 'asked, and those that are off are listed, too',
  option: {
    placeholder: '<event>', help: 'those that would hear an event of this name, also while off',
  },
} as const satisfies ParameterSpec;

export const outgoingListParameters: readonly ParameterSpec[] =
  [...webhookListParameters('outgoing'), eventParameter];

function eventFilter(webhooks: Pick<OutgoingWebhookIndex, 'find'>): CollectionFilter {
  return {
    parameter: eventParameter,
    select(event) {
      if (!isEventName(event)) throw malformed(`\`event\` ${explainInvalidEventName(event)}`);
      return (id) => {
        const webhook = webhooks.find(id);
        return webhook !== undefined && createTriggerTest(webhook)(event);
      };
    },
  };
}

function sendRoute({ webhooks, send }: OutgoingServices): HttpRoute {
  return {
    method: 'POST', path: '/api/outgoing-webhooks/{identifier}/send', access: 'write',
    bound: { scope: 'resend', subject: 'webhook' },
    operationId: 'sendOutgoingWebhook',
    summary: 'Send one outgoing webhook now, also a disabled one; without a body the payload is {}',
    tool: {},
    parameters: [createKeyParameter(outgoingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: sendingSchema, isOptional: true },
    responses: [
      jsonResponse('What came of it; a failed delivery is `success: false`', sendResultSchema),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const { payloadJson, members } = announcesBody(exchange.request)
        ? await readPayload(exchange, sendingSchema) : { payloadJson: NO_PAYLOAD, members: {} };
      const identifier = exchange.params[0] ?? '';
      const webhook = webhooks.findNamed(identifier);
      if (webhook === undefined) throw notFoundError('outgoing webhook', identifier);
      if (exchange.grant?.binding !== undefined && webhook.actionConfiguration !== undefined) {
        throw new AppError('forbidden', 'this token may not send to a webhook with an action');
      }
      const path = `${outgoingResource.path}/${identifier}/send`;
      let headers: readonly string[] = [];
      const retries = Number(members['retries'] ?? 0);
      const result = await send(webhook, payloadJson, { retries }, {
        hops: parseHops(exchange.request.headers[CHAIN_HEADER]),
        log: createTaggedLogger(exchange.log, { path }),
        trace: readTraceContext(exchange.request.headers),
        onChainRefused: () => {
          headers = ['X-Hookshelf-Chain', CHAIN_REFUSED];
        },
      });
      exchange.sendJson(200, result, headers);
    },
  };
}

/**
 * The members that the holder of a token bound to webhooks may patch, with the least scope for
 * each. The name is not among them, as it binds the token, nor what decides which events the
 * webhook hears or what is made of them.
 */
const SCOPE_BY_MEMBER: Readonly<Record<string, BoundScope>> = {
  enabled: 'resend',
  targetUrl: 'write', headers: 'write', description: 'write', rate: 'write', maxInFlight: 'write',
};

/**
 * Checks the patch of a webhook by a bound token. Throws `forbidden` for a member that the caller
 * may not set, and `invalid` for more attempts at once than `inFlightMax`: one customer must not
 * take the places of all.
 */
function checkBoundChange(
  { scope }: Pick<Grant, 'scope'>, patch: unknown, webhook: StoredOutgoingWebhook,
  inFlightMax: number,
): void {
  if (!isJsonObject(patch)) return;
  const allowedMembers = Object.entries(SCOPE_BY_MEMBER).flatMap(([name, requiredScope]) =>
    includesBoundScope(scope, requiredScope) ? [name] : []);
  const refusedMember = Object.keys(patch).find((name) => !allowedMembers.includes(name));
  if (refusedMember !== undefined) {
    throw new AppError('forbidden', `this token may not set ${quote(refusedMember)}; it may set `
      + allowedMembers.join(', '));
  }
  const { maxInFlight, targetUrl } = patch;
  if (typeof maxInFlight === 'number' && maxInFlight > inFlightMax) {
    throw invalid([{
      pointer: '/maxInFlight', detail: `must be at most ${inFlightMax} for this token`,
    }]);
  }
  // The requests carry access tokens that were given for the present target.
  if (targetUrl !== undefined && webhook.oauth2 !== undefined
    && explainNewOrigin(targetUrl, webhook.targetUrl) !== null) {
    throw new AppError('forbidden', 'this token may not set another scheme, host or port in '
      + '"targetUrl": the requests of this webhook carry access tokens of its `oauth2`');
  }
}
