/** Two books become one: what stays, what goes, and what an import makes of the ids afterwards. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import type { JsonObject } from '../../src/base/schema.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys } from '../../src/resources/idempotency-keys.ts';
import { startBookServer } from '../support/book-server.ts';
import type { Answer, BookServer } from '../support/book-server.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { MemoryStore } from '../support/memory-store.ts';

const ABSENT = '018f2b7c-0000-7000-8000-00000000000a';
const GOODREADS_HEAD = 'Book Id,Title,Author,Additional Authors,ISBN,ISBN13,My Rating,'
  + 'Average Rating,Publisher,Binding,Number of Pages,Year Published,'
  + 'Original Publication Year,Date Read,Date Added,Bookshelves,Exclusive Shelf,My Review,'
  + 'Read Count,Owned Copies';

let store: MemoryStore;
let keys: IdempotencyKeys;
let server: BookServer;
/** What was told of changes: the name of the event, and the id. */
let changes: string[];
/** The seeds of their events. */
let seedOf: Map<string, string>;

beforeEach(async () => {
  changes = [];
  store = createMemoryStore([bookResource.collection, IDEMPOTENCY_KEYS]);
  keys = new IdempotencyKeys({ store, clock: new ManualClock(), log: silentLogger });
  seedOf = new Map();
  server = await startBookServer({
    store, keys,
    stageWithChange: (_, { id, before, after }, { seed }) => {
      seedOf.set(id, seed);
      const verb = before === null ? 'created' : 'updated';
      changes.push(`${after === null ? 'deleted' : verb} ${id}`);
    },
  });
});

afterEach(async () => {
  await server.close();
  await keys.close();
});

test('named members become as the other book has them, absent ones too; others stay', async () => {
  const id = await add({
    title: 'Dune', subtitle: 'One', isbn: '9780441172719', keywords: ['sand'],
    reading: { status: 'read', rating: 3, shelves: ['own'] },
  });
  const from = await add({
    title: 'Dune!', authors: [{ name: 'Frank Herbert' }], publisher: 'Ace',
    reading: { rating: 4.5, startedOn: '2024' },
  });
  const before = parse(await server.ask('GET', `/api/books/${id}`));
  const answer = await merge(id, {
    from, members: ['subtitle', 'authors', 'reading.rating', 'reading.status'],
  });
  assert.equal(answer.status, 200);
  const { updatedAt, ...book } = parse(answer);
  assert.deepEqual(book, {
    id, createdAt: before['createdAt'], title: 'Dune', authors: [{ name: 'Frank Herbert' }],
    isbn: '9780441172719', keywords: ['sand'], reading: { rating: 4.5, shelves: ['own'] },
    mergedIds: [from],
  });
  assert.ok(String(updatedAt) > String(before['updatedAt']));
  const read = await server.ask('GET', `/api/books/${id}`);
  assert.deepEqual([read.text, read.headers.etag], [answer.text, answer.headers.etag]);
  assert.equal((await server.ask('GET', `/api/books/${from}`)).status, 404);
  assert.deepEqual(changes.slice(-2), [`updated ${id}`, `deleted ${from}`]);
  assert.notEqual(seedOf.get(id), seedOf.get(from), 'their events have ids of their own');
  const line = store.lines.at(-1) ?? [];
  assert.deepEqual(line.map(({ collection, id: changedId }) => [collection, changedId]),
    [['books', id], ['books', from]], 'one transaction');
});

test('combined lists become what both books have, whatever members are named', async () => {
  const id = await add({ title: 'A', keywords: ['Sand', 'x'], reading: { status: 'read' } });
  const from = await add({
    title: 'B', keywords: ['sand', 'y'], reading: { rating: 4, shelves: ['own'] },
  });
  const book = parse(await merge(id, {
    from, members: ['keywords', 'reading'], combine: ['reading.shelves', 'keywords', 'keywords'],
  }));
  assert.deepEqual([book['keywords'], book['reading']],
    [['Sand', 'x', 'y'], { rating: 4, shelves: ['own'] }]);
  const other = await add({ title: 'C' });
  const again = parse(await merge(id, { from: other, combine: ['keywords', 'reading.shelves'] }));
  assert.deepEqual([again['keywords'], again['reading']], [book['keywords'], book['reading']]);
  const full = await add({
    title: 'D', keywords: Array.from({ length: 100 }, (_, index) => `k${index}`),
  });
  const refused = await merge(id, { from: full, combine: ['keywords'] });
  assert.deepEqual([refused.status, JSON.parse(refused.text).errors[0].pointer],
    [422, '/keywords']);
});

