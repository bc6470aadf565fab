/**
 * What the sender of a request calls its event: its name and its id. Each is read at first need,
 * and once: an action is given the payload and the headers that they stand in, and may change both.
 */
import type { RequestReader } from '../../senders/request/reader.ts';
import type { ValueSources } from '../../senders/scheme/scheme.ts';
import type { ReadyHook } from './hook-index.ts';

/** No sender's name of an event, and no id of one, is longer: a longer text is taken for none. */
const NAME_LENGTH_MAX = 1000;

export class EventNames {
  readonly #parts: RequestReader | null;
  readonly #hook: ReadyHook;
  #event: string | null | undefined;
  #eventId: string | null | undefined;

  /** `parts` is null where nothing is to be read. */
  constructor(parts: RequestReader | null, hook: ReadyHook) {
    this.#parts = parts;
    this.#hook = hook;
  }

  /** null: the webhook's preset knows none. */
  get event(): string | null {
    if (this.#event === undefined) {
      this.#event = nameIn(this.#parts, this.#hook.sender?.verifier.scheme.event);
    }
    return this.#event;
  }

  get eventId(): string | null {
    if (this.#eventId === undefined) this.#eventId = nameIn(this.#parts, this.#hook.eventId);
    return this.#eventId;
  }
}

export function nameIn(
  parts: RequestReader | null, sources: ValueSources | null | undefined,
): string | null {
  if (parts === null || sources === null || sources === undefined) return null;
  const name = parts.read(sources);
  return name === null || name.length > NAME_LENGTH_MAX ? null : name;
}
