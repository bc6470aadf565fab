/** One request over a connection of its own, for tests of real processes. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request as requestSecurely } from 'node:https';

export type Question = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead. */
  readonly raw?: string;
  /** Certificate of a TLS server. */
  readonly ca?: string;
};

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
};

export function ask(url: string, question: Question = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body, raw, ca } = question;
  const text = raw ?? (body === undefined ? null : JSON.stringify(body));
  const bytes = text === null ? null : Buffer.from(text);
  const bodyHeaders = bytes === null
    ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  const options = { method, agent: false, headers: { ...bodyHeaders, ...headers } } as const;
  return new Promise((resolve, reject) => {
    const sent = url.startsWith('https:')
      ? requestSecurely(url, { ...options, ...ca === undefined ? {} : { ca } })
      : request(url, options);
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const received = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0, headers: response.headers,
          text: received.toString(), bytes: received,
        });
      });
    });
    sent.end(bytes ?? undefined);
  });
}

/** Adds a record to the collection at `url`, and gives its identifier. */
export async function addRecord(
  url: string, body: unknown, headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, text } = await ask(url, { method: 'POST', headers, body });
  assert.equal(status, 201, `${url}: ${text}`);
  const { identifier, id } = JSON.parse(text);
  return String(identifier ?? id);
}
