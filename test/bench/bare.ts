/**
 * The bare programs we measure ourselves against: node:http and nothing else, doing the least that
 * answers the request. argv[2] names which. They are written as one writes with the means of Node,
 * such as `createHmac` and `JSON.stringify`, and never slower than that.
 */
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import { createGroupCommit } from './bare-group-commit.ts';
import { accept, enqueue, inboxAll, isSigned, withBody } from './bare-webhooks.ts';
import type { Listener } from './bare-webhooks.ts';

const programs: Readonly<Record<string, () => Listener>> = {
  'get-one': getOne,
  'get-all': getOne,
  'durable': durable,
  'hook': hook,
  'accept': accept,
  'inbox-all': inboxAll,
  'enqueue': enqueue,
  'forward': forward,
  'sink': sink,
};

/** One cached buffer, whatever is asked, and no header but its length. */
function getOne(): Listener {
  const body = readFileSync(process.env['BODY_PATH'] ?? '');
  const headers = { 'Content-Length': body.length };
  return (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  };
}

/**
 * A book with an id and dates, on disk by group commit. Checks nothing but the title and keeps one
 * buffer a book, which is the least that makes it a catalog.
 */
function durable(): Listener {
  const append = createGroupCommit();
  const books = new Map<string, Buffer>();
  let count = 0;
  return (request, response) => withBody(request, (body) => {
    const book: { readonly title?: unknown } = JSON.parse(body.toString());
    if (typeof book.title !== 'string') {
      response.writeHead(422).end();
      return;
    }
    count += 1;
    const id = String(count);
    const now = new Date().toISOString();
    const json = JSON.stringify({ id, ...book, createdAt: now, updatedAt: now });
    append(`{"op":"put","doc":${json}}\n`, () => {
      const bytes = Buffer.from(json);
      books.set(id, bytes);
      response.writeHead(201, {
        'Content-Type': 'application/json', 'Content-Length': bytes.length,
        'Location': `/api/books/${id}`,
      });
      response.end(bytes);
    });
  });
}

/** Verifies the signature with createHmac and answers; looks at nothing else. */
function hook(): Listener {
  const answer = Buffer.from('{"success":true,"message":"","data":{}}');
  return (request, response) => withBody(request, (body) => {
    const status = isSigned(request, body) ? 200 : 401;
    response.writeHead(status, { 'Content-Length': answer.length });
    response.end(answer);
  });
}

/** Verifies the signature and forwards the bytes with http.request and a keep-alive Agent. */
function forward(): Listener {
  const answer = Buffer.from('{"success":true,"message":"","data":{"statusCode":200}}');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const target = { host: '127.0.0.1', port: Number(process.env['TARGET_PORT']), method: 'POST' };
  return (request, response) => withBody(request, (body) => {
    if (!isSigned(request, body)) {
      response.writeHead(401).end();
      return;
    }
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const outgoing = http.request({ ...target, agent, path: '/', headers }, (upstream) => {
      upstream.resume();
      upstream.on('end', () => {
        response.writeHead(200, { 'Content-Length': answer.length });
        response.end(answer);
      });
    });
    outgoing.end(body);
  });
}

/** A target that takes everything. */
function sink(): Listener {
  return (request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'Content-Length': 0 });
      response.end();
    });
  };
}

const program = programs[process.argv[2] ?? ''];
if (program === undefined) throw new Error(`one of ${Object.keys(programs).join(', ')}`);
const server = http.createServer(program());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
