/**
 * The index of outgoing webhooks, by identifier and by trigger. A webhook is decoded and prepared
 * once for each change, and not for each event.
 */
import { EVERY_EVENT } from '../../base/event-name.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { addChainHeader } from '../../base/webhook-chain.ts';
import { isJsonObject, parseObject } from '../../base/fields.ts';
import type { Collection, Store } from '../../store/store-port.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { resolveKey } from '../../resources/resolve-key.ts';
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
  /** null: a status of 2xx delivers. */
  readonly isSuccess: SuccessTest | null;
  /** Reads the key by which deliveries keep their order; null: they keep none by key. */
  readonly readKey: KeyReader | null;
  /** `host:port` of the target, by which attempts at once are limited. */
  readonly host: string;
  /** The labels of its log lines; `target` is host and path. */
  readonly labels: WebhookFields & { readonly target: string };
  /** The headers of a request: defaults, the webhook's own over them, and the number of hops. */
  createHeaders(hops: number): SentHeaders;
  /**
   * Gets what signs its requests in another sender's dialect; null: it has no `signing`. Throws
   * what `createWebhookSigner` throws.
   */
  readonly getSigner: (() => WebhookSigner) | null;
};

type SentHeaders = Readonly<Record<string, string>>;

/** Whether an event is about hookshelf itself; default: it is not. */
export type EventKind = { readonly isSystem?: boolean };

export class OutgoingWebhookIndex {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #webhooks = new Map<string, ReadyOutgoingWebhook>();
  /** The identifiers of webhooks that are enabled, or probed, by trigger. */
  readonly #byTrigger = new Map<string, Set<string>>();
  /** The conditions of the webhooks that have one. */
  readonly #conditions = new Map<string, Predicate>();
  readonly #unfollow: () => void;

  constructor(store: Store) {
    this.#store = store;
    this.#collection = store.collection(outgoingCollection.name);
    this.#unfollow = followRecords(this.#collection, ({ id, after }) => this.#follow(id, after));
  }

  find(identifier: string): ReadyOutgoingWebhook | undefined {
    return this.#webhooks.get(identifier);
  }

  /** Finds a webhook by its identifier, or else by its name. */
  findNamed(name: string): ReadyOutgoingWebhook | undefined {
    return this.#webhooks.get(resolveKey(this.#collection, name) ?? '');
  }

  /**
   * Gets a webhook by its identifier or name. Before it throws `not_found`, this node applies all
   * that is committed: another node may just have added the webhook.
   */
  async getNamed(name: string): Promise<ReadyOutgoingWebhook> {
    const webhook = this.findNamed(name);
    if (webhook !== undefined) return webhook;
    // A transaction that stages nothing ends when what it has read is no older than the call.
    await this.#store.transact((transaction) => transaction.findId(outgoingCollection.name, name));
    const freshWebhook = this.findNamed(name);
    if (freshWebhook === undefined) throw notFoundError('outgoing webhook', name);
    return freshWebhook;
  }

  /**
   * The identifiers, sorted, of the webhooks that an event of this name may trigger, as they are
   * enabled, or probed: their conditions are not asked. A webhook with the trigger `*` gets no
   * system events.
   */
  findTriggered(event: string, kind?: EventKind): readonly string[] {
    return this.#byTrigger.size === 0 ? []
      : collectTriggered(this.#byTrigger, event, kind?.isSystem === true);
  }

  /**
   * The same without webhooks whose condition is false for the event. `payload` is called only if a
   * condition reads it.
   */
  findMatching(event: string, payload: () => JsonValue, kind?: EventKind): readonly string[] {
    const webhookIds = this.findTriggered(event, kind);
    if (this.#conditions.size === 0) return webhookIds;
    const facts = new Facts({ payload, event: () => event });
    return webhookIds.filter((webhookId) => this.#conditions.get(webhookId)?.(facts) ?? true);
  }

  all(): Iterable<ReadyOutgoingWebhook> {
    return this.#webhooks.values();
  }

  close(): void {
    this.#unfollow();
  }

  #follow(id: string, after: Buffer | null): void {
    const previous = this.#webhooks.get(id);
    if (previous !== undefined) this.#removeTriggers(previous);
    this.#conditions.delete(id);
    if (after === null) {
      this.#webhooks.delete(id);
    } else {
      const webhook = prepareWebhook(decodeOutgoingWebhook(after));
      this.#webhooks.set(id, webhook);
      if (webhook.enabled || webhook.isProbed) this.#addTriggers(webhook);
      if (webhook.when !== undefined) this.#conditions.set(id, prepareCondition(webhook.when));
    }
  }

  #addTriggers(webhook: StoredOutgoingWebhook): void {
    for (const trigger of listTriggers(webhook)) {
      const set = this.#byTrigger.get(trigger) ?? new Set();
      this.#byTrigger.set(trigger, set.add(webhook.identifier));
    }
  }

  #removeTriggers(webhook: StoredOutgoingWebhook): void {
    for (const trigger of listTriggers(webhook)) {
      const set = this.#byTrigger.get(trigger);
      set?.delete(webhook.identifier);
      if (set?.size === 0) this.#byTrigger.delete(trigger);
    }
  }
}

