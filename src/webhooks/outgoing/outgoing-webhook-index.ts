/** Outgoing webhooks by identifier and by trigger, each prepared once for a change. */
import { EVERY_EVENT } from '../../base/event-name.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { addChainHeader } from '../../base/webhook-chain.ts';
import { isJsonObject, parseObject } from '../../base/fields.ts';
import type { Collection, Store } from '../../store/store-port.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { resolveKey } from '../../store/find-record.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { resolveHeaders } from '../members/target-rules.ts';
import type { JsonValue } from '../../base/schema.ts';
import { Facts } from '../members/filters/facts.ts';
import { isProbed } from '../health/probe.ts';
import { prepareCondition, type Predicate } from '../members/filters/prepare-condition.ts';
import { createKeyReader, findKeyPath, type KeyReader } from '../members/filters/order.ts';
import { formatTargetLabel, createWebhookFields, type WebhookFields } from '../webhook-label.ts';
import { isSystemEventName } from '../actions/event-name.ts';
import {
  listTriggers, outgoingCollection, outgoingSchema, type StoredOutgoingWebhook,
} from './outgoing-webhook.ts';
import { parseTemplate } from './payload-template.ts';
import { prepareSuccessTest, type SuccessTest } from './success-when.ts';
import type { BodyTemplate } from '../members/templates/body-template.ts';
import { createWebhookSigner, type WebhookSigner } from './webhook-signer.ts';

export type ReadyOutgoingWebhook = StoredOutgoingWebhook & {
  /** Whether it is off, and probed: events make deliveries for it all the same. */
  readonly isProbed: boolean;
  readonly template: BodyTemplate | null;
  /** The test of `when`; null: the webhook takes every event that triggers it. */
  readonly condition: Predicate | null;
  /** null: a status of 2xx delivers. */
  readonly isSuccess: SuccessTest | null;
  /** Reads the key of the order; null: the order has none. */
  readonly readKey: KeyReader | null;
  /** `host:port` of the target, which limits attempts at once. */
  readonly host: string;
  /** For log lines; `target` is host and path. */
  readonly labels: WebhookFields & { readonly target: string };
  /** Defaults, the webhook's own headers over them, and the number of hops. */
  createHeaders(hops: number): SentHeaders;
  /** null: the webhook has no `signing`. Throws as `createWebhookSigner`. */
  readonly getSigner: (() => WebhookSigner) | null;
};

type SentHeaders = Readonly<Record<string, string>>;

/** By default an event is not about hookshelf itself. */
export type EventKind = { readonly isSystem?: boolean };

/** The identifiers of webhooks by their triggers. */
type TriggerMap = Map<string, Set<string>>;

export class OutgoingWebhookIndex {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #webhooks = new Map<string, ReadyOutgoingWebhook>();
  readonly #byTrigger: TriggerMap = new Map();
  /** The webhooks that are off, and not probed. */
  readonly #offByTrigger: TriggerMap = new Map();

  constructor(store: Store) {
    this.#store = store;
    this.#collection = store.collection(outgoingCollection.name);
    followRecords(this.#collection, ({ id, after }) => this.#follow(id, after));
  }

  find(identifier: string): ReadyOutgoingWebhook | undefined {
    return this.#webhooks.get(identifier);
  }

  /** By identifier, or else by name. */
  findNamed(name: string): ReadyOutgoingWebhook | undefined {
    return this.#webhooks.get(resolveKey(this.#collection, name) ?? '');
  }

  /** Gets it by identifier or name; applies what other nodes committed before `not_found`. */
  async getNamed(name: string): Promise<ReadyOutgoingWebhook> {
    const webhook = this.findNamed(name);
    if (webhook !== undefined) return webhook;
    // A transaction that stages nothing ends when what it has read is no older than the call.
    await this.#store.transact((transaction) => transaction.findId(outgoingCollection.name, name));
    const freshWebhook = this.findNamed(name);
    if (freshWebhook === undefined) throw notFoundError('outgoing webhook', name);
    return freshWebhook;
  }

  /** Sorted ids of webhooks on or probed, whatever their conditions; `*` hears no system events. */
  findTriggered(event: string, kind?: EventKind): readonly string[] {
    return this.#byTrigger.size === 0 ? []
      : collectTriggered(this.#byTrigger, event, kind?.isSystem === true);
  }

  /** The same of webhooks that are off: a backfill may send them the event one day. */
  findOffTriggered(event: string, kind?: EventKind): readonly string[] {
    return this.#offByTrigger.size === 0 ? []
      : collectTriggered(this.#offByTrigger, event, kind?.isSystem === true);
  }

  /** The webhooks whose condition holds; `payload` is called if a condition reads it. */
  selectMatching(
    webhookIds: readonly string[], event: string, payload: () => JsonValue,
  ): readonly string[] {
    let facts: Facts | null = null;
    return webhookIds.filter((webhookId) => this.#webhooks.get(webhookId)?.condition?.(
      facts ??= new Facts({ payload, event: () => event })) ?? true);
  }

  all(): Iterable<ReadyOutgoingWebhook> {
    return this.#webhooks.values();
  }

  #follow(id: string, after: Buffer | null): void {
    const previous = this.#webhooks.get(id);
    if (previous !== undefined) this.#removeTriggers(previous);
    if (after === null) {
      this.#webhooks.delete(id);
    } else {
      const webhook = prepareWebhook(decodeOutgoingWebhook(after));
      this.#webhooks.set(id, webhook);
      this.#addTriggers(webhook);
    }
  }

  #addTriggers(webhook: ReadyOutgoingWebhook): void {
    const byTrigger = this.#selectMap(webhook);
    for (const trigger of listTriggers(webhook)) {
      const set = byTrigger.get(trigger) ?? new Set();
      byTrigger.set(trigger, set.add(webhook.identifier));
    }
  }

