/** Outgoing webhooks by identifier and by the event that fires them; decoded once a change. */
import { addChainHeader } from '../../base/webhook-chain.ts';
import { isJsonObject, parseObject } from '../../base/fields.ts';
import type { Collection } from '../../store/store-port.ts';
import { resolveKey } from '../../resources/resolve-key.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { resolveHeaders } from '../http/target-rules.ts';
import type { JsonValue } from '../../base/schema.ts';
import { Facts } from '../filters/facts.ts';
import { prepareCondition, type Predicate } from '../filters/prepare-condition.ts';
import { formatTargetLabel, createWebhookFields, type WebhookFields } from '../webhook-label.ts';
import { EVERY_EVENT } from '../actions/event-name.ts';
import { outgoingSchema, listTriggers, type OutgoingWebhook } from './outgoing-webhook.ts';
import { parseTemplate } from './payload-template.ts';
import type { Template } from './payload-template.ts';

export type ReadyOutgoingWebhook = OutgoingWebhook & {
  readonly template: Template | null;
  /** `host:port` of the target, for what is bounded a host. */
  readonly host: string;
  /** What its lines of the log carry; `target` is host and path. */
  readonly labels: WebhookFields & { readonly target: string };
  /** The headers it sends: ours, its own over them, and the length of its chain. */
  headersFor(hops: number): SentHeaders;
};

type SentHeaders = Readonly<Record<string, string>>;

export interface OutgoingWebhookIndex {
  find(identifier: string): ReadyOutgoingWebhook | undefined;
  /** By identifier or name. */
  findNamed(name: string): ReadyOutgoingWebhook | undefined;
  /**
   * Identifiers of the enabled hooks that the event fires, in order. One of hookshelf's own events
   * fires those that write its name or a prefix of it out.
   */
  findTriggered(event: string, isSystem?: boolean): readonly string[];
  /** Those of them whose condition the event meets; its payload is asked for only for these. */
  findListeners(event: string, payload: () => JsonValue, isSystem?: boolean): readonly string[];
  all(): Iterable<ReadyOutgoingWebhook>;
  /** Called after a hook was added, changed or removed. */
  onChange(listener: (identifier: string) => void): void;
  close(): void;
}

export function createOutgoingWebhookIndex(collection: Collection): OutgoingWebhookIndex {
  const webhooks = new Map<string, ReadyOutgoingWebhook>();
  const byTrigger = new Map<string, Set<string>>();
  /** Of the hooks that have a condition. */
  const conditions = new Map<string, Predicate>();
  const listeners: ((identifier: string) => void)[] = [];
  const removeTriggers = (webhook: OutgoingWebhook): void => {
    for (const trigger of listTriggers(webhook)) {
      const set = byTrigger.get(trigger);
      set?.delete(webhook.identifier);
      if (set?.size === 0) byTrigger.delete(trigger);
    }
  };
  const addTriggers = (webhook: OutgoingWebhook): void => {
    for (const trigger of listTriggers(webhook)) {
      const set = byTrigger.get(trigger) ?? new Set();
      byTrigger.set(trigger, set.add(webhook.identifier));
    }
  };
  const close = followRecords(collection, ({ id, after }) => {
    const previous = webhooks.get(id);
    if (previous !== undefined) removeTriggers(previous);
    conditions.delete(id);
    if (after === null) {
      webhooks.delete(id);
    } else {
      const webhook = prepareWebhook(decodeOutgoingWebhook(after));
      webhooks.set(id, webhook);
      if (webhook.enabled) addTriggers(webhook);
      if (webhook.when !== undefined) conditions.set(id, prepareCondition(webhook.when));
    }
    for (const listener of listeners) listener(id);
  });
  const findTriggered = (event: string, isSystem = false): readonly string[] =>
    byTrigger.size === 0 ? [] : collectTriggered(byTrigger, event, isSystem);
  return {
    find: (identifier) => webhooks.get(identifier),
    findNamed: (name) => webhooks.get(resolveKey(collection, name) ?? ''),
    findTriggered,
    findListeners(event, payload, isSystem) {
      const triggered = findTriggered(event, isSystem);
      if (conditions.size === 0) return triggered;
      const facts = new Facts({ payload, event: () => event });
      return triggered.filter((webhook) => conditions.get(webhook)?.(facts) ?? true);
    },
    all: () => webhooks.values(),
    onChange: (listener) => void listeners.push(listener),
    close,
  };
}

export function decodeOutgoingWebhook(bytes: Buffer): OutgoingWebhook {
  return decodeRecordAs<OutgoingWebhook>(bytes, ({ identifier, targetUrl, headers }) =>
    typeof identifier === 'string' && typeof targetUrl === 'string'
    && (headers === undefined || isJsonObject(headers)));
}

/** A program's own hook, which stands in no collection. Throws `invalid` with every error found. */
export function parseUnsavedWebhook(input: object, identifier: string): ReadyOutgoingWebhook {
  const webhook = { ...parseObject(outgoingSchema, input), identifier };
  return prepareWebhook(decodeOutgoingWebhook(Buffer.from(JSON.stringify(webhook))));
}

function prepareWebhook(webhook: OutgoingWebhook): ReadyOutgoingWebhook {
  const { payloadTemplate, targetUrl } = webhook;
  return {
    ...webhook,
    template: payloadTemplate === undefined ? null : parseTemplate(payloadTemplate),
    host: new URL(targetUrl).host,
    labels: { ...createWebhookFields(webhook), target: formatTargetLabel(targetUrl) },
    headersFor: rememberLast((hops) =>
      addChainHeader(resolveHeaders(webhook.httpMethod, webhook.headers), hops)),
  };
}

/** Most events are the first of their chain. */
function rememberLast(make: (hops: number) => SentHeaders): (hops: number) => SentHeaders {
  let last: { readonly depth: number; readonly headers: SentHeaders } | null = null;
  return (hops) => {
    if (last?.depth !== hops) last = { depth: hops, headers: make(hops) };
    return last.headers;
  };
}

/** By the name itself, by each prefix of it that ends before a dot, or by `*`. */
function collectTriggered(
  byTrigger: ReadonlyMap<string, ReadonlySet<string>>, event: string, isSystem: boolean,
): string[] {
  const webhookIds = [...byTrigger.get(event) ?? []];
  const countByName = webhookIds.length;
  for (let dot = event.indexOf('.'); dot !== -1; dot = event.indexOf('.', dot + 1)) {
    for (const webhook of byTrigger.get(`${event.slice(0, dot)}.*`) ?? []) webhookIds.push(webhook);
  }
  if (!isSystem) for (const webhook of byTrigger.get(EVERY_EVENT) ?? []) webhookIds.push(webhook);
  // A webhook may listen for the name and for a prefix of it. A set of all would cost four times.
  return (webhookIds.length === countByName ? webhookIds : [...new Set(webhookIds)]).sort();
}
