/**
 * An index of incoming webhooks by path segment, compiled for requests: O(1), nothing is parsed.
 */
import type { Logger } from '../../../base/log.ts';
import { AddressSet } from '../../../base/network/address-set.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';
import type { RelayContext } from '../../relay-context.ts';
import { resolveKey } from '../../../store/find-record.ts';
import { followRecords } from '../../../resources/projection.ts';
import { resolveBodyReading, type BodyReading } from '../body-format.ts';
import {
  decodeIncomingWebhook, incomingCollection, type StoredIncomingWebhook,
} from '../incoming-webhook.ts';
import { prepareInbox, type ReadyInbox } from '../inbox-members.ts';
import { prepareRoutes, type ReadyWebhookRoute } from '../routes-member.ts';
import type { ReadyResponses } from './webhook-response.ts';
import { Rejections, WebhookTraffic, type RejectionCheck } from './webhook-traffic.ts';
import { prepareSenderVerifier, type SenderVerifier } from '../verification-member.ts';
import type { HmacKey } from '../../senders/hmac.ts';
import { listSecrets } from '../../senders/verification/verify.ts';
import { createSignatureKey } from '../../senders/x-signature.ts';
import {
  OTHER_WEBHOOKS_LABEL, createWebhookFields, formatWebhookLabel, type WebhookFields,
} from '../../webhook-label.ts';

/** A webhook as it is stored, with what is compiled once for each change of it. */
export type ReadyIncomingWebhook = Omit<StoredIncomingWebhook, 'routes'> & ReadyInbox & {
  /** The fields of its log lines. */
  readonly labels: WebhookFields;
  readonly methods: readonly string[];
  /** Keys of X-Signature, if there is a secret and no `verification`; the current one is first. */
  readonly signatureKeys: readonly TimedKey[];
  readonly hasSecret: boolean;
  /** null: there is no `verification`. */
  readonly sender: SenderVerifier | null;
  /** null: that of the settings. */
  readonly actionTimeoutMs: number | null;
  /** null: every address may send. */
  readonly addresses: AddressSet | null;
  readonly bodyReading: BodyReading;
  /** null: it answers the JSON always. */
  readonly responses: ReadyResponses | null;
  /** At least one. An `actionConfiguration` is one route named `default`. */
  readonly routes: readonly ReadyWebhookRoute[];
  /** Whether the webhook has `routes`, and not an `actionConfiguration`. */
  readonly hasRoutes: boolean;
  readonly hasConditions: boolean;
  readonly traffic: WebhookTraffic;
};

export type RejectionCount = {
  /** The webhook's label in metrics. */
  readonly hook: string;
  /** The check that failed, under the name of its label in metrics. */
  readonly reason: RejectionCheck;
  readonly count: number;
};

export type UnparsedCount = { readonly hook: string; readonly count: number };

type TimedKey = {
  readonly key: HmacKey;
  /** The key is invalid from then on; Infinity for the current one. */
  readonly validUntilMs: number;
};

type IndexOptions = {
  readonly onOutcome: OnOutcome;
  readonly defaultAllowedMethods: readonly string[];
  /** Requests a second for a webhook that has no limit of its own; 0: no limit. */
  readonly rateLimit: number;
  readonly bodyBytesMax: number;
};

export class IncomingWebhookIndex {
  /** The limit of a body, and of one without its Content-Encoding. */
  readonly bodyBytesMax: number;
  /** Counts the requests to paths that no webhook has. */
  readonly unknownPathRejections: Rejections;
  readonly #context: RelayContext;
  readonly #options: IndexOptions;
  readonly #collection: Collection;
  readonly #byPath = new Map<string, ReadyIncomingWebhook>();
  readonly #byIdentifier = new Map<string, ReadyIncomingWebhook>();