/**
 * Makes a function that says whether a trigger of the webhook fits the name of an event, also while
 * the webhook is disabled.
 */
export function createTriggerTest(webhook: StoredOutgoingWebhook): (event: string) => boolean {
  const only = new Set([webhook.identifier]);
  const byTrigger = new Map(listTriggers(webhook).map((trigger) => [trigger, only]));
  return (event) => collectTriggered(byTrigger, event, isSystemEventName(event)).length > 0;
}

/** Makes a function that says whether one webhook hears an event, also while it is disabled. */
export function createEventMatcher(
  webhook: StoredOutgoingWebhook,
): (event: string, payload: () => JsonValue) => boolean {
  const isTriggeredBy = createTriggerTest(webhook);
  const condition = webhook.when === undefined ? null : prepareCondition(webhook.when);
  return (event, payload) => {
    if (!isTriggeredBy(event)) return false;
    return condition === null || condition(new Facts({ payload, event: () => event }));
  };
}

export function decodeOutgoingWebhook(bytes: Buffer): StoredOutgoingWebhook {
  return decodeRecordAs<StoredOutgoingWebhook>(bytes, ({ identifier, targetUrl, headers }) =>
    typeof identifier === 'string' && typeof targetUrl === 'string'
    && (headers === undefined || isJsonObject(headers)));
}

/**
 * Prepares a webhook that is not stored, for a program that embeds us. Throws `invalid`. It is
 * encoded and decoded like a stored one, as decoding is what gives it its type.
 */
export function parseUnsavedWebhook(input: object, identifier: string): ReadyOutgoingWebhook {
  const webhook = { ...parseObject(outgoingSchema, input), identifier };
  return prepareWebhook(decodeOutgoingWebhook(Buffer.from(encodeJson(webhook))));
}

function prepareWebhook(webhook: StoredOutgoingWebhook): ReadyOutgoingWebhook {
  const { payloadTemplate, contentType, targetUrl, order, successWhen } = webhook;
  const keyPath = findKeyPath(order);
  return {
    ...webhook,
    isProbed: isProbed(webhook),
    template: payloadTemplate === undefined ? null : parseTemplate(payloadTemplate, contentType),
    isSuccess: successWhen === undefined ? null : prepareSuccessTest(successWhen),
    readKey: keyPath === null ? null : createKeyReader(keyPath),
    host: new URL(targetUrl).host,
    labels: { ...createWebhookFields(webhook), target: formatTargetLabel(targetUrl) },
    createHeaders: cacheLastHeaders((hops) =>
      addChainHeader(resolveHeaders(webhook.httpMethod, webhook.headers, contentType), hops)),
    getSigner: webhook.signing === undefined ? null : prepareSigner(webhook),
  };
}

/** The signer is made when it is first asked for. */
function prepareSigner(webhook: StoredOutgoingWebhook): () => WebhookSigner {
  let signer: WebhookSigner | null = null;
  return () => signer ??= createWebhookSigner(webhook);
}

/** Most events have the same number of hops, so that the last headers fit again. */
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
  // A webhook may have several triggers that fit. Duplicates are removed only when there may be
  // some: a set takes four times as long.
  return (webhookIds.length === countByName ? webhookIds : [...new Set(webhookIds)]).sort();
}
