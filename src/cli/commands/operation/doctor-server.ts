/** The checks of `doctor` that a running server alone can answer. */
import { TOKEN_LIST_PATH } from '../../../access/token-resource.ts';
import { listObjects } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { nodeResource } from '../../../nodes/node-resource.ts';
import { SYSTEM_EVENTS } from '../../../webhooks/actions/event-name.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { findWebhooksWithoutSecret } from '../../../webhooks/incoming/sender-secret.ts';
import {
  findEndingCertificates,
} from '../../../webhooks/outgoing/client-certificate-member.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { missesSystemEvents } from '../../../webhooks/outgoing/outgoing-webhook.ts';
import { listWebhookTriggers } from '../../../webhooks/outgoing/token-holders.ts';
import type { CommandContext } from '../command-context.ts';
import { expectObject, expectObjects, formatValue, webhookLabel } from '../resource-commands.ts';
import { hint, ok, warning } from './doctor-finding.ts';
import type { DoctorCheck, DoctorFinding, DoctorFindings } from './doctor-finding.ts';
import { describeFollowers } from './doctor-followers.ts';
import type { RunningServer } from './running-server.ts';

type ServerCheck =
  (server: RunningServer, context: CommandContext) => DoctorFindings | Promise<DoctorFindings>;

export const SERVER_CHECKS: Readonly<Record<string, DoctorCheck>> = Object.fromEntries(
  Object.entries<ServerCheck>({
    'senders': checkSenders,
    'own events': checkOwnEvents,
    'incoming': checkIncomingHealth,
    'outgoing': checkOutgoingHealth,
    'outgoing TLS': checkClientCertificates,
    'queue': checkQueue,
    'inbox': checkInbox,
    'order': checkOrder,
    'hosts': checkHosts,
    'followers': checkFollowers,
    'nodes': checkNodes,
  }).map(([name, check]) => [name, checkOfServer(check)]));

/** Finds webhooks that reject every request, as they need a secret and have none. */
async function checkSenders(server: RunningServer): Promise<DoctorFinding> {
  const webhooks = expectObjects(await server.ask(incomingResource.path));
  const [first, ...others] = findWebhooksWithoutSecret(webhooks);
  if (first === undefined) return ok('every webhook that needs a secret has one');
  const more = others.length === 0 ? '' : `${others.length} more are told by incomingwebhook:list`;
  return warning(first, more);
}

/** Finds webhooks on `*` alone, which get every event except those about hookshelf itself. */
async function checkOwnEvents(server: RunningServer): Promise<DoctorFinding> {
  const webhooks = expectObjects(await server.ask(outgoingResource.path));
  const names = webhooks.filter((webhook) =>
    missesSystemEvents({ triggerEvents: listWebhookTriggers(webhook) })).map(webhookLabel);
  if (names.length === 0) return ok('no webhook on `*` misses an event about hookshelf itself');
  return hint(
    'on `*`, which hears no event about hookshelf itself, without the names of all: '
      + joinFirst(names),
    `a webhook of yours that is to hear them names each: ${SYSTEM_EVENTS.join(', ')}, or `
      + 'delivery.*; that of a customer must not, as they are about the webhooks of all');
}

/** Finds incoming webhooks whose actions fail, and those that reject most requests. */
function checkIncomingHealth(server: RunningServer): DoctorFindings {
  const webhooks = selectUnhealthy(server, 'incoming');
  const isFailing = ({ state }: JsonObject): boolean => state === 'failing';
  if (webhooks.length === 0) return ok('no incoming webhook fails or rejects most requests');
  return [
    ...warnOf(webhooks.filter(isFailing), (name) =>
      'mend the action; what was accepted and has failed runs again by: '
      + `request:replay --hook ${name} --failed`),
    ...warnOf(webhooks.filter((webhook) => !isFailing(webhook)), (name) =>
      'correct the webhook or its sender; the log has the check, and '
      + `incomingwebhook:diagnose ${name} more`),
  ];
}

/** Finds outgoing webhooks that fail, and those that were switched off by what they met. */
function checkOutgoingHealth(server: RunningServer): DoctorFindings {
  const webhooks = selectUnhealthy(server, 'outgoing');
  const isOff = ({ state }: JsonObject): boolean => state === 'off';
  if (webhooks.length === 0) {
    return ok('no outgoing webhook fails or was switched off by a failure that nobody has seen');
  }
  return [
    ...warnOf(webhooks.filter(isOff), (name) =>
      `mend the target, then: outgoingwebhook:enable ${name}, and for what has failed: `
      + `delivery:resend --hook ${name} --status failed; if it is to stay off: `
      + `outgoingwebhook:acknowledge ${name}`),
    ...warnOf(webhooks.filter((webhook) => !isOff(webhook)), (name) =>
      'mend the target; what waits is tried again by itself at its time, or now by: '
      + `delivery:resend --hook ${name} --status pending; what has failed by: `
      + `delivery:resend --hook ${name} --status failed`),
  ];
}

function selectUnhealthy(
  { status: { unhealthy } }: RunningServer, direction: 'incoming' | 'outgoing',
): readonly JsonObject[] {
  return listObjects(unhealthy).filter((webhook) => webhook['direction'] === direction);
}