  constructor(context: RelayContext, options: IndexOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.unknownPathRejections = new Rejections(null, context, options.onOutcome);
    this.#context = context;
    this.#options = options;
    this.#collection = context.store.collection(incomingCollection.name);
    followRecords(this.#collection, ({ id, after }) => this.#follow(id, after));
  }

  findByPath(pathSegment: string): ReadyIncomingWebhook | undefined {
    return this.#byPath.get(pathSegment);
  }

  find(identifier: string): ReadyIncomingWebhook | undefined {
    return this.#byIdentifier.get(identifier);
  }

  /**
   * Finds by identifier first, as a path segment may look like an identifier, then by name or path
   * segment.
   */
  findNamed(name: string): ReadyIncomingWebhook | undefined {
    return this.#byIdentifier.get(resolveKey(this.#collection, name) ?? '');
  }

  all(): Iterable<ReadyIncomingWebhook> {
    return this.#byIdentifier.values();
  }

  /** By webhook, for at most 1,000 webhooks; the others count as `other`. */
  countRejections(): readonly RejectionCount[] {
    return countByLabel(this.all(), ({ rejections }) => rejections.counts);
  }

  /** Counts the requests that no payload could be made of, with the same limit. */
  countUnparsed(): readonly UnparsedCount[] {
    return countByLabel(this.all(), ({ unparsedCount }) =>
      unparsedCount === 0 ? [] : [[null, unparsedCount]]);
  }

  close(): void {
    this.unknownPathRejections.close();
    for (const { traffic } of this.all()) traffic.rejections.close();
  }

  #follow(id: string, after: Buffer | null): void {
    const previous = this.#byIdentifier.get(id);
    // Two webhooks may swap their segments in one transaction: the segment may belong to the other
    // webhook by now, which must stay.
    if (previous !== undefined && this.#byPath.get(previous.pathSegment) === previous) {
      this.#byPath.delete(previous.pathSegment);
    }
    if (after === null) {
      previous?.traffic.rejections.close();
      this.#byIdentifier.delete(id);
      return;
    }
    const options = this.#options;
    const record = decodeIncomingWebhook(after);
    const traffic = previous?.traffic ?? new WebhookTraffic(
      new Rejections(id, this.#context, options.onOutcome));
    traffic.limitRate(
      record.rateLimit ?? options.rateLimit, this.#context.clock.monotonicMs());
    const webhook = toReadyWebhook(record, options, traffic);
    this.#byIdentifier.set(id, webhook);
    this.#byPath.set(webhook.pathSegment, webhook);
  }
}

function toReadyWebhook(
  webhook: StoredIncomingWebhook,
  { defaultAllowedMethods, bodyBytesMax }: IndexOptions,
  traffic: WebhookTraffic,
): ReadyIncomingWebhook {
  const { allowedMethods = [], allowedAddresses, actionTimeout, response: own = null } = webhook;
  const sender = prepareSenderVerifier(webhook, traffic.bucket?.ratePerS);
  const preset = sender?.preset.responses ?? null;
  const routes = prepareRoutes(webhook);
  return {
    ...webhook, ...prepareInbox(webhook, sender?.verifier.scheme ?? null),
    traffic, sender, labels: createWebhookFields(webhook),
    actionTimeoutMs: actionTimeout === undefined ? null : actionTimeout * 1000,
    routes, hasRoutes: webhook.routes !== undefined,
    hasConditions: routes.some(({ matches }) => matches !== null),
    methods: allowedMethods.length > 0 ? allowedMethods : defaultAllowedMethods,
    signatureKeys: sender !== null ? [] : listSecrets(webhook).map(({ text, validUntilMs }) =>
      ({ key: createSignatureKey(text), validUntilMs })),
    hasSecret: webhook.secret !== undefined,
    addresses: allowedAddresses === undefined ? null : parseAddresses(allowedAddresses),
    bodyReading: resolveBodyReading(webhook, sender?.verifier.scheme ?? null, bodyBytesMax),
    responses: own === null && preset === null ? null : { own, preset },
  };
}

function parseAddresses(addresses: readonly string[]): AddressSet {
  const set = new AddressSet();
  for (const address of addresses) set.add(address);
  return set;
}

const COUNTED_WEBHOOKS_MAX = 1000;

/** The counts of each webhook; the webhooks beyond the limit share a label. */
function countByLabel<Reason>(
  webhooks: Iterable<ReadyIncomingWebhook>,
  read: (traffic: WebhookTraffic) => Iterable<readonly [Reason, number]>,
): { readonly hook: string; readonly reason: Reason; readonly count: number }[] {
  const counts: { hook: string; reason: Reason; count: number }[] = [];
  const others = new Map<Reason, number>();
  let webhookCount = 0;
  for (const webhook of webhooks) {
    const entries = [...read(webhook.traffic)];
    if (entries.length > 0) webhookCount += 1;
    for (const [reason, count] of entries) {
      if (webhookCount <= COUNTED_WEBHOOKS_MAX) {
        counts.push({ hook: formatWebhookLabel(webhook), reason, count });
      } else others.set(reason, (others.get(reason) ?? 0) + count);
    }
  }
  for (const [reason, count] of others) counts.push({ hook: OTHER_WEBHOOKS_LABEL, reason, count });
  return counts;
}

const UNUSABLE_LISTED_MAX = 10;

/** Warns in one log line of enabled webhooks that refuse every request, with the reason of each. */
export function warnOfUnusableWebhooks(webhooks: IncomingWebhookIndex, log: Logger): void {
  const unusable = [...webhooks.all()].flatMap((webhook) => {
    const { finding } = webhook.sender?.verifier.problem ?? {};
    return webhook.enabled && finding !== undefined
      ? [`${formatWebhookLabel(webhook)}: ${finding}`] : [];
  });
  if (unusable.length === 0) return;
  log.warning('incoming webhooks refuse every request: their preset lacks what it needs', {
    count: unusable.length, webhooks: unusable.slice(0, UNUSABLE_LISTED_MAX),
  });
}
