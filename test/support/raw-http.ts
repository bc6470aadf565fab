/**
 * HTTP spoken by hand over a socket, so that a test sees the bytes: what no client library would
 * send can be sent, and what one would hide can be seen.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Where a server listens: a port on loopback, or the path of a unix socket. */
export type Place = { readonly port: number } | { readonly path: string };

// Longer than any limit of the server that a test waits for.
const SILENCE_MS_MAX = 120_000;

export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  // Put together when somebody looks: with each chunk it would copy a long answer again and again.
  #chunks: Buffer[] = [];
  #isEnded = false;
  #wake: () => void = () => {};

  constructor(place: Place) {
    this.socket = 'port' in place
      ? connect({ host: '127.0.0.1', port: place.port, allowHalfOpen: true })
      : connect({ path: place.path, allowHalfOpen: true });
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.#wake();
    });
    this.socket.on('end', () => {
      this.#isEnded = true;
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        this.#isEnded = true;
        this.#wake();
        resolve();
      });
    });
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** The next answer; `hasBody` is false for the answer to a HEAD. Throws when none comes. */
  async answer(hasBody = true): Promise<RawAnswer> {
    for (;;) {
      const received = Buffer.concat(this.#chunks);
      const parsed = parseAnswer(received, hasBody, this.#isEnded);
      this.#chunks = [received.subarray(parsed?.length ?? 0)];
      if (parsed !== null) return parsed.answer;
      if (this.#isEnded) assert.fail(`no answer, but ${JSON.stringify(received.toString())}`);
      await this.#more();
    }
  }

  /** Everything until the other side ends or closes. */
  async rest(): Promise<string> {
    while (!this.#isEnded) await this.#more();
    return Buffer.concat(this.#chunks).toString();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Throws when nothing comes for long: the server has forgotten us. */
  #more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nothing more came')), SILENCE_MS_MAX);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** One request on a connection of its own. `Host` is added when the headers lack it. */
export async function rawRequest(
  place: Place, method: string, path: string,
  headers: Readonly<Record<string, string>> = {}, body?: string | Buffer,
): Promise<RawAnswer> {
  const connection = new RawConnection(place);
  try {
    connection.send(encodeRequest(method, path, headers, body));
    return await connection.answer(method !== 'HEAD');
  } finally {
    connection.close();
  }
}

export function encodeRequest(
  method: string, path: string, headers: Readonly<Record<string, string>> = {},
  body?: string | Buffer,
): Buffer {
  const bytes = Buffer.from(body ?? '');
  const all = {
    Host: 'localhost',
    ...body === undefined ? {} : { 'Content-Length': String(bytes.length) },
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes]);
}

type Parsed = { readonly answer: RawAnswer; readonly length: number };

function parseAnswer(bytes: Buffer, hasBody: boolean, isEnded: boolean): Parsed | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const start = headEnd + 4;
  const isBare = !hasBody || status === 204 || status === 304 || status < 200;
  if (isBare) return { answer: { status, headers, body: '' }, length: start };
  if (headers['transfer-encoding'] === 'chunked') {
    const chunks = parseChunks(bytes, start);
    return chunks && { answer: { status, headers, body: chunks.body }, length: chunks.end };
  }
  const given = headers['content-length'];
  if (given === undefined && !isEnded) return null;
  const end = given === undefined ? bytes.length : start + Number(given);
  if (bytes.length < end) return null;
  return { answer: { status, headers, body: bytes.toString('utf8', start, end) }, length: end };
}

function parseChunks(bytes: Buffer, from: number): { body: string; end: number } | null {
  const pieces: Buffer[] = [];
  for (let offset = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', offset);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', offset, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return null;
    if (size === 0) return { body: Buffer.concat(pieces).toString(), end };
    pieces.push(bytes.subarray(lineEnd + 2, end - 2));
    offset = end;
  }
}
