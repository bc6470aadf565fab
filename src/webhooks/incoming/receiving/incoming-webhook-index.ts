/**
 * An index of incoming webhooks by path segment, compiled for requests: O(1), nothing is parsed.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { AddressSet } from '../../../base/network/address-set.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';
import type { RelayContext } from '../../relay-context.ts';
import { resolveKey } from '../../../resources/resolve-key.ts';
import { followRecords } from '../../../resources/projection.ts';
import { resolveBodyReading, type BodyReading } from '../body-format.ts';
import type { CustomResponses } from '../custom-response.ts';
import {
  decodeIncomingWebhook, incomingCollection, type StoredIncomingWebhook,
} from '../incoming-webhook.ts';
import { prepareInbox, type ReadyInbox } from '../inbox-members.ts';
import { prepareRoutes, type ReadyWebhookRoute } from '../routes-member.ts';
import type { ReadyResponses } from './webhook-response.ts';
import { WebhookTraffic, TokenBucket } from './webhook-traffic.ts';
import { Rejections, type RejectionCheck } from './rejections.ts';
import { prepareSenderVerifier, type SenderVerifier } from '../verification-member.ts';
import type { HmacKey } from '../../senders/hmac.ts';
import { listSecrets } from '../../senders/verification/webhook-secrets.ts';
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
  /** Whether a route has a condition. */
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
  readonly #unfollow: () => void;

  constructor(context: RelayContext, options: IndexOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.unknownPathRejections = new Rejections(null, context, options.onOutcome);
    this.#context = context;
    this.#options = options;
    this.#collection = context.store.collection(incomingCollection.name);
    this.#unfollow = followRecords(this.#collection, ({ id, after }) => this.#follow(id, after));
  }

  findByPath(pathSegment: string): ReadyIncomingWebhook | undefined {
    return this.#byPath.get(pathSegment);
  }

  find(identifier: string): ReadyIncomingWebhook | undefined {
    return this.#byIdentifier.get(identifier);
  }

  /**
   * Finds by identifier first, as a path segment may look like one, then by name or path segment.
   */
  findNamed(name: string): ReadyIncomingWebhook | undefined {
    return this.#byIdentifier.get(resolveKey(this.#collection, name) ?? '');
  }

  all(): Iterable<ReadyIncomingWebhook> {
    return this.#byIdentifier.values();
  }

  /** Rejected requests by webhook, for at most 1,000 webhooks; the others count as `other`. */
  countRejections(): readonly RejectionCount[] {
    return countRejectionsByWebhook(this.all());
  }

  /** Requests that no payload could be made of, by webhook, within the same limit. */
  countUnparsed(): readonly UnparsedCount[] {
    return countUnparsedByWebhook(this.all());
  }

  close(): void {
    this.#unfollow();
    this.unknownPathRejections.close();
    for (const { traffic } of this.all()) traffic.rejections.close();
  }

  #follow(id: string, after: Buffer | null): void {
    const previous = this.#byIdentifier.get(id);
    // Two webhooks may swap their segments in one transaction: by now the segment may belong to the
    // other one, which must stay.
    if (previous !== undefined && this.#byPath.get(previous.pathSegment) === previous) {
      this.#byPath.delete(previous.pathSegment);
    }
    if (after === null) {
      previous?.traffic.rejections.close();
      this.#byIdentifier.delete(id);
      return;
    }
    const options = this.#options;
    const stored = decodeIncomingWebhook(after);
    const traffic = previous?.traffic ?? new WebhookTraffic(
      new Rejections(id, this.#context, options.onOutcome));
    updateBucket(traffic, stored.rateLimit ?? options.rateLimit, this.#context.clock);
    const webhook = toReadyWebhook(stored, options, traffic);
    this.#byIdentifier.set(id, webhook);
    this.#byPath.set(webhook.pathSegment, webhook);
  }
}

/** As long as the rate limit stays the same, changes of the webhook leave the tokens alone. */
function updateBucket(traffic: WebhookTraffic, rateLimit: number, clock: Clock): void {
  if ((traffic.bucket?.ratePerS ?? 0) === rateLimit) return;
  traffic.bucket = rateLimit > 0 ? new TokenBucket(rateLimit, clock.monotonicMs()) : null;
}

function toReadyWebhook(
  webhook: StoredIncomingWebhook,
  { defaultAllowedMethods, bodyBytesMax }: IndexOptions,
  traffic: WebhookTraffic,
): ReadyIncomingWebhook {
  const { allowedMethods = [], allowedAddresses, actionTimeout, response } = webhook;
  const sender = prepareSenderVerifier(webhook, traffic.bucket?.ratePerS);
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
    responses: prepareResponses(response, sender?.preset.responses),
  };
}

function prepareResponses(
  own: CustomResponses | null = null, preset: CustomResponses | null = null,
): ReadyResponses | null {
  return own === null && preset === null ? null : { own, preset };
}

function parseAddresses(addresses: readonly string[]): AddressSet {
  const set = new AddressSet();
  for (const address of addresses) set.add(address);
  return set;
}

const COUNTED_WEBHOOKS_MAX = 1000;

function countRejectionsByWebhook(webhooks: Iterable<ReadyIncomingWebhook>): RejectionCount[] {
  const counts: RejectionCount[] = [];
  const others = new Map<RejectionCheck, number>();
  let webhookCount = 0;
  for (const webhook of webhooks) {
    const { rejections } = webhook.traffic;
    if (rejections.counts.size === 0) continue;
    webhookCount += 1;
    const hook = formatWebhookLabel(webhook);
    for (const [check, count] of rejections.counts) {
      if (webhookCount <= COUNTED_WEBHOOKS_MAX) counts.push({ hook, reason: check, count });
      else others.set(check, (others.get(check) ?? 0) + count);
    }
  }
  for (const [check, count] of others) {
    counts.push({ hook: OTHER_WEBHOOKS_LABEL, reason: check, count });
  }
  return counts;
}

function countUnparsedByWebhook(webhooks: Iterable<ReadyIncomingWebhook>): UnparsedCount[] {
  const counts: UnparsedCount[] = [];
  let others = 0;
  for (const webhook of webhooks) {
    const { unparsedCount: count } = webhook.traffic;
    if (count === 0) continue;
    if (counts.length < COUNTED_WEBHOOKS_MAX) {
      counts.push({ hook: formatWebhookLabel(webhook), count });
    } else others += count;
  }
  return others === 0 ? counts : [...counts, { hook: OTHER_WEBHOOKS_LABEL, count: others }];
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
