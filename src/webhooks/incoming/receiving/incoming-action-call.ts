/**
 * The call of an action for a request of an incoming webhook, whether admitted just now or stored.
 * It decodes the payload when an action first asks for it; its subclasses say where the body comes
 * from, and how it is to be read.
 */
import { encodeJson } from '../../../base/json/encode.ts';
import type { TraceContext } from '../../../base/trace-context.ts';
import type { Logger } from '../../../base/log.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { ActionContext } from '../../actions/action.ts';
import { createEmptyPayload, type Payload } from '../../actions/action-payload.ts';
import type { ActionCall, RunTurn } from '../../actions/action-registry.ts';
import type { RunnableConfiguration } from '../../actions/configuration-index.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { ValueSource } from '../../senders/scheme/scheme.ts';
import { resolveBodyKind, type BodyKind, type BodyReading } from '../body-format.ts';

/** The configuration of a call. */
type CallConfiguration = Pick<RunnableConfiguration, 'identifier' | 'options'>;

/** For a call that no action gets: conditions are evaluated with it. */
export const NO_CONFIGURATION: CallConfiguration = { identifier: '', options: {} };

export abstract class IncomingActionCall implements ActionCall {
  readonly direction = 'incoming';
  readonly configuration: string;
  readonly options: ActionCall['options'];
  isChainRefused = false;
  #payload: Payload | null | undefined;

  constructor({ identifier, options }: CallConfiguration) {
    this.configuration = identifier;
    this.options = options;
  }

  abstract get webhookId(): string;
  abstract get timeoutMs(): number | null;
  abstract get context(): ActionContext;
  abstract get storedRequestId(): string | null;
  abstract get turn(): RunTurn | null;
  abstract get requestOrigin(): RequestOrigin;
  abstract get log(): Logger;
  abstract get hops(): number;
  abstract get trace(): TraceContext | null;
  protected abstract get body(): Buffer;
  protected abstract get contentType(): string | undefined;
  protected abstract get bodyReading(): BodyReading;
  /** null: the body is not of that kind. */
  protected abstract readPayload(kind: BodyKind): Payload | null;
  /**
   * Called when the payload of a non-empty body was read. `isParsed`: the body is of that kind.
   * `kind` is null where nothing says the kind of the body, so that it cannot be parsed.
   */
  protected abstract onPayloadRead(isParsed: boolean, kind: BodyKind | null): void;

  payload = (): Payload => this.#decode() ?? createEmptyPayload();

  bytes = (): Buffer | null => {
    const payload = this.#decode();
    // The parsed payload is dropped: it can be twenty times as large as the bytes, which may be
    // held for long.
    this.#payload = undefined;
    if (payload === null) return null;
    // A field of a form may hold JSON that is nested as deep as the body is long.
    return this.#kind() === 'json' ? this.body : Buffer.from(encodeJson(payload as JsonValue));
  };

  get secretSources(): readonly ValueSource[] {
    return this.bodyReading.secretSources;
  }

  #decode(): Payload | null {
    if (this.#payload === undefined) {
      const kind = this.#kind();
      this.#payload = kind === null ? null : this.readPayload(kind);
      if (this.body.length > 0) this.onPayloadRead(this.#payload !== null, kind);
    }
    return this.#payload;
  }

  #kind(): BodyKind | null {
    return resolveBodyKind(this.bodyReading.format, this.contentType);
  }
}
