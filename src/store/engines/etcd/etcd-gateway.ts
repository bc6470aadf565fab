/**
 * The gateway sends requests to a cluster of etcd. It stays with a member that answers, goes on to
 * the next one where a second request does no harm, and authenticates with a token. Its errors are
 * those of the engine's port: `unknown_outcome`, or a refusal.
 */
import type { Agent } from 'node:http';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { http, loadHttps } from '../../../base/node-modules.ts';
import { openRequest, sendRequest } from './etcd-request.ts';
import type { JsonFields, EtcdOutcome, EtcdSendOptions, SentRequest } from './etcd-request.ts';
import type { EtcdEndpoint, EtcdAddress } from './etcd-url.ts';

type EtcdCall = {
  readonly path: string;
  readonly body: object;
  /** Whether the request may be executed twice, as one that only reads. */
  readonly isRepeatable: boolean;
};

// Shorter than etcd's own time limit of 5 s and two elections, after which a member that lost its
// leader answers. Another member mostly knows the new leader after 2 s.
const RESPONSE_MS_MAX = 3000;
const PERMISSION_DENIED = 7;

export class Gateway {
  readonly address: EtcdAddress;
  readonly clock: Clock;
  readonly #agent: Agent;
  readonly #running = new Set<SentRequest>();
  #current = 0;
  #token: string | null = null;
  #isClosed = false;

  constructor(address: EtcdAddress, clock: Clock) {
    this.address = address;
    this.clock = clock;
    this.#agent = address.isTls ? new (loadHttps().Agent)({ keepAlive: true })
      : new http.Agent({ keepAlive: true });
  }

  get endpoints(): readonly EtcdEndpoint[] {
    return this.address.endpoints;
  }

  /** Sends to this member first from now on. */
  prefer(endpoint: EtcdEndpoint): void {
    this.#current = Math.max(0, this.endpoints.indexOf(endpoint));
  }

  /** Sends a request that may be executed twice, as one that only reads. */
  sendRepeatable(path: string, body: object): Promise<JsonFields> {
    return this.#call({ path, body, isRepeatable: true });
  }

  /** Sends a request again only if it surely was not executed. `storage_full`: it may have been. */
  sendOnce(path: string, body: object): Promise<JsonFields> {
    return this.#call({ path, body, isRepeatable: false });
  }

  /** Sends an empty request to one member. Resolves with its outcome, and never rejects. */
  async askMember(endpoint: EtcdEndpoint, path: string): Promise<EtcdOutcome> {
    return await this.#send(endpoint, path, {});
  }

  /** Gets a token, where the URL names a user. Throws as `sendRepeatable` does. */
  async authenticate(): Promise<void> {
    const { user, password } = this.address;
    if (user === null) return;
    this.#token = null;
    const body = { name: user, password: password ?? '' };
    const { token } = await this.#call({
      path: '/v3/auth/authenticate', body, isRepeatable: true,
    }, false);
    this.#token = typeof token === 'string' ? token : null;
  }

  /** Opens a request to the member in use whose response does not end (a watch). */
  open(path: string, onResponse: Parameters<typeof openRequest>[2]) {
    const endpoint = this.#endpointAt(this.#current);
    const options = { ...this.#createSendOptions(endpoint), agent: undefined };
    return openRequest(options, path, onResponse);
  }

  /** Idempotent. Requests under way reject with `unknown_outcome`. */
  close(): void {
    this.#isClosed = true;
    for (const { cancel } of this.#running) cancel();
    this.#agent.destroy();
  }

  async #call(call: EtcdCall, mayAuthenticate = true): Promise<JsonFields> {
    let last: EtcdOutcome | null = null;
    let isSent = false;
    const start = this.#current;
    for (let turn = 0; turn < this.endpoints.length && !this.#isClosed; turn += 1) {
      const index = (start + turn) % this.endpoints.length;
      const endpoint = this.#endpointAt(index);
      last = await this.#callEndpoint(endpoint, call, mayAuthenticate);
      if (last.kind === 'answer') {
        this.#current = index;
        return last.fields;
      }
      if (last.kind === 'unknown') isSent = true;
      else if (last.kind !== 'unsent') throw this.#createRejection(last);
      if (isSent && !call.isRepeatable) break;
    }
    this.#current = (this.#current + 1) % this.endpoints.length;
    const why = last === null || this.#isClosed ? 'the session was closed' : messageOfOutcome(last);
    const isUnknown = isSent || call.isRepeatable || this.#isClosed;
    throw this.#createError(isUnknown ? 'unknown_outcome' : 'unavailable', why);
  }

  async #callEndpoint(
    endpoint: EtcdEndpoint, { path, body }: EtcdCall, mayAuthenticate: boolean,
  ): Promise<EtcdOutcome> {
    const outcome = await this.#send(endpoint, path, body);
    if (outcome.kind !== 'unauthenticated' || !mayAuthenticate || this.address.user === null) {
      return outcome;
    }
    await this.authenticate();
    return await this.#send(endpoint, path, body);
  }

  async #send(endpoint: EtcdEndpoint, path: string, body: object): Promise<EtcdOutcome> {
    const request = sendRequest(this.#createSendOptions(endpoint), path, body);
    this.#running.add(request);
    try {
      return await request.outcome;
    } finally {
      this.#running.delete(request);
    }
  }

  #createSendOptions(endpoint: EtcdEndpoint): EtcdSendOptions {
    return {
      endpoint, isTls: this.address.isTls, agent: this.#agent, token: this.#token,
      clock: this.clock, timeoutMs: RESPONSE_MS_MAX,
    };
  }

  #endpointAt(index: number): EtcdEndpoint {
    return this.endpoints[index] ?? { host: '', port: 0 };
  }

  #createRejection(outcome: EtcdOutcome): AppError {
    const message = messageOfOutcome(outcome);
    if (outcome.kind === 'full') {
      return this.#createError('storage_full',
        `${message}: compact and defragment it, give it a larger `
        + '--quota-backend-bytes, then disarm its alarm');
    }
    const { user } = this.address;
    const who = user === null ? 'name a user in the URL, as in etcd://user:password@host'
      : `see what the roles of ${user} allow on the keys below ${this.address.prefix}/`;
    const isDenied = outcome.kind === 'unauthenticated' || /user name is empty/.test(message)
      || (outcome.kind === 'refused' && outcome.code === PERMISSION_DENIED);
    if (isDenied) return this.#createError('misconfigured', `${message}: ${who}`);
    if (/authentication is not enabled/.test(message)) {
      return this.#createError('misconfigured', `${message}: leave the user out of the URL`);
    }
    if (/too many requests/.test(message)) return this.#createError('unavailable', message);
    return /request is too large/.test(message)
      ? this.#createError('too_large',
        `${message}: etcd's --max-request-bytes is 1.5 MiB by default`)
      : this.#createError('misconfigured', message);
  }

  #createError(code: ErrorCode, why: string): AppError {
    return new AppError(code, `${this.address.name}: ${why}`);
  }
}

function messageOfOutcome(outcome: EtcdOutcome): string {
  return outcome.kind === 'answer' ? '' : outcome.message;
}
