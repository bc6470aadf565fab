/**
 * What the holder of a token sees that is bound to outgoing webhooks. Nothing else in the program
 * says so: every list, search, stream and look-up that such a token may call asks here. It is made
 * for each request, and goes by the names that webhooks have when it is asked.
 */
import { createBindingTest } from '../../base/webhook-binding.ts';
import type { Binding, Exchange } from '../../server/http-route.ts';

type VisibleWebhook = {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly payloadTemplate?: unknown;
  readonly actionConfiguration?: unknown;
};

/**
 * Whether a webhook gets payloads as they are: where a template or an action makes the body, its
 * owner is sent that body alone.
 */
export function getsPayloads(
  { payloadTemplate, actionConfiguration }: Omit<VisibleWebhook, 'identifier'>,
): boolean {
  return payloadTemplate === undefined && actionConfiguration === undefined;
}

type VisibilityDirectory = { find(identifier: string): VisibleWebhook | undefined };

/** Finds what the caller sees; null: everything, as his token is not bound, or he needs none. */
export type FindVisibility = (exchange: Pick<Exchange, 'grant'>) => Visibility | null;

export function createVisibilityFinder(webhooks: VisibilityDirectory): FindVisibility {
  return ({ grant }) => grant?.binding === undefined ? null
    : new Visibility(grant.binding, webhooks);
}

export class Visibility {
  readonly binding: Binding;
  readonly #webhooks: VisibilityDirectory;
  readonly #isBound: (webhook: VisibleWebhook) => boolean;

  constructor(binding: Binding, webhooks: VisibilityDirectory) {
    this.binding = binding;
    this.#webhooks = webhooks;
    this.#isBound = createBindingTest(binding.webhooks);
  }

  /** Asks by the identifier of a webhook. One that was removed is not seen any more. */
  seesWebhook(identifier: string): boolean {
    return this.#find(identifier) !== undefined;
  }

  /** Whether the webhook is seen and gets payloads as they are. */
  seesPayloadsOf(identifier: string): boolean {
    const webhook = this.#find(identifier);
    return webhook !== undefined && getsPayloads(webhook);
  }

  /** An event is seen by its deliveries: `webhookIds` are those of the webhooks that have one. */
  seesEvent(webhookIds: readonly (string | null)[]): boolean {
    return webhookIds.some((id) => id !== null && this.seesWebhook(id));
  }

  /** Whether the payload, the key and the source of such an event are seen. */
  seesPayload(webhookIds: readonly (string | null)[]): boolean {
    return webhookIds.some((id) => id !== null && this.seesPayloadsOf(id));
  }

  /** Jobs belong to the token that began them. */
  seesJob({ token }: { readonly token?: string | undefined }): boolean {
    return token === this.binding.tokenId;
  }

  #find(identifier: string): VisibleWebhook | undefined {
    const webhook = this.#webhooks.find(identifier);
    return webhook !== undefined && this.#isBound(webhook) ? webhook : undefined;
  }
}