test('united metadata have the names of both, and keep what either has otherwise', async () => {
  const id = await add({
    title: 'Emma', keywords: ['a'], reading: { status: 'to-read', rating: 5, review: 'Long.' },
    metadata: {
      'Where bought': 'x', 'shelf': 1, 'source': { goodreads: { 'Book Id': '1', 'x': 1 } },
    },
  });
  const from = await add({
    title: 'Emma', subtitle: 'S', keywords: ['b'],
    reading: { status: 'read', rating: 2, review: 'Other.', finishedOn: '2021-01-01' },
    metadata: {
      'Lent to': 'Anna', 'shelf': 2, 'x-hookshelf': { calibre: 'digests', goodreads: 'digests' },
      'source': {
        goodreads: { 'Book Id': '2', 'x': 1, 'Private Notes': 'N' }, calibre: { uuid: 'u' },
      },
    },
  });
  const answer = await merge(id, {
    from, members: ['reading.status', 'reading.finishedOn'], combine: ['keywords', 'metadata'],
  });
  const { keywords, reading, metadata, mergedIds, subtitle } = parse(answer);
  assert.deepEqual({ keywords, reading, subtitle }, {
    keywords: ['a', 'b'], subtitle: undefined,
    reading: { status: 'read', rating: 5, review: 'Long.', finishedOn: '2021-01-01' },
  });
  assert.deepEqual(metadata, {
    'Where bought': 'x', 'shelf': 1, 'Lent to': 'Anna', 'x-hookshelf': { calibre: 'digests' },
    'source': {
      goodreads: { 'Book Id': '1', 'x': 1 }, calibre: { uuid: 'u' },
      [from]: { members: {
        'reading.rating': 2, 'metadata.shelf': 2, 'metadata.source.goodreads.Book Id': '2',
        'metadata.source.goodreads.Private Notes': 'N', 'subtitle': 'S',
        'reading.review': 'Other.',
      } },
      here: { members: { 'reading.status': 'to-read' } },
    },
  });
  assert.equal(answer.headers['x-merge-lost'], undefined);
  // It goes on hearing the source that was new to it.
  assert.deepEqual(mergedIds, [from, 'goodreads:2']);
});

test('a merge names the members of the other book that are nowhere in the book', async () => {
  const long = 'y'.repeat(16_000);
  const id = await add({ title: 'A', keywords: ['Sand'], reading: { rating: 3 } });
  const from = await add({
    title: 'B', keywords: ['sand'], reading: { rating: 3, review: long },
    metadata: { x: 1, z: { a: [1] } },
  });
  const plain = await merge(id, { from }, { 'Idempotency-Key': 'lost' });
  assert.equal(plain.headers['x-merge-lost'], 'title, reading.review, metadata');
  const again = await merge(id, { from }, { 'Idempotency-Key': 'lost' });
  assert.equal(again.headers['x-merge-lost'], plain.headers['x-merge-lost']);
  const full = await add({ title: 'A', metadata: { text: 'x'.repeat(14_000) } });
  const other = await add({
    title: 'B', reading: { review: long, rating: 4 },
    metadata: { text: [[[[1]]]], deep: [[[[[[1]]]]]], long: 'z'.repeat(4_000) },
  });
  const united = await merge(full, { from: other, combine: ['metadata'] });
  assert.equal(united.headers['x-merge-lost'], 'reading.review, metadata');
  const { source, deep } = Object(parse(united)['metadata']);
  assert.deepEqual([source[other].members, deep],
    [{ 'title': 'B', 'reading.rating': 4, 'metadata.text': [[[[1]]]] }, [[[[[[1]]]]]]]);
  const last = await add({ title: 'C', reading: { review: 'short' } });
  const named = parse(await merge(full, {
    from: last, members: ['reading.review'], combine: ['metadata'],
  }));
  assert.deepEqual(named['reading'], { review: 'short' });
  const review = await add({ title: 'A', reading: { review: long } });
  const replaced = await merge(review, {
    from: full, members: ['reading.review'], combine: ['metadata'],
  });
  assert.deepEqual(Object(parse(replaced)['reading']), { review: 'short' },
    'a named member is of the other book, whether its value before has room or not');
});

