import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { bookResource } from '../../../src/books/book-resource.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';
import { RawConnection, encodeRequest } from '../../support/raw-http.ts';
import { longTest } from '../../support/long.ts';

const ID_A = '018f2b7c-0000-7000-8000-00000000000a';
const ID_B = '018f2b7c-0000-4000-9000-00000000000b';
const DATES = { createdAt: '2020-01-01T00:00:00.000Z', updatedAt: '2021-01-01T00:00:00.000Z' };
const JSON_LINES = { 'Content-Type': 'application/jsonl' };

/** What the count has since records can be matched, where none is. */
const NO_MATCHES = { updated: 0, unchanged: 0, leftOut: {} };

let server: BookServer;

before(async () => {
  server = await startBookServer();
});

after(() => server.close());

test('what is given is kept: id in lower case, dates in UTC; what is not is assigned', async () => {
  const [first, second, count] = await importLines([
    { id: ID_A.toUpperCase(), title: 'A', createdAt: '2020-01-01T01:00:00+01:00' },
    { title: 'B' },
  ]);
  assert.deepEqual(first, { line: 1, status: 'imported', id: ID_A });
  assert.equal(second?.['status'], 'imported');
  assert.deepEqual(count, {
    imported: 2, skipped: 0, replaced: 0, existing: 0, dryRun: false, ...NO_MATCHES,
    unmatchable: 1,
  });
  const kept = await get(ID_A);
  assert.deepEqual([kept['createdAt'], kept['updatedAt']],
    ['2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z']);
  const assigned = await get(String(second?.['id']));
  assert.ok(Date.now() - Date.parse(String(assigned['createdAt'])) < 60_000);
});

test('a taken id is skipped, or replaced when asked, also twice in one import', async () => {
  const book = { id: ID_B, title: 'First', ...DATES };
  const again = { ...book, title: 'Second' };
  const skipped = await importLines([book, again]);
  assert.deepEqual(skipped[1],
    { line: 2, status: 'skipped', id: ID_B, detail: 'a book with this id exists' });
  assert.deepEqual(skipped[2],
    { imported: 1, skipped: 1, replaced: 0, existing: 1, dryRun: false, ...NO_MATCHES });
  assert.equal((await get(ID_B))['title'], 'First');
  const replaced = await importLines([again, { id: ID_B, title: 'Third' }], '?replace=true');
  assert.deepEqual(replaced[0], { line: 1, status: 'replaced', id: ID_B });
  assert.deepEqual(replaced[2], {
    imported: 0, skipped: 0, replaced: 2, existing: 0, dryRun: false, ...NO_MATCHES, updated: 2,
  });
  const third = await get(ID_B);
  assert.equal(third['title'], 'Third');
  assert.equal(third['createdAt'], DATES.createdAt);
  assert.ok(String(third['updatedAt']) > DATES.updatedAt);
});

test('a taken id is updated or filled when asked', async () => {
  const book = { id: ID_B, title: 'First', reading: { rating: 4, review: 'R' }, ...DATES };
  await importLines([book], '?replace=true');
  const row = { id: ID_B, title: 'First', reading: { rating: 5 } };
  assert.equal((await importLines([row]))[0]?.['status'], 'skipped');
  const [result, count] = await importLines([row], '?onMatch=update');
  assert.deepEqual([result?.['status'], count?.['updated']], ['updated', 1]);
  assert.deepEqual((await get(ID_B))['reading'], { rating: 5, review: 'R' });
  assert.equal((await importLines([row], '?onMatch=update'))[0]?.['status'], 'unchanged');
  await importLines([{ ...row, publisher: 'P', reading: { rating: 1 } }], '?onMatch=fill');
  const { publisher, reading, metadata } = await get(ID_B);
  assert.deepEqual([publisher, reading, metadata], ['P', { rating: 5, review: 'R' }, undefined]);
});

test('a dry run answers the same and stores nothing', async () => {
  const id = '018f2b7c-0000-7000-8000-0000000000d1';
  const size = server.catalog.size;
  const lines = [
    { id, title: 'A' }, { id, title: 'A' }, { id, title: 'B' }, { title: '' }, { title: 'C' },
  ];
  const answer = await importLines(lines, '?dryRun=true');
  assert.deepEqual(answer.map((line) => line['status']),
    ['imported', 'unchanged', 'skipped', 'skipped', 'imported', undefined]);
  assert.deepEqual(answer.at(-1), {
    imported: 2, skipped: 2, replaced: 0, existing: 1, dryRun: true, ...NO_MATCHES, unchanged: 1,
    unmatchable: 1,
  });
  assert.equal(server.catalog.size, size);
});

