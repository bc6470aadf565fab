/**
 * What the webhooks are measured against: the least that does the same work, with the same bytes
 * for the caller and on disk, and as durable. Nothing is kept in memory, listed or retried.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGroupCommit } from './bare-group-commit.ts';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const WEBHOOK_ID = randomUUID();
/** Of the result of a run, with its line feed. */
const RESULT_LINE_BYTES = 250;

/**
 * Verifies the signature, makes the request's line durable and answers; then runs nothing, and
 * writes the result in a later group commit.
 */
export function accept(): Listener {
  const append = createGroupCommit();
  return (request, response) => withBody(request, (body) => {
    if (!isSigned(request, body)) return answer(response, 401, '');
    const id = randomUUID();
    append(makeRequestLine(id, request, body), () => {
      answer(response, 200, `{"success":true,"message":"","data":{"request":"${id}"}}`);
      setImmediate(() => append(makeResultLine(id, runNothing())));
    });
  });
}

/** Verifies the signature, runs nothing, and answers when both lines are durable. */
export function inboxAll(): Listener {
  const append = createGroupCommit();
  return (request, response) => withBody(request, (body) => {
    if (!isSigned(request, body)) return answer(response, 401, '');
    const id = randomUUID();
    const lines = makeRequestLine(id, request, body) + makeResultLine(id, runNothing());
    append(lines, () => answer(response, 200, '{"success":true,"message":"","data":{}}'));
  });
}

/** An event and its one delivery, in one line that is durable before the answer. */
export function enqueue(): Listener {
  const append = createGroupCommit();
  return (request, response) => withBody(request, (body) => {
    const { name, payload }: { readonly name?: unknown; readonly payload?: unknown } =
      JSON.parse(body.toString());
    if (typeof name !== 'string') return answer(response, 422, '');
    const [event, delivery] = [randomUUID(), randomUUID()];
    append(makeEventLine(event, delivery, name, payload), () =>
      answer(response, 202, `{"event":"${event}","deliveries":["${delivery}"]}`));
  });
}

/** Read once: reading the environment takes a call into Node each time. */
const SECRET = process.env['SECRET'] ?? '';

export function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const expected = Buffer.from(`sha256=${
    createHmac('sha256', SECRET).update(body).digest('hex')}`);
  const given = Buffer.from(String(request.headers['x-signature']));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function withBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [only] = chunks;
    done(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

function runNothing(): boolean {
  return true;
}

/** The members of our own record, and so its length; its SHA-256 is not computed. */
function makeRequestLine(id: string, request: IncomingMessage, body: Buffer): string {
  const now = new Date().toISOString();
  const { method, url, headers, rawHeaders, socket } = request;
  return makeLine('requests', JSON.stringify({
    id, receivedAt: now, updatedAt: now, status: 'accepted', pinned: false, hook: WEBHOOK_ID,
    bodyBytes: body.length, method, path: url, headers: rawHeaders, signatures: ['x-signature'],
    bodySha256: NO_DIGEST, client: socket.remoteAddress, host: headers.host,
    verdict: { accepted: true, preset: 'hookshelf', secret: 'current' },
    answered: { status: 200, afterMs: 1 }, bodyText: body.toString(),
  }));
}

const NO_DIGEST = '0'.repeat(64);

function makeResultLine(id: string, success: boolean): string {
  const at = new Date().toISOString();
  const record = JSON.stringify({
    identifier: `${id}.0`, status: 'delivered', hook: WEBHOOK_ID,
    attempts: [{ at, durationMs: 0, success }],
  });
  return `${record.padEnd(RESULT_LINE_BYTES - 1)}\n`;
}

function makeEventLine(
  event: string, delivery: string, name: string, payload: unknown,
): string {
  const createdAt = new Date().toISOString();
  const eventJson = JSON.stringify({
    identifier: event, createdAt, name, source: 'api', depth: 1, hooks: [WEBHOOK_ID],
    deliveries: [delivery], payload,
  });
  const deliveryJson = JSON.stringify({
    identifier: delivery, createdAt, status: 'pending', hook: WEBHOOK_ID, event: name,
    message: event,
  });
  return makeLine('events', eventJson, `,{"put":"deliveries","record":${deliveryJson}}`);
}

/** A line of the length that a journal of ours gives it, with no checksum. */
function makeLine(collection: string, json: string, more = ''): string {
  return `{"crc":"00000000","seq":1000000,"durable":1000000,"ops":[{"put":"${collection}",`
    + `"bytes":${json.length},"record":${json}}${more}]}\n`;
}