test('a source that is no object stays, and the other is kept where there is room', async () => {
  const [mine, theirs] = [{ source: 'mine' }, { source: { calibre: { uuid: 'u' } } }];
  const id = await add({ title: 'A', metadata: mine });
  const from = await add({ title: 'A', metadata: theirs });
  const answer = await merge(id, { from, combine: ['metadata'] });
  assert.deepEqual([parse(answer)['metadata'], answer.headers['x-merge-lost']],
    [mine, 'metadata']);
  assert.deepEqual(parse(answer)['mergedIds'], [from, 'calibre:u']);
  const next = await add({ title: 'A', metadata: theirs });
  const back = parse(await merge(next, { from: id, combine: ['metadata'] }));
  assert.deepEqual(back['metadata'],
    { source: { calibre: { uuid: 'u' }, [id]: { members: { 'metadata.source': 'mine' } } } });
  const bare = await add({ title: 'A' });
  const alike = await add({ title: 'A' });
  const merged = parse(await merge(bare, { from: alike, combine: ['metadata'] }));
  assert.equal('metadata' in merged, false);
});

test('a book that unites metadata goes on hearing the source that was new to it', async () => {
  const record = (rating: number): string =>
    `${GOODREADS_HEAD}\n7,Emma,Jane Austen,,,,${rating},,,,,,,,,,read,,1,0\n`;
  const id = await add({ title: 'Emma', reading: { rating: 5 } });
  await importAs('goodreads', record(2));
  const [from = ''] = await listOthers([id]);
  await merge(id, { from, members: ['reading.status'], combine: ['metadata'] });
  const same = await importAs('goodreads', record(2));
  assert.deepEqual([same['unchanged'], same['imported'], same['merged']], [1, 0, undefined]);
  const changed = await importAs('goodreads', record(3));
  assert.deepEqual([changed['updated'], changed['imported']], [1, 0]);
  const { reading, metadata } = parse(await server.ask('GET', `/api/books/${id}`));
  assert.deepEqual([Object(reading).rating, Object(reading).status], [3, 'read']);
  const { source } = Object(metadata);
  assert.deepEqual([source.here.members, source[from].members['reading.rating']],
    [{ 'reading.rating': 5 }, 2]);
});

test('what is wrong is said with its place, and nothing has changed then', async () => {
  const id = await add({ title: 'A', reading: { startedOn: '2024-05' } });
  const from = await add({ title: 'B', reading: { finishedOn: '2024-04' } });
  const lines = store.lines.length;
  const cases: readonly (readonly [body: unknown, pointers: readonly string[]])[] = [
    [{}, ['/from']], [[], ['']], [{ from: 7 }, ['/from']], [{ from: ABSENT }, ['/from']],
    [{ from: id }, ['/from']], [{ from, members: 'title' }, ['/members']],
    [{ from, members: ['id', 'title', 'createdAt', 'updatedAt', 'mergedIds'] },
      ['/members/0', '/members/2', '/members/3', '/members/4']],
    [{ from, members: ['__proto__', 'constructor', 'reading.', 'reading.x', 'series.name', ''] },
      [0, 1, 2, 3, 4, 5].map((index) => `/members/${index}`)],
    [{ from, combine: ['reading.shelves', 'series', 'title', 'reading'] },
      ['/combine/1', '/combine/2', '/combine/3']],
    [{ from: ABSENT, members: ['x'], more: 1 }, ['/more', '/members/0', '/from']],
    [{ from, members: ['reading.finishedOn'] }, ['/reading/finishedOn']],
    [{ from, members: Array.from({ length: 200 }, () => 'title') }, ['/members']],
  ];
  for (const [body, pointers] of cases) {
    const answer = await merge(id, body);
    assert.equal(answer.status, 422, JSON.stringify(body));
    const { errors } = JSON.parse(answer.text) as { errors: { pointer: string }[] };
    assert.deepEqual(errors.map(({ pointer }) => pointer).sort(), [...pointers].sort(),
      JSON.stringify(body));
  }
  assert.equal((await merge(ABSENT, { from: 'x' })).status, 404);
  assert.equal((await merge(id, '{')).status, 400);
  assert.equal((await server.ask('POST', `/api/books/${id}/merge`, JSON.stringify({ from }),
    { 'Content-Type': 'text/plain' })).status, 415);
  assert.equal(store.lines.length, lines);
});

