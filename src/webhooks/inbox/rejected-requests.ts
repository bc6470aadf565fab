/**
 * Rejected requests, in memory alone: anyone can send them, so they must fill neither disk nor
 * memory. The oldest go first, a webhook's own before those of other webhooks. Lists have them
 * beside the stored requests.
 */
import { estimateHeadBytes, type StoredRequest } from '../incoming/stored-request.ts';

const WEBHOOK_MAX = 100;
const ALL_MAX = 1000;
const BODY_BYTES_MAX = 8 * 1024;
// Short headers take ten times their length in memory, so bytes are limited as well as counts.
const WEBHOOK_BYTES_MAX = 2 << 20;
const ALL_BYTES_MAX = 12 << 20;

/** Unless `isWhole`, only the beginning of the body is stored. */
type RejectedRequest = {
  readonly request: StoredRequest; readonly body: Buffer; readonly isWhole: boolean;
};
/** The requests of one webhook, in order of arrival. */
type WebhookRequests = { readonly ids: Set<string>; bytes: number };

export class RejectedRing {
  /** In order of arrival. */
  readonly #byId = new Map<string, RejectedRequest>();
  readonly #byWebhook = new Map<string, WebhookRequests>();
  #bytes = 0;

  /** `body` is null when it was never read. */
  add(request: StoredRequest, body: Buffer | null): void {
    const { id, hook: webhookId } = request;
    // A copy, as a slice would keep the whole body in memory.
    const storedBody = Buffer.from(body?.subarray(0, BODY_BYTES_MAX) ?? '');
    const isWhole = storedBody.length === body?.length;
    const rejectedRequest = { request, body: storedBody, isWhole };
    const webhookRequests = this.#byWebhook.get(webhookId) ?? { ids: new Set(), bytes: 0 };
    this.#byWebhook.set(webhookId, webhookRequests);
    webhookRequests.ids.add(id);
    this.#byId.set(id, rejectedRequest);
    this.#count(webhookRequests, estimateBytes(rejectedRequest));
    while (webhookRequests.ids.size > WEBHOOK_MAX || webhookRequests.bytes > WEBHOOK_BYTES_MAX) {
      this.#removeFirst(webhookRequests.ids);
    }
    while (this.#byId.size > ALL_MAX || this.#bytes > ALL_BYTES_MAX) {
      this.#removeFirst(this.#byId.keys());
    }
  }

  * all(): Iterable<StoredRequest> {
    for (const { request } of this.#byId.values()) yield request;
  }

  find(id: string): RejectedRequest | undefined {
    return this.#byId.get(id);
  }

  #removeFirst(ids: Iterable<string>): void {
    for (const id of ids) {
      const rejectedRequest = this.#byId.get(id);
      const { hook: webhookId = '' } = rejectedRequest?.request ?? {};
      const webhookRequests = this.#byWebhook.get(webhookId);
      if (rejectedRequest === undefined || webhookRequests === undefined) return;
      this.#byId.delete(id);
      webhookRequests.ids.delete(id);
      this.#count(webhookRequests, -estimateBytes(rejectedRequest));
      if (webhookRequests.ids.size === 0) this.#byWebhook.delete(webhookId);
      return;
    }
  }

  #count(webhookRequests: WebhookRequests, bytes: number): void {
    webhookRequests.bytes += bytes;
    this.#bytes += bytes;
  }
}

function estimateBytes({ request, body }: RejectedRequest): number {
  return estimateHeadBytes(request) + (request.event ?? '').length + body.length;
}
