/**
 * Sends one request to one member of etcd, through its JSON gateway. The outcome of a failure says
 * whether etcd may have executed the request. It surely has not if there was no connection, or if
 * it refused with a gRPC code that is decided before anything is proposed to the cluster.
 */
import type { Agent, IncomingMessage } from 'node:http';
import type { Clock, Timer } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { isJsonObject, listObjects } from '../../../base/fields.ts';
import { http, loadHttps } from '../../../base/node-modules.ts';
import type { EtcdEndpoint } from './etcd-url.ts';

export type JsonFields = Readonly<Record<string, unknown>>;

export type EtcdOutcome =
  | { readonly kind: 'answer'; readonly fields: JsonFields }
  /** Nothing reached etcd. */
  | { readonly kind: 'unsent'; readonly message: string }
  /** The request may have been executed, or may be executed later. */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly code: number }
  /** A token is missing or has expired; the request was not executed. */
  | { readonly kind: 'unauthenticated'; readonly message: string }
  /** The quota is used up. The write that used it up was executed nevertheless. */
  | { readonly kind: 'full'; readonly message: string };

export type EtcdSendOptions = {
  readonly endpoint: EtcdEndpoint;
  readonly isTls: boolean;
  readonly agent: Agent | undefined;
  readonly token: string | null;
  readonly clock: Clock;
  /** Longest wait for the response, once the request is sent. */
  readonly timeoutMs: number;
};

const CONNECT_MS_MAX = 1500;
// Codes of gRPC: invalid argument, not found, permission denied, failed precondition, out of
// range, not implemented.
const REJECTION_CODES: readonly unknown[] = [3, 5, 7, 9, 11, 12];
const RESOURCE_EXHAUSTED = 8;
const UNAUTHENTICATED = 16;
const NO_SPACE = /database space exceeded/;
// A member's answers to a token that was made under rules that have changed since.
const OLD_TOKEN = /revision of auth store is old|invalid auth token/;

export type SentRequest = { readonly outcome: Promise<EtcdOutcome>; cancel(): void };

export function sendRequest(options: EtcdSendOptions, path: string, body: object): SentRequest {
  let cancel = (): void => {};
  const outcome = new Promise<EtcdOutcome>((resolve) => {
    let isSent = false;
    let timer: Timer | null = null;
    const fail = (message: string): void => {
      timer?.cancel();
      resolve({ kind: isSent ? 'unknown' : 'unsent', message });
      request.destroy();
    };
    const startTimer = (timeoutMs: number, what: string): void => {
      timer?.cancel();
      timer = options.clock.startTimer(timeoutMs, () => fail(`${what} within ${timeoutMs} ms`));
    };
    const request = openRequest(options, path, (response) => {
      readText(response, (text) => {
        timer?.cancel();
        resolve(parseOutcome(response.statusCode ?? 0, text));
      }, fail);
    });
    request.on('socket', (socket) => {
      const onReady = (): void => {
        isSent = true;
        startTimer(options.timeoutMs, 'no answer');
      };
      if (socket.connecting) socket.once(options.isTls ? 'secureConnect' : 'connect', onReady);
      else onReady();
    });
    request.on('error', (error) => fail(messageOf(error)));
    startTimer(CONNECT_MS_MAX, 'no connection');
    cancel = () => fail('the session was closed');
    request.end(JSON.stringify(body));
  });
  return { outcome, cancel: () => cancel() };
}

/** Opens a request, also one whose response does not end (a watch). The caller handles errors. */
export function openRequest(
  { endpoint, isTls, agent, token }: EtcdSendOptions, path: string,
  onResponse: (response: IncomingMessage) => void,
) {
  const headers = {
    'Content-Type': 'application/json', ...token === null ? {} : { Authorization: token },
  };
  const options = {
    host: endpoint.host, port: endpoint.port, path, method: 'POST', headers,
    agent: agent ?? false,
  };
  return isTls ? loadHttps().request(options, onResponse) : http.request(options, onResponse);
}

function readText(
  response: IncomingMessage, onText: (text: string) => void, onError: (message: string) => void,
): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => onText(Buffer.concat(chunks).toString('utf8')));
  response.on('error', (error) => onError(messageOf(error)));
}

function parseOutcome(status: number, text: string): EtcdOutcome {
  const fields = parseFields(text);
  if (status === 200 && fields !== null) return { kind: 'answer', fields };
  if (fields === null) {
    const message = `the answer (status ${status}) is not etcd's: is it etcd 3.4 or later, and `
      + 'etcds:// if it speaks TLS?';
    return status >= 400 && status < 500 ? { kind: 'refused', message, code: 0 }
      : { kind: 'unknown', message };
  }
  const message = typeof fields.message === 'string' ? fields.message : `status ${status}`;
  const { code } = fields;
  if (code === UNAUTHENTICATED || OLD_TOKEN.test(message)) {
    return { kind: 'unauthenticated', message };
  }
  if (code === RESOURCE_EXHAUSTED) {
    return NO_SPACE.test(message) ? { kind: 'full', message }
      : { kind: 'refused', message, code };
  }
  if (typeof code === 'number' && REJECTION_CODES.includes(code)) {
    return { kind: 'refused', message, code };
  }
  return { kind: 'unknown', message };
}

function parseFields(text: string): JsonFields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

type KeyValue = {
  readonly key: string;
  readonly value: Buffer;
  /** Revision of etcd's history at which the key was last put. */
  readonly revision: number;
};

/**
 * The keys and values of a range. In etcd's JSON numbers are strings, and empty or false members
 * are left out.
 */
export function parseKeyValues(range: JsonFields): readonly KeyValue[] {
  return listObjects(range.kvs).map(({ key, value, mod_revision: revision }) => ({
    key: typeof key === 'string' ? key : '', revision: Number(revision),
    value: typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0),
  }));
}

/** Returns the matches of each range in the response to a transaction, in the order of ranges. */
export function parseRanges(transaction: JsonFields): readonly (readonly KeyValue[])[] {
  return listObjects(transaction.responses).flatMap(({ response_range: range }) =>
    isJsonObject(range) ? [parseKeyValues(range)] : []);
}

/** The revision of etcd's history as of the response. */
export function parseRevision({ header }: JsonFields): number {
  return isJsonObject(header) ? Number(header.revision) : 0;
}