test('a merge is taken back for both books, unless the one that stays was changed', async () => {
  const id = await add({ title: 'A', reading: { rating: 3 } });
  const from = await add({ title: 'B', metadata: { source: { goodreads: { 'Book Id': '7' } } } });
  const read = async (path: string): Promise<string> => (await server.ask('GET', path)).text;
  const paths = [`/api/books/${id}`, `/api/books/${from}`];
  const before = await Promise.all(paths.map(read));
  assert.equal((await merge(id, { from, members: ['title'] })).status, 200);
  changes = [];
  const answer = await server.ask('POST', `/api/books/${from}/restore`);
  assert.deepEqual([answer.status, answer.text], [200, before[1]]);
  assert.deepEqual(await Promise.all(paths.map(read)), before);
  assert.deepEqual([...new Set(changes)], [`created ${from}`, `updated ${id}`]);
  assert.notEqual(seedOf.get(id), seedOf.get(from));

  await merge(id, { from });
  await server.ask('PUT', `/api/books/${id}`, JSON.stringify({ title: 'C' }));
  const refused = await server.ask('POST', `/api/books/${from}/restore`);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /changed since/);
  assert.equal((await server.ask('GET', `/api/books/${from}`)).status, 404);
});

test('a version is asked for as by PATCH, and a key makes it happen once', async () => {
  const id = await add({ title: 'A' });
  const from = await add({ title: 'B' });
  const { headers: { etag = '' } } = await server.ask('GET', `/api/books/${id}`);
  const refused = await merge(id, { from }, { 'If-Match': '"other"' });
  assert.equal(refused.status, 412);
  assert.equal((await merge(id, { from: ABSENT }, { 'If-Match': '"other"' })).status, 412);
  const headers = { 'If-Match': String(etag), 'Idempotency-Key': 'once' };
  const first = await merge(id, { from }, headers);
  const again = await merge(id, { from }, headers);
  assert.deepEqual([first.status, again.status, again.headers['idempotency-replayed']],
    [200, 200, 'true']);
  assert.deepEqual([again.text, again.headers.etag], [first.text, first.headers.etag]);
  assert.equal((await merge(id, { from })).status, 422);
});

test('ids of sources stay, and so does what the source says of formats that the book has not',
  async () => {
    const source = {
      goodreads: { 'Book Id': '7', 'My Rating': '4' }, calibre: { uuid: 'u1' }, mine: { a: 1 },
    };
    const id = await add(
      { title: 'A', metadata: { x: 1, source: { goodreads: { 'Book Id': '1' } } } });
    const from = await add({ title: 'B', metadata: { y: 2, source } });
    const merged = parse(await merge(id, { from, members: ['title'] }));
    assert.deepEqual(merged['metadata'], {
      x: 1,
      source: { goodreads: { 'Book Id': '1' }, calibre: { uuid: 'u1' }, mine: { a: 1 } },
    });
    assert.deepEqual(merged['mergedIds'], [from, 'goodreads:7', 'calibre:u1']);

    const next = await add({ title: 'C', metadata: { source: { goodreads: { 'Book Id': '9' } } } });
    const again = parse(await merge(next, { from: id, members: ['metadata'] }));
    assert.deepEqual(again['metadata'], merged['metadata']);
    assert.deepEqual(again['mergedIds'],
      [id, from, 'goodreads:7', 'calibre:u1', 'goodreads:1', 'goodreads:9']);
  });

test('a source that is no object stays, and full metadata take no more', async () => {
  const source = { calibre: { uuid: 'x'.repeat(900) } };
  const from = await add({ title: 'B', metadata: { source } });
  const own = await add({ title: 'A', metadata: { source: 'mine' } });
  const full = await add({ title: 'A', metadata: { text: 'x'.repeat(16_000) } });
  const refused = await merge(full, { from });
  assert.equal(refused.status, 422);
  assert.equal(JSON.parse(refused.text).errors[0].pointer, '/metadata');
  assert.equal((await merge(full, { from: own })).status, 200, 'there is nothing to take in');
  assert.equal((await merge(full, { from, members: ['metadata'] })).status, 200);
});