test('each bad line is told with its number and its mistakes, and the rest goes on', async () => {
  const answer = await server.ask('POST', '/api/books/import', [
    '{"title":"A","isbn":"1"}', '', '{"title":', '[1]', '\ufeff{"title":"BOM"}\r',
    '{"title":"A","id":"nope","createdAt":"2020-02-30T00:00:00Z"}',
    `{"title":"A","createdAt":"${DATES.updatedAt}","updatedAt":"${DATES.createdAt}"}`,
    '{"title":"A","__proto__":1}', '{"title":"last"}',
  ].join('\n'), JSON_LINES);
  const results = lines(answer.text);
  assert.deepEqual(results.map((result) => [result['line'], result['status']]), [
    [1, 'skipped'], [3, 'skipped'], [4, 'skipped'], [5, 'imported'], [6, 'skipped'],
    [7, 'skipped'], [8, 'skipped'], [9, 'imported'], [undefined, undefined],
  ]);
  assert.match(String(results[1]?.['detail']), /^not valid JSON at column 10/);
  assert.deepEqual(pointers(results[0]), ['/isbn']);
  assert.deepEqual(pointers(results[4]), ['/id', '/createdAt']);
  assert.deepEqual(pointers(results[5]), ['/updatedAt']);
  assert.deepEqual(pointers(results[6]), ['/__proto__']);
});

test('a wrong media type or parameter is refused before anything is read', async () => {
  const refusals = [
    ['', { 'Content-Type': 'text/html' }, 415], ['?replace=yes', JSON_LINES, 400],
    ['?dryrun=true', JSON_LINES, 400],
    ['?replace=true&onMatch=skip', JSON_LINES, 400], ['?match=ean', JSON_LINES, 400],
    ['?format=word', JSON_LINES, 400], ['?match=source', JSON_LINES, 422],
  ] as const;
  for (const [query, headers, status] of refusals) {
    const answer = await server.ask('POST', `/api/books/import${query}`, '{}', headers);
    assert.equal(answer.status, status);
  }
});

test('an empty body is an import of nothing', async () => {
  assert.deepEqual(await importLines([]),
    [{ imported: 0, skipped: 0, replaced: 0, existing: 0, dryRun: false, ...NO_MATCHES }]);
});

test('the first refusal of the store ends the import: told once, with what is stored', async () => {
  const store = createMemoryStore([bookResource.collection]);
  const failing = await startBookServer({ store });
  try {
    await failing.ask('POST', '/api/books/import', '{"title":"A"}\n', JSON_LINES);
    store.failNextBatch(new AppError('storage_full', 'no space left'));
    // Longer than what is read before the first batch: the rest is read past, and not tried.
    const body = `{"title":""}\n${`{"title":"${'B'.repeat(200)}"}\n`.repeat(12_000)}{`;
    const answer = await failing.ask('POST', '/api/books/import', body, JSON_LINES);
    const [invalid, count, ...others] = lines(answer.text);
    assert.deepEqual([invalid?.['line'], invalid?.['status']], [1, 'skipped']);
    assert.deepEqual(count, {
      imported: 0, skipped: 1, replaced: 0, existing: 0, dryRun: false, ...NO_MATCHES,
      error: 'no space left',
    });
    assert.deepEqual(others, []);
    assert.equal(failing.catalog.size, 1);
  } finally {
    await failing.close();
  }
});

test('a sender whose producer goes on is told of a refusal before the end', async () => {
  const store = createMemoryStore([bookResource.collection]);
  const failing = await startBookServer({ store });
  const socket = connect(failing.port, '127.0.0.1');
  try {
    store.failNextBatch(new AppError('storage_full', 'no space left'));
    socket.write('POST /api/books/import HTTP/1.1\r\nHost: localhost\r\n'
      + 'Content-Length: 1000000\r\nContent-Type: application/jsonl\r\n\r\n{"title":"A"}\n');
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('"error":"no space left"')) break;
      socket.write('{"title":"B"}\n');
    }
    assert.match(text, /"imported":0,.*"error":"no space left"/);
  } finally {
    socket.destroy();
    await failing.close();
  }
});

