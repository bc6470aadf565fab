/**
 * The call of an action for a request of an incoming webhook, whether admitted just now or stored.
 * It decodes the payload when an action first asks for it; its subclasses say where the body comes
 * from, and how it is to be read.
 */
import { encodeJson } from '../../../base/json/encode.ts';
import { isJsonContainer } from '../../../base/json/parse.ts';
import type { TraceContext } from '../../../base/trace-context.ts';
import type { Logger } from '../../../base/log.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { ActionContext } from '../../actions/action.ts';
import { createEmptyPayload, type Payload } from '../../actions/action-payload.ts';
import type { ActionCall, RunTurn } from '../../actions/action-registry.ts';
import type { RunnableConfiguration } from '../../actions/configuration-index.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import { isDecoded, type PlainBody } from '../../senders/request/plain-body.ts';
import type { ValueSource } from '../../senders/scheme/scheme.ts';
import type { UnparsedBody } from '../../inbox/stored-request.ts';
import {
  explainCharset, findFittingFormat, resolveBodyKind, type BodyKind, type BodyReading,
} from '../body-format.ts';
import { DecodedBody } from './decoded-body.ts';

/** The configuration of a call. */
type CallConfiguration = Pick<RunnableConfiguration, 'identifier' | 'options'>;

/** For a call that no action gets: conditions are evaluated with it. */
export const NO_CONFIGURATION: CallConfiguration = { identifier: '', options: {} };

/** JSON of fewer bytes is parsed as fast as it is scanned. */
const SCANNED_BYTES_MIN = 32_768;

export abstract class IncomingActionCall implements ActionCall {
  readonly direction = 'incoming';
  readonly configuration: string;
  readonly options: ActionCall['options'];
  isChainRefused = false;
  readonly #decoded: DecodedBody;
  #isReported = false;

  constructor({ identifier, options }: CallConfiguration, decoded = new DecodedBody()) {
    this.configuration = identifier;
    this.options = options;
    this.#decoded = decoded;
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
  protected abstract decodeBody(): PlainBody;
  /** null: the plain body is not of that kind. */
  protected abstract readPayload(plainBody: Buffer, kind: BodyKind): Payload | null;
  /** Called when the payload of a non-empty body is first read; null: it could be parsed. */
  protected abstract onPayloadRead(unparsed: UnparsedBody | null): void;

  payload = (): Payload => this.#readPayload() ?? createEmptyPayload();

  bytes = (): Buffer | null => {
    const bytes = this.#decoded.readBytes(() => {
      const body = this.#readPlainBody();
      if (!isDecoded(body)) return null;
      const isScanned = this.#kind() === 'json' && body.length >= SCANNED_BYTES_MIN;
      const isContainer = isScanned ? isJsonContainer(body) : null;
      if (isContainer !== null) return isContainer ? body : null;
      const payload = this.#readPayload();
      if (payload === null) return null;
      // A field of a form may hold JSON that is nested as deep as the body is long.
      return this.#kind() === 'json' ? body : Buffer.from(encodeJson(payload as JsonValue));
    });
    this.#report(bytes !== null);
    this.#decoded.forget();
    return bytes;
  };

  plainBody = (): Buffer => {
    const body = this.#readPlainBody();
    if (isDecoded(body)) return body;
    this.#report(false);
    return this.body;
  };

  get secretSources(): readonly ValueSource[] {
    return this.bodyReading.secretSources;
  }

  #readPayload(): Payload | null {
    const payload = this.#decoded.readPayload(() => {
      const kind = this.#kind();
      const body = this.#readPlainBody();
      return kind === null || !isDecoded(body) ? null : this.readPayload(body, kind);
    });
    this.#report(payload !== null);
    return payload;
  }

  #readPlainBody(): PlainBody {
    return this.#decoded.readPlainBody(() => this.decodeBody());
  }

  #report(isParsed: boolean): void {
    if (this.#isReported) return;
    this.#isReported = true;
    if (this.body.length > 0) this.onPayloadRead(isParsed ? null : this.#explainUnparsed());
  }

  #explainUnparsed(): UnparsedBody {
    const body = this.#readPlainBody();
    if (!isDecoded(body)) return { fittingFormat: null, reason: body.reason };
    const kind = this.#kind();
    const reason = kind === null ? null : explainCharset(kind, body, this.contentType);
    return reason === null ? { fittingFormat: findFittingFormat(body, this.contentType, kind) }
      : { fittingFormat: null, reason };
  }

  #kind(): BodyKind | null {
    return resolveBodyKind(this.bodyReading.format, this.contentType);
  }
}
