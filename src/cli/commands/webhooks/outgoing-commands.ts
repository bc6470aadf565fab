/**
 * Changes that only outgoing webhooks have (for others see webhook-changes.ts), likely slips in
 * them, and the commands `outgoingwebhook:send` and `backfill`.
 */
import { TOKEN_LIST_PATH } from '../../../access/token-resource.ts';
import { AppError } from '../../../base/errors.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonPath } from '../../../base/json/path.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { bookSchema } from '../../../books/book.ts';
import type { CommandContext } from '../command-context.ts';
import { readBodyWithPayload } from '../option-input.ts';
import { readMembers, readTextMembers } from '../option-members.ts';
import { fetchAll, formatValue, requestObject, resolvePath } from '../resource-commands.ts';
import {
  CATALOG_EVENTS, describeForeignName, isSystemEventName,
} from '../../../webhooks/actions/event-name.ts';
import { deliveryResource } from '../../../webhooks/deliveries/delivery-resource.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { sendingSchema } from '../../../webhooks/outgoing/send-options.ts';
import { isStandardSecret } from '../../../webhooks/outgoing/outgoing-signature.ts';
import { parseTemplate } from '../../../webhooks/outgoing/payload-template.ts';
import { chooseOutgoingSecretShape } from '../../../webhooks/outgoing/signing-member.ts';
import { listWebhookTriggers } from '../../../webhooks/outgoing/token-holders.ts';
import { describeSight, noteUnconditional } from '../operation/bound-tokens.ts';
import { EVENT_TERMS, isDelayed, readEventTerms } from './event-terms.ts';
import { DUE_DELIVERIES, runBulkAction } from './job-commands.ts';
import { describeWait } from './request-and-delivery.ts';
import type { WebhookKind } from './webhook-changes.ts';

export const OUTGOING: WebhookKind = {
  resource: outgoingResource,
  work: deliveryResource,
  chooseSecretShape: chooseOutgoingSecretShape,
  wholeMembers: ['when', 'successWhen', 'signing'],
  disabledNote: 'its pending deliveries wait until it is enabled; '
    + 'an event until then makes no delivery for it, but outgoingwebhook:backfill can',
  resolveAddress: async (_, { httpMethod, targetUrl }) =>
    `${formatValue(httpMethod)} ${formatValue(targetUrl)}`,
  listProblems: listOutgoingSlips,
  noteChange: noteBoundTokens,
  describeSecret: ({ signing }, secret) => signing !== undefined || isStandardSecret(secret) ? null
    : 'the text of the secret is the key, as it does not begin with whsec_: libraries such as '
      + 'standardwebhooks and svix do not verify with it; outgoingwebhook:rotate-secret without '
      + '--secret-file makes one that they take',
};

const HEARD_MEMBERS = ['triggerEvent', 'triggerEvents', 'when'];

/** Tokens of customers are bound to webhooks by name, and see what these hear. */
async function noteBoundTokens(
  context: CommandContext, before: JsonObject | null, after: JsonObject | null,
): Promise<void> {
  const changes = (names: readonly string[]): boolean => before === null || after === null
    || names.some((name) => encodeJson(before[name]) !== encodeJson(after[name]));
  if (!changes(['name', ...HEARD_MEMBERS])) return;
  const tokens = await fetchAll(context, TOKEN_LIST_PATH);
  const notes = changes(['name']) ? describeSight(tokens, before, after, context.io.now()) : [];
  for (const note of notes) context.output.note(note);
  if (after !== null) await noteUnconditional(context, tokens, after);
}

/**
 * Sends one request and prints the result; exit code 1 when it was no success. With --durable it
 * makes a delivery, which is sent in the background.
 */
export async function sendOutgoing(context: CommandContext): Promise<number | void> {
  if (context.args.has('durable')) return sendDurably(context);
  const durableOption = ['event', ...EVENT_TERMS].find((name) =>
    context.args.has(name));
  if (durableOption !== undefined) {
    throw new AppError('usage', `--${durableOption} goes with --durable: without it one request `
      + 'is sent now');
  }
  const members = await readMembers(context, sendingSchema, { payload: () => undefined });
  const payload = context.args.has('payload')
    ? await readBodyWithPayload(context, members) : members;
  const path = `${await resolvePath(context, outgoingResource)}/send`;
  const result = await requestObject(context, { method: 'POST', path, body: payload });
  await context.output.object(result);
  return result['success'] === true ? 0 : 1;
}

async function sendDurably(context: CommandContext): Promise<void> {
  if (context.args.has('retries')) {
    throw new AppError('usage', '--retries is for one request that is sent now; with --durable the '
      + 'retry schedule of the webhook holds');
  }
  const members = { ...readTextMembers(context, ['event']), ...readEventTerms(context) };
  const body = await readBodyWithPayload(context, members);
  const path = `${await resolvePath(context, outgoingResource)}/deliveries`;
  const delivery = await requestObject(context, { method: 'POST', path, body });
  const at = isDelayed(context) ? ` at ${formatValue(delivery['nextAttemptAt'])}` : '';
  await context.output.result(delivery,
    `delivery ${formatValue(delivery['identifier'])} will be sent${at}${describeWait(delivery)}`);
}

/** Sends a webhook the events that it has missed, by a job. */
export async function backfillOutgoing(context: CommandContext): Promise<number> {
  const filter = readTextMembers(context, ['since', 'until', 'name']);
  const path = await resolvePath(context, outgoingResource);
  return runBulkAction(context, {
    resource: { path, noun: 'event', plural: 'events' }, verb: 'backfill', filter,
    remainder: DUE_DELIVERIES,
  });
}

const ENVELOPE_MEMBERS: readonly unknown[] = ['type', 'timestamp', 'data'];
const BOOK_TRIGGERS: readonly unknown[] = [...CATALOG_EVENTS, 'book.*'];

/**
 * Says each likely slip of a webhook, as callers see it, in a sentence. The service takes them all
 * the same: anybody may emit events of any name, with any members.
 */
function listOutgoingSlips(webhook: JsonObject): readonly string[] {
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
