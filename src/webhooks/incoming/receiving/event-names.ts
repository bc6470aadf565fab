/**
 * What the sender of a request calls its event: its name and its id. Each is read at first need,
 * and once: an action is given the payload and the headers that they stand in, and may change both.
 */
import type { RequestReader } from '../../senders/request/request-reader.ts';
import type { ValueSources } from '../../senders/scheme/scheme.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';

/** No sender's name of an event, and no id of one, is longer: a longer text is taken for none. */
const NAME_LENGTH_MAX = 1000;

export class EventNames {
  readonly #reader: RequestReader | null;
  readonly #webhook: ReadyIncomingWebhook;
  #event: string | null | undefined;
  #eventId: string | null | undefined;

  /** `parts` is null where nothing is to be read. */
  constructor(reader: RequestReader | null, webhook: ReadyIncomingWebhook) {
    this.#reader = reader;
    this.#webhook = webhook;
  }

  /** null: the webhook's preset knows none. */
  get event(): string | null {
    if (this.#event === undefined) {
      this.#event = readName(this.#reader, this.#webhook.sender?.verifier.scheme.event);
    }
    return this.#event;
  }

  get eventId(): string | null {
    if (this.#eventId === undefined) this.#eventId = readName(this.#reader,
      this.#webhook.eventIdSources);
    return this.#eventId;
  }
}

export function readName(
  reader: RequestReader | null, sources: ValueSources | null | undefined,
): string | null {
  if (reader === null || sources === null || sources === undefined) return null;
  const name = reader.read(sources);
  return name === null || name.length > NAME_LENGTH_MAX ? null : name;
}
