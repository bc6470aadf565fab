/**
 * The name and the id of a request's event, as its sender gives them. Each is read when it is first
 * needed, and once: an action gets the payload and the headers that hold them, and may change both.
 */
import type { RequestReader } from '../../senders/request/request-reader.ts';
import type { ValueSources } from '../../senders/scheme/scheme.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';

/** Longer names and ids are ignored: no sender has them. */
const NAME_LENGTH_MAX = 1000;

export class EventNames {
  readonly #reader: RequestReader | null;
  readonly #webhook: ReadyIncomingWebhook;
  #event: string | null | undefined;
  #eventId: string | null | undefined;

  /** `reader` is null if there is nothing to read. */
  constructor(reader: RequestReader | null, webhook: ReadyIncomingWebhook) {
    this.#reader = reader;
    this.#webhook = webhook;
  }

  /** null: the preset reads no event name, or the request has none. */
  get event(): string | null {
    if (this.#event === undefined) {
      this.#event = readNameOrId(this.#reader, this.#webhook.sender?.verifier.scheme.event);
    }
    return this.#event;
  }

  get eventId(): string | null {
    if (this.#eventId === undefined) this.#eventId = readNameOrId(this.#reader,
      this.#webhook.eventIdSources);
    return this.#eventId;
  }
}

/** Reads an event's name or id from a request; null when it has none, or one that is too long. */
export function readNameOrId(
  reader: RequestReader | null, sources: ValueSources | null | undefined,
): string | null {
  if (reader === null || sources === null || sources === undefined) return null;
  const name = reader.read(sources);
  return name === null || name.length > NAME_LENGTH_MAX ? null : name;
}