/** One finding for all these webhooks, none without any; `advise` puts a name into commands. */
function warnOf(
  webhooks: readonly JsonObject[], advise: (name: string) => string,
): readonly DoctorFinding[] {
  const [first] = webhooks;
  if (first === undefined) return [];
  const name = webhooks.length === 1 ? formatValue(first['webhook']) : '<name>';
  return [warning(describeUnhealthy(webhooks), advise(name))];
}

function describeUnhealthy(webhooks: readonly JsonObject[]): string {
  return joinFirst(webhooks.map(({ webhook, state, reason }) =>
    `${formatValue(webhook)} is ${formatValue(state)} `
      + `(${typeof reason === 'string' ? reason : 'no reason is known'})`), { separator: '; ' });
}

/** Tells whether the queue of deliveries is paused, or full: then another one gets 503. */
function checkQueue({ status }: RunningServer): DoctorFinding {
  if (status['isPaused'] === true) {
    return warning('nothing is sent or run, as server.paused is on: deliveries and requests wait',
      'start the server without --paused, HOOKSHELF_SERVER_PAUSED and that setting');
  }
  const { fullReason, fullWebhooks } = expectObject(status['deliveries']);
  const labels = listObjects(fullWebhooks)
    .map(({ webhook, pending }) => `${formatValue(webhook)} (${formatValue(pending)} wait)`);
  const isFull = typeof fullReason === 'string';
  if (!isFull && labels.length === 0) return ok('there is room for deliveries');
  const refusal = isFull ? `what would queue a delivery gets 503: ${fullReason}`
    : 'an event for a webhook with much waiting gets 503, so that others have room';
  return warning(labels.length === 0 ? refusal : `${refusal}; most wait for ${joinFirst(labels)}`,
    'see why targets do not take what waits (delivery:list --status pending), give up what has '
      + 'failed by delivery:cancel --failed --hook <name>, disable that webhook, or raise '
      + 'outgoing.maxPending or outgoing.maxPendingBytes');
}

/** Tells whether the inbox is full: then a request that it would keep gets 503. */
function checkInbox({ status }: RunningServer): DoctorFinding {
  const { fullReason } = expectObject(status['requests']);
  return typeof fullReason !== 'string' ? ok('there is room for requests')
    : warning(`a request that is to be kept gets 503: ${fullReason}`,
      'see why they wait (request:list --status pending), unpin what need not stay, or raise that');
}

/** Finds webhooks whose targets will soon refuse them, or do already. */
async function checkClientCertificates(
  server: RunningServer, { io }: CommandContext,
): Promise<DoctorFinding> {
  const webhooks = expectObjects(await server.ask(outgoingResource.path));
  const [first, ...others] = findEndingCertificates(webhooks, io.now());
  if (first === undefined) return ok('no client certificate ends within 30 days');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`,
    'renew it: outgoingwebhook:update <name> --client-certificate @<file>');
}

/** Finds keys whose first delivery holds back many others. */
function checkOrder({ status }: RunningServer): DoctorFinding {
  const { heldBack } = status;
  const keys = listObjects(heldBack);
  if (keys.length === 0) return ok('no key holds back more than a hundred deliveries');
  const labels = keys.map(({ hook, key, waiting }) =>
    `${JSON.stringify(key)} of ${formatValue(hook)} (${formatValue(waiting)} wait)`);
  return warning(`keys hold back what comes after: ${joinFirst(labels)}`,
    'see why the first is not done, and retry or cancel it: delivery:list --hook, request:list');
}

/** Finds webhooks that wait for a place at their host, as others have them. */
function checkHosts({ status }: RunningServer): DoctorFinding {
  const { waiting } = status;
  const waits = listObjects(waiting);
  if (waits.length === 0) return ok('no webhook waits for a place at its host');
  const labels = waits.map(({ hook, target, since, behind }) =>
    `${formatValue(hook)} for ${formatValue(target)} since ${formatValue(since)}, behind `
    + (Array.isArray(behind) ? behind.map(formatValue).join(', ') : ''));
  return warning('webhooks wait for a place at their host: '
    + joinFirst(labels, { separator: '; ' }),
    'see why those before them are slow, disable them, or raise http.maxSocketsPerHost');
}

async function checkFollowers(
  { status, ask }: RunningServer, { io }: CommandContext,
): Promise<DoctorFinding> {
  return describeFollowers(status, await ask(TOKEN_LIST_PATH), io.now());
}

/** Finds nodes that have stopped, or do not reach the engine. */
async function checkNodes({ ask }: RunningServer): Promise<DoctorFinding> {
  const nodes = expectObjects(await ask(nodeResource.path));
  if (nodes.length === 0) return ok('no engine: the server is alone');
  const labels = nodes.filter(({ isLive }) => isLive !== true)
    .map(({ identifier, address, lastHeardAt }) => `${formatValue(address ?? identifier)} since `
      + formatValue(lastHeardAt));
  return labels.length === 0 ? ok(`all ${nodes.length} are heard`)
    : warning(`silent: ${joinFirst(labels)}`, 'see its log, or start it again');
}

function checkOfServer(check: ServerCheck): DoctorCheck {
  return ({ context, getServer }) => {
    const server = getServer();
    return server === null ? ok('looked at while a server runs') : check(server, context);
  };
}