test('a replacement or patch leaves the ids, and no body sets them', async () => {
  const id = await add({ title: 'A', mergedIds: ['x'], metadata: { a: 1 } });
  assert.equal('mergedIds' in parse(await server.ask('GET', `/api/books/${id}`)), false);
  const from = await add({ title: 'B' });
  await merge(id, { from });
  const path = `/api/books/${id}`;
  for (const [method, body] of [
    ['PUT', { title: 'C' }], ['PUT', { title: 'D', mergedIds: [], metadata: { b: 1 } }],
    ['PATCH', { mergedIds: null, metadata: null }], ['PATCH', { mergedIds: ['x'], title: 'E' }],
  ] as const) {
    const answer = await server.ask(method, path, JSON.stringify(body));
    assert.deepEqual([answer.status, parse(answer)['mergedIds']], [200, [from]], method);
  }
});

test('records with the ids of merged books are unchanged, in each format and mode', async () => {
  const id = await add({ title: 'A', isbn: '9780441172719' });
  await importAs('goodreads', `${GOODREADS_HEAD}\n7,B,N,,,,5,,,,,,,,,,read,,1,0\n`);
  const [from = ''] = await listOthers([id]);
  await merge(id, { from });
  const before = await server.ask('GET', '/api/books');
  const goodreads = `${GOODREADS_HEAD}\n7,Other,N,,,9780441172719,1,,,,,,,,,,read,,1,0\n`;
  const json = JSON.stringify({ id: from, title: 'B again' });
  const bibtex = `@book{b1, title = {B again}, x-hookshelf = {{"id":"${from}"}}}`;
  const jsonld = JSON.stringify({ '@context': 'https://schema.org', '@type': 'Book',
    '@id': `urn:uuid:${from}`, name: 'B again' });
  for (const mode of ['', '&onMatch=replace', '&onMatch=fill', '&onMatch=skip', '&match=isbn',
    '&match=title,isbn&onMatch=replace', '&dryRun=true']) {
    for (const [format, file] of [['goodreads', goodreads], ['jsonl', json], ['json', `[${json}]`],
      ['csv', `id,title\n${from},B again\n`], ['bibtex', bibtex], ['jsonld', jsonld]] as const) {
      const count = await importAs(format, file, mode);
      assert.deepEqual(
        [count['unchanged'], count['imported'], count['skipped'], count['merged']], [1, 0, 0, 1],
        `${format} ${mode}`);
      const { line, title, otherId } = Object(count['alike']).merged;
      assert.deepEqual([line, title, otherId], [
        ['goodreads', 'csv'].includes(format) ? 2 : 1,
        format === 'goodreads' ? 'Other' : 'B again', id,
      ]);
    }
  }
  assert.equal((await server.ask('GET', '/api/books')).text, before.text);
});

test('ids go with files of our own formats, and an import adds them to those here', async () => {
  const id = await add({ title: 'A' });
  const [first, second] = [await add({ title: 'B' }), await add({ title: 'C' })];
  await merge(id, { from: first });
  for (const format of ['json', 'jsonl', 'csv']) {
    const file = await server.ask('GET', `/api/books?format=${format}`);
    const other = await startBookServer();
    try {
      await ask(other, 'POST', `/api/books/import?format=${format}`, file.text);
      assert.deepEqual(parse(await other.ask('GET', `/api/books/${id}`))['mergedIds'], [first]);
      const count = await ask(other, 'POST', '/api/books/import?format=jsonl',
        JSON.stringify({ id: first, title: 'B' }));
      assert.equal(lastLine(count)['unchanged'], 1);
    } finally {
      await other.close();
    }
  }
  const older = await server.ask('GET', `/api/books/${id}`);
  await merge(id, { from: second });
  const count = await importAs('jsonl', older.text, '&onMatch=replace');
  assert.equal(count['replaced'], 1);
  assert.deepEqual(parse(await server.ask('GET', `/api/books/${id}`))['mergedIds'],
    [first, second]);
  const bibtex = await server.ask('GET', `/api/books/${id}?format=bibtex`);
  assert.doesNotMatch(bibtex.text, /mergedIds/);
  await importAs('bibtex', bibtex.text.replace('{A}', '{Z}'), '&onMatch=replace');
  const replaced = parse(await server.ask('GET', `/api/books/${id}`));
  assert.deepEqual([replaced['title'], replaced['mergedIds']], ['Z', [first, second]]);
});

