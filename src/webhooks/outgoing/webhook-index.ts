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
import { outgoingSchema, triggersOf, type OutgoingWebhook } from './webhook.ts';
import { parseTemplate } from './template.ts';
import type { Template } from './template.ts';

export type ReadyOutgoing = OutgoingWebhook & {
  readonly template: Template | null;
  /** `host:port` of the target, for what is bounded a host. */
  readonly host: string;
  /** What its lines of the log carry; `target` is host and path. */
  readonly labels: WebhookFields & { readonly target: string };
  /** The headers it sends: ours, its own over them, and the length of its chain. */
  headersFor(depth: number): SentHeaders;
};

type SentHeaders = Readonly<Record<string, string>>;

export interface OutgoingIndex {
  find(identifier: string): ReadyOutgoing | undefined;
  /** By identifier or name. */
  findNamed(name: string): ReadyOutgoing | undefined;
  /**
   * Identifiers of the enabled hooks that the event fires, in order. One of hookshelf's own events
   * fires those that write its name or a prefix of it out.
   */
  matching(event: string, isOwn?: boolean): readonly string[];
  /** Those of them whose condition the event meets; its payload is asked for only for these. */
  hearing(event: string, payload: () => JsonValue, isOwn?: boolean): readonly string[];
  all(): Iterable<ReadyOutgoing>;
  /** Called after a hook was added, changed or removed. */
  onChange(listener: (identifier: string) => void): void;
  close(): void;
}

export function createOutgoingIndex(collection: Collection): OutgoingIndex {
  const hooks = new Map<string, ReadyOutgoing>();
  const byTrigger = new Map<string, Set<string>>();
  /** Of the hooks that have a condition. */
  const conditions = new Map<string, Predicate>();
  const listeners: ((identifier: string) => void)[] = [];
  const untrigger = (hook: OutgoingWebhook): void => {
    for (const trigger of triggersOf(hook)) {
      const set = byTrigger.get(trigger);
      set?.delete(hook.identifier);
      if (set?.size === 0) byTrigger.delete(trigger);
    }
  };
  const addTriggers = (hook: OutgoingWebhook): void => {
    for (const trigger of triggersOf(hook)) {
      const set = byTrigger.get(trigger) ?? new Set();
      byTrigger.set(trigger, set.add(hook.identifier));
    }
  };
  const close = followRecords(collection, ({ id, after }) => {
    const previous = hooks.get(id);
    if (previous !== undefined) untrigger(previous);
    conditions.delete(id);
    if (after === null) {
      hooks.delete(id);
    } else {
      const hook = toReady(decodeOutgoing(after));
      hooks.set(id, hook);
      if (hook.enabled) addTriggers(hook);
      if (hook.when !== undefined) conditions.set(id, prepareCondition(hook.when));
    }
    for (const listener of listeners) listener(id);
  });
  const matching = (event: string, isOwn = false): readonly string[] =>
    byTrigger.size === 0 ? [] : matchesOf(byTrigger, event, isOwn);
  return {
    find: (identifier) => hooks.get(identifier),
    findNamed: (name) => hooks.get(resolveKey(collection, name) ?? ''),
    matching,
    hearing(event, payload, isOwn) {
      const matched = matching(event, isOwn);
      if (conditions.size === 0) return matched;
      const facts = new Facts({ payload, event: () => event });
      return matched.filter((hook) => conditions.get(hook)?.(facts) ?? true);
    },
    all: () => hooks.values(),
    onChange: (listener) => void listeners.push(listener),
    close,
  };
}

export function decodeOutgoing(bytes: Buffer): OutgoingWebhook {
  return decodeRecordAs<OutgoingWebhook>(bytes, ({ identifier, targetUrl, headers }) =>
    typeof identifier === 'string' && typeof targetUrl === 'string'
    && (headers === undefined || isJsonObject(headers)));
}

/** A program's own hook, which stands in no collection. Throws `invalid` with every error found. */
export function readUnsaved(given: object, identifier: string): ReadyOutgoing {
  const hook = { ...parseObject(outgoingSchema, given), identifier };
  return toReady(decodeOutgoing(Buffer.from(JSON.stringify(hook))));
}

function toReady(hook: OutgoingWebhook): ReadyOutgoing {
  const { payloadTemplate, targetUrl } = hook;
  return {
    ...hook,
    template: payloadTemplate === undefined ? null : parseTemplate(payloadTemplate),
    host: new URL(targetUrl).host,
    labels: { ...createWebhookFields(hook), target: formatTargetLabel(targetUrl) },
    headersFor: rememberLast((depth) =>
      addChainHeader(resolveHeaders(hook.httpMethod, hook.headers), depth)),
  };
}

/** Most events are the first of their chain. */
function rememberLast(make: (depth: number) => SentHeaders): (depth: number) => SentHeaders {
  let last: { readonly depth: number; readonly headers: SentHeaders } | null = null;
  return (depth) => {
    if (last?.depth !== depth) last = { depth, headers: make(depth) };
    return last.headers;
  };
}

/** By the name itself, by each prefix of it that ends before a dot, or by `*`. */
function matchesOf(
  byTrigger: ReadonlyMap<string, ReadonlySet<string>>, event: string, isOwn: boolean,
): string[] {
  const found = [...byTrigger.get(event) ?? []];
  const countByName = found.length;
  for (let dot = event.indexOf('.'); dot !== -1; dot = event.indexOf('.', dot + 1)) {
    for (const hook of byTrigger.get(`${event.slice(0, dot)}.*`) ?? []) found.push(hook);
  }
  if (!isOwn) for (const hook of byTrigger.get(EVERY_EVENT) ?? []) found.push(hook);
  // A webhook may listen for the name and for a prefix of it. A set of all would cost four times.
  return (found.length === countByName ? found : [...new Set(found)]).sort();
}