test('a body over any limit is read, and answered although the sender reads late', async () => {
  const count = 12_000;
  const body = Array.from({ length: count }, (_, index) =>
    `{"title":"Book ${index}","description":"${'x'.repeat(200)}"}\n`).join('');
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.pause();
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(`POST /api/books/import?dryRun=true HTTP/1.1\r\nHost: localhost\r\n`
      + `Content-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n`
      + 'Connection: close\r\n\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.pause();
    socket.write(body, () => socket.resume());
  });
  assert.ok(body.length > 2 * 1_048_576);
  assert.match(answer, new RegExp(`"line":${count},"status":"imported"`));
  assert.match(answer, new RegExp(`"imported":${count},.*"skipped":0`));
});

test('of a body that is cut short the whole lines are stored and the rest is not', async () => {
  const size = server.catalog.size;
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /api/books/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n'
    + 'Content-Type: application/jsonl\r\n\r\n{"title":"whole"}\n{"title":"half"}');
  await new Promise<void>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.includes('"line":1')) resolve();
    });
  });
  socket.destroy();
  assert.equal(server.catalog.size, size + 1);
});

longTest('an import may take longer than a request, as long as something arrives', async () => {
  const slow = await startBookServer({ requestTimeoutMs: 300, stallMs: 1_500 });
  try {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(slow.port, '127.0.0.1');
      let received = '';
      let sent = 0;
      socket.on('error', reject).on('close', () => resolve(received));
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.write('POST /api/books/import HTTP/1.1\r\nHost: localhost\r\n'
        + 'Content-Type: application/jsonl\r\nTransfer-Encoding: chunked\r\n\r\n');
      const timer = setInterval(() => {
        sent += 1;
        if (sent <= 6) socket.write('e\r\n{"title":"A"}\n\r\n');
        else clearInterval(timer);
      }, 250);
    });
    assert.equal(text.match(/"status":"imported"/g)?.length, 6);
    assert.match(text, /"imported":6,.*"error":"nothing of the body arrived for 1.5 s"/);
  } finally {
    await slow.close();
  }
});

test('a sender that waits for 100 Continue gets it, then its answer', async () => {
  const connection = beginImport('application/jsonl');
  const [first] = await once(connection.socket, 'data');
  assert.equal(String(first), 'HTTP/1.1 100 Continue\r\n\r\n');
  connection.send('{"title":"A"}\n');
  const text = await connection.rest();
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /"imported":1,.*"skipped":0/);
  connection.close();
});

test('a sender whose import is refused is not asked for it', async () => {
  const connection = beginImport('text/html');
  assert.match(await connection.rest(), /^HTTP\/1\.1 415 /);
  connection.close();
});

test('a sender who leaves in the middle ends the import, and the next one goes well', async () => {
  const size = server.catalog.size;
  const connection = beginImport('application/jsonl');
  await once(connection.socket, 'data');
  connection.socket.resetAndDestroy();
  await connection.closed;
  const answer = await server.ask('POST', '/api/books/import', '{"title":"B"}',
    { 'Content-Type': 'application/jsonl' });
  assert.match(answer.text, /"imported":1,/);
  assert.equal(server.catalog.size, size + 1);
});

type Line = Readonly<Record<string, unknown>>;

async function importLines(books: readonly object[], query = ''): Promise<readonly Line[]> {
  const body = books.map((book) => JSON.stringify(book)).join('\n');
  const answer = await server.ask('POST', `/api/books/import${query}`, body, JSON_LINES);
  assert.equal(answer.status, 200);
  return lines(answer.text);
}

/** The lines after the first. */
function lines(text: string): readonly Line[] {
  assert.ok(text.endsWith('\n'));
  const [first, ...rest] = text.trimEnd().split('\n').map((line): Line => JSON.parse(line));
  assert.deepEqual(first, { format: 'jsonl', encoding: 'utf-8' });
  return rest;
}

function pointers(result: Line | undefined): string[] {
  const errors = result?.['errors'];
  assert.ok(Array.isArray(errors));
  return errors.map(({ pointer }: { pointer: string }) => pointer);
}

async function get(id: string): Promise<Line> {
  return JSON.parse((await server.ask('GET', `/api/books/${id}`)).text);
}

/** Sends the head of an import of 14 bytes, and waits to be asked for them. */
function beginImport(mediaType: string): RawConnection {
  const connection = new RawConnection(server);
  connection.send(encodeRequest('POST', '/api/books/import', {
    'Expect': '100-continue', 'Content-Type': mediaType, 'Content-Length': '14',
    'Connection': 'close',
  }));
  return connection;
}