test('a book takes in a thousand others, and says so when it is full', async () => {
  const id = await add({ title: 'A' });
  const mergedIds = Array.from({ length: 999 }, (_, index) => `goodreads:${index}`);
  await importAs('jsonl', JSON.stringify({ id, title: 'A', mergedIds }), '&onMatch=replace');
  const [first, second] = [await add({ title: 'B' }), await add({ title: 'C' })];
  assert.equal((await merge(id, { from: first })).status, 200);
  const refused = await merge(id, { from: second });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /"\/from"/);
  assert.match(refused.text, /at most 1000/);
  assert.equal((await server.ask('GET', `/api/books/${second}`)).status, 200);
  const more = { id, title: 'A', mergedIds: ['goodreads:x'] };
  const count = await importAs('jsonl', JSON.stringify(more), '&onMatch=replace');
  assert.deepEqual(count['leftOut'], { mergedIds: 1 });
});

test('a book that a file brought back is a book like others, and is no merged id of itself',
  async () => {
    const [left, right] = [await add({ title: 'L' }), await add({ title: 'R' })];
    const records = [{ id: left, title: 'L', mergedIds: [right, 'calibre:u'] },
      { id: right, title: 'R2' }];
    const file = records.map((record) => JSON.stringify(record)).join('\n');
    const count = await importAs('jsonl', file, '&onMatch=replace');
    assert.equal(count['replaced'], 2);
    assert.deepEqual(parse(await merge(right, { from: left }))['mergedIds'], [left, 'calibre:u']);
  });

test('a dry run knows the ids that records of the file bring, and ids that stand twice are refused',
  async () => {
    const from = `${ABSENT.slice(0, -1)}b`;
    const records = [{ id: ABSENT, title: 'L', mergedIds: [from] }, { id: from, title: 'R' },
      { title: 'T', mergedIds: ['x', 'x'] }];
    for (const mode of ['&dryRun=true', '']) {
      const file = records.map((record) => JSON.stringify(record)).join('\n');
      const { imported, unchanged, skipped } = await importAs('jsonl', file, mode);
      assert.deepEqual([imported, unchanged, skipped], [1, 1, 1], mode);
    }
  });

test('two books that are merged into each other at once are one book then', async () => {
  for (let round = 0; round < 20; round += 1) {
    const [left, right] = [await add({ title: 'L' }), await add({ title: 'R' })];
    const answers = await Promise.all([
      merge(left, { from: right }), merge(right, { from: left }), merge(left, { from: right })]);
    const statuses = answers.map(({ status }) => status).sort();
    assert.equal(statuses[0], 200);
    assert.ok(statuses.slice(1).every((status) => status === 404 || status === 422));
    const reads = await Promise.all(
      [left, right].map((id) => server.ask('GET', `/api/books/${id}`)));
    assert.deepEqual(reads.map(({ status }) => status).sort(), [200, 404]);
  }
});

async function add(book: JsonObject): Promise<string> {
  const answer = await server.ask('POST', '/api/books', JSON.stringify(book));
  assert.equal(answer.status, 201, answer.text);
  return String(parse(answer)['id']);
}

function merge(id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return server.ask('POST', `/api/books/${id}/merge`, text, headers);
}

async function importAs(format: string, file: string, mode = ''): Promise<JsonObject> {
  return lastLine(await ask(server, 'POST', `/api/books/import?format=${format}${mode}`, file));
}

async function ask(
  { ask: send }: BookServer, method: string, path: string, body: string,
): Promise<Answer> {
  const answer = await send(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

function lastLine({ text }: Answer): JsonObject {
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}

async function listOthers(ids: readonly string[]): Promise<readonly string[]> {
  const books: { id: string }[] = JSON.parse((await server.ask('GET', '/api/books')).text);
  return books.map(({ id }) => id).filter((id) => !ids.includes(id));
}

function parse({ text }: Answer): JsonObject {
  return JSON.parse(text);
}