  #removeTriggers(webhook: ReadyOutgoingWebhook): void {
    const byTrigger = this.#selectMap(webhook);
    for (const trigger of listTriggers(webhook)) {
      const set = byTrigger.get(trigger);
      set?.delete(webhook.identifier);
      if (set?.size === 0) byTrigger.delete(trigger);
    }
  }

  #selectMap(webhook: ReadyOutgoingWebhook): TriggerMap {
    return webhook.enabled || webhook.isProbed ? this.#byTrigger : this.#offByTrigger;
  }
}

/** Makes a test whether a trigger of the webhook, even a disabled one, fits an event's name. */
export function createTriggerTest(webhook: StoredOutgoingWebhook): (event: string) => boolean {
  const only = new Set([webhook.identifier]);
  const byTrigger = new Map(listTriggers(webhook).map((trigger) => [trigger, only]));
  return (event) => collectTriggered(byTrigger, event, isSystemEventName(event)).length > 0;
}

export function decodeOutgoingWebhook(bytes: Buffer): StoredOutgoingWebhook {
  return decodeRecordAs<StoredOutgoingWebhook>(bytes, ({ identifier, targetUrl, headers }) =>
    typeof identifier === 'string' && typeof targetUrl === 'string'
    && (headers === undefined || isJsonObject(headers)));
}

/** For a program that embeds us. Decoding gives the webhook its type. Throws `invalid`. */
export function parseUnsavedWebhook(input: object, identifier: string): ReadyOutgoingWebhook {
  const webhook = { ...parseObject(outgoingSchema, input), identifier };
  return prepareWebhook(decodeOutgoingWebhook(Buffer.from(encodeJson(webhook))));
}

function prepareWebhook(webhook: StoredOutgoingWebhook): ReadyOutgoingWebhook {
  const { payloadTemplate, contentType, targetUrl, order, successWhen, when } = webhook;
  const keyPath = findKeyPath(order);
  return {
    ...webhook,
    isProbed: isProbed(webhook),
    template: payloadTemplate === undefined ? null : parseTemplate(payloadTemplate, contentType),
    condition: when === undefined ? null : prepareCondition(when),
    isSuccess: successWhen === undefined ? null : prepareSuccessTest(successWhen),
    readKey: keyPath === null ? null : createKeyReader(keyPath),
    host: new URL(targetUrl).host,
    labels: { ...createWebhookFields(webhook), target: formatTargetLabel(targetUrl) },
    createHeaders: cacheLastHeaders((hops) =>
      addChainHeader(resolveHeaders(webhook.httpMethod, webhook.headers, contentType), hops)),
    getSigner: webhook.signing === undefined ? null : prepareSigner(webhook),
  };
}

function prepareSigner(webhook: StoredOutgoingWebhook): () => WebhookSigner {
  let signer: WebhookSigner | null = null;
  return () => signer ??= createWebhookSigner(webhook);
}

/** Most events have the same number of hops as the last. */
function cacheLastHeaders(create: (hops: number) => SentHeaders): (hops: number) => SentHeaders {
  let last: { readonly hops: number; readonly headers: SentHeaders } | null = null;
  return (hops) => {
    if (last?.hops !== hops) last = { hops, headers: create(hops) };
    return last.headers;
  };
}

/** Looks up the event's name, each of its prefixes that ends before a dot, and `*`. */
function collectTriggered(
  byTrigger: ReadonlyMap<string, ReadonlySet<string>>, event: string, isSystem: boolean,
): string[] {
  const webhookIds = [...byTrigger.get(event) ?? []];
  const countByName = webhookIds.length;
  const addAll = (ids: Iterable<string> = []): void => {
    for (const id of ids) webhookIds.push(id);
  };
  for (let dot = event.indexOf('.'); dot !== -1; dot = event.indexOf('.', dot + 1)) {
    addAll(byTrigger.get(`${event.slice(0, dot)}.*`));
  }
  if (!isSystem) addAll(byTrigger.get(EVERY_EVENT));
  // Several triggers of a webhook may fit. Duplicates are removed only when there may be some: a
  // set takes four times as long.
  return (webhookIds.length === countByName ? webhookIds : [...new Set(webhookIds)]).sort();
}
