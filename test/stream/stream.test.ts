import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { ManualClock } from '../support/manual-clock.ts';
import { RawConnection } from '../support/raw-http.ts';
import { until } from '../support/until.ts';
import { openShelf } from './shelf.ts';
import type { Shelf } from './shelf.ts';

async function withShelf(use: (shelf: Shelf) => Promise<void>, clock?: ManualClock): Promise<void> {
  const shelf = await openShelf(undefined, clock);
  try {
    await use(shelf);
  } finally {
    await shelf.close();
  }
}

test('tells what was created, updated and deleted, with the sequence as id', () =>
  withShelf(async ({ follow, put, store }) => {
    const reader = await follow();
    const { headers } = reader.response;
    assert.equal(headers['content-type'], 'text/event-stream');
    assert.match(headers['cache-control'] ?? '', /no-transform/);
    await put('a', { title: 'Änne\n' });
    await put('a', { version: 2 });
    await store.transact((transaction) => transaction.delete('books', 'a'));
    await reader.until(3);
    assert.deepEqual(reader.events, [
      { id: '1', event: 'book', data: '{"change":"created","id":"a","title":"Änne\\n"}' },
      { id: '2', event: 'book', data: '{"change":"updated","id":"a","version":2}' },
      { id: '3', event: 'book', data: '{"change":"deleted","id":"a"}' },
    ]);
    await reader.close();
    const again = await follow('', '0');
    await again.until(3);
    assert.deepEqual(again.events, reader.events, 'read back from the log, it is the same');
    await again.close();
  }));

test('goes on between two changes of one transaction', () => withShelf(async (shelf) => {
  const { follow, store } = shelf;
  const live = await follow();
  const ids = ['a', 'b', 'c'];
  await store.transact((transaction) => {
    for (const id of ids) transaction.put('books', id, `{"id":"${id}"}`);
    transaction.put('calls', 'x', '{"id":"x","hook":"h"}');
  });
  await live.until(4);
  assert.deepEqual(live.events.map(({ id }) => id), ['1.1', '1.2', '1.3', '1']);
  await live.close();
  for (const [index, { id }] of live.events.entries()) {
    const rest = await follow('', id);
    await rest.until(3 - index);
    await shelf.put('z');
    await rest.until(4 - index);
    assert.deepEqual(rest.events.slice(0, 3 - index), live.events.slice(index + 1), `after ${id}`);
    await rest.close();
  }
  const books = await follow('?topics=books', '0');
  await books.until(3);
  const seen = books.events.slice(0, 3).map(({ id }) => id);
  assert.deepEqual(seen, ['1.1', '1.2', '1'], 'the last that a reader gets has the sequence');
  await books.close();
}));

test('selects by topic and by hook', () => withShelf(async ({ follow, put, store }) => {
  const call = (id: string, hook: string) => store.transact((transaction) =>
    transaction.put('calls', id, JSON.stringify({ id, hook })));
  const readers = await Promise.all(
    ['', '?topics=books', '?topics=calls', '?hook=first', '?topics=books,calls&hook=two']
      .map((query) => follow(query)));
  await put('a');
  await call('x', 'one');
  await call('y', 'two');
  await store.transact((transaction) => transaction.delete('calls', 'y'));
  await put('b');
  await call('z', 'uno');
  const expected = [
    ['1', '2', '3', '4', '5', '6'], ['1', '5'], ['2', '3', '4', '6'], ['2', '6'], ['3', '4'],
  ];
  for (const [index, reader] of readers.entries()) {
    const wanted = expected[index] ?? [];
    await reader.until(wanted.length);
    assert.deepEqual(reader.events.map(({ id }) => id), wanted, reader.text());
    await reader.close();
  }
  // The log does not tell whose a deleted record was.
  const later = await follow('?hook=first', '0');
  await later.until(3);
  assert.deepEqual(later.events.map(({ id }) => id), ['2', '4', '6']);
  await later.close();
}));

test('tells of what is on no disk in its order, with the sequence of what was before it', () =>
  withShelf(async ({ follow, put, announce, described }) => {
    announce('w', 'one');
    assert.equal(described(), 0, 'nobody listens yet');
    const all = await follow();
    const other = await follow('?hook=two');
    await put('a');
    announce('x', 'one');
    await put('b');
    announce('y', 'two');
    await all.until(4);
    await other.until(1);
    const ids = all.events.map(({ id, data }) => `${id} ${JSON.parse(data).id}`);
    assert.deepEqual(ids, ['1 a', '1 x', '2 b', '2 y']);
    assert.deepEqual(other.events, [
      { id: '2', event: 'call', data: '{"change":"created","id":"y","hook":"two"}' },
    ]);
    await all.close();
    await other.close();
  }));

test('describes a change once, however many read it', () =>
  withShelf(async ({ follow, put, described }) => {
    const readers = await Promise.all(Array.from({ length: 10 }, (_, index) =>
      follow(index % 2 === 0 ? '' : '?topics=books')));
    for (const id of ['a', 'b', 'c']) await put(id);
    for (const reader of readers) await reader.until(3);
    assert.equal(described(), 3);
    for (const reader of readers) await reader.close();
  }));

test('refuses what it does not know', () => withShelf(async ({ follow, put }) => {
  await put('a');
  const cases = [
    ['', '2', 410], ['', '2.1', 410], ['', 'x', 400], ['', '1.0', 400], ['', '-1', 400],
    ['', '0.1', 400], ['?topics=nothing', undefined, 400], ['?topics=', undefined, 400],
    ['?topics=books&hook=h', undefined, 400], ['?other=1', undefined, 400],
    ['?lastEventId=2', undefined, 410],
  ] as const;
  for (const [query, lastEventId, status] of cases) {
    const refused = await follow(query, lastEventId);
    assert.equal(refused.status, status, `${query} ${lastEventId}`);
    await refused.close();
  }
  const current = await follow('?lastEventId=9', '1');
  assert.equal(current.status, 200, 'the current sequence is always known; the header counts');
  await current.close();
}));

test('410 once compaction has deleted what came after', () => withShelf(async (shelf) => {
  await shelf.put('a');
  for (let round = 0; round < 20; round += 1) {
    await shelf.put(`b${round}`);
    await shelf.store.compact();
  }
  const gone = await shelf.follow('', '1');
  assert.equal(gone.status, 410);
  await gone.close();
  const known = await shelf.follow('', '15');
  await known.until(6);
  await known.close();
}));

test('each sign of life brings a reader for whom there is nothing up to date', async () => {
  const clock = new ManualClock();
  await withShelf(async ({ follow, put, store, listeners }) => {
    const reader = await follow('?topics=calls');
    await until('it is open', () => reader.lastId() === '0');
    for (const id of ['a', 'b']) await put(id);
    assert.equal(store.statistics.sequence, 2);
    await clock.advance(15_000);
    await until('a comment has come', () => reader.lastId() === '2', { seen: reader.text });
    assert.match(reader.text(), /^:$/m);
    assert.deepEqual(reader.events, []);
    await reader.close();
    await until('nobody listens any more', async () => {
      await clock.advance(1000);
      return listeners() === 0;
    });
  }, clock);
});

test('who may not read any more is told nothing after the next sign of life', async () => {
  const clock = new ManualClock();
  let mayRead = true;
  const shelf = await openShelf(undefined, clock, () => mayRead);
  try {
    const [reader, behind] = [await shelf.follow(), await shelf.follow('', '0')];
    await clock.advance(15_000);
    await until('a comment has come', () => /^:$/m.test(reader.text()));
    assert.deepEqual([reader.isEnded(), behind.isEnded()], [false, false]);
    mayRead = false;
    await clock.advance(15_000);
    await until('both have ended', () => reader.isEnded() && behind.isEnded());
    await shelf.put('secret');
    assert.ok(!reader.text().includes('secret') && !behind.text().includes('secret'));
    assert.equal(shelf.listeners(), 0);
  } finally {
    await shelf.close();
  }
});

test('who may not read any more is told nothing that came after his token changed', async () => {
  let mayRead = true;
  const shelf = await openShelf(undefined, undefined, () => mayRead);
  try {
    const [reader, behind] = [await shelf.follow(), await shelf.follow('', '0')];
    await shelf.put('open');
    await until('both have read it', () =>
      [reader, behind].every((one) => one.text().includes('open')));
    mayRead = false;
    await shelf.store.transact((transaction) => {
      transaction.put('tokens', 't', '{"id":"t"}');
      transaction.put('books', 'secret', '{"id":"secret"}');
    });
    await until('both have ended', () => reader.isEnded() && behind.isEnded());
    assert.ok(!reader.text().includes('secret') && !behind.text().includes('secret'));
    assert.equal(shelf.listeners(), 0);
  } finally {
    await shelf.close();
  }
});

test('a reader that goes frees everything, whether it closes or only ends its side', () =>
  withShelf(async ({ follow, listeners, port, put }) => {
    const readers = await Promise.all(Array.from({ length: 50 }, () => follow()));
    assert.equal(listeners(), 1);
    for (const reader of readers) await reader.close();
    await until('nobody listens any more', () => listeners() === 0);
    const ended = new RawConnection({ port });
    ended.send('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('it listens', () => listeners() === 1);
    ended.socket.end();
    let told = '';
    ended.socket.on('data', (chunk) => { told += String(chunk); });
    await put('a');
    await until('who only ends his side is still told', () => told.includes('"id":"a"'));
    assert.equal(listeners(), 1);
    ended.socket.destroy();
    // A closed socket whose end was read before is found out by what is written to it.
    await until('nobody listens any more', async () => {
      await put('a');
      return listeners() === 0;
    });
  }));

test('a process that dies is found out by what is written after its end', () =>
  withShelf(async ({ port, listeners }) => {
    const dying = new RawConnection({ port });
    dying.send('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(dying.socket, 'data');
    dying.socket.end();
    dying.socket.destroy();
    await until('nobody listens any more', () => listeners() === 0);
  }));

test('256 streams are open at once, and the next is told to come later', () =>
  withShelf(async ({ follow, listeners }) => {
    const readers = await Promise.all(Array.from({ length: 256 }, () => follow()));
    assert.ok(readers.every(({ status }) => status === 200));
    const refused = await follow();
    assert.equal(refused.status, 503);
    assert.equal(refused.response.headers['retry-after'], '5');
    await readers[0]?.close();
    await until('there is room again', async () => {
      const next = await follow();
      readers.push(next);
      return next.status === 200;
    });
    for (const reader of readers) await reader.close();
    await until('nobody listens any more', () => listeners() === 0);
  }));

test('a stopping server ends each stream whole, and takes no more', () =>
  withShelf(async ({ follow, stream, put, listeners }) => {
    const readers = [await follow(), await follow('', '0')];
    await put('a');
    for (const reader of readers) await reader.until(1);
    stream.close();
    for (const reader of readers) {
      await until('it has ended', reader.isEnded);
      assert.ok(reader.response.complete, 'it was not torn');
    }
    assert.equal((await follow()).status, 503);
    assert.equal(listeners(), 0);
  }));

test('a HEAD opens no stream', () => withShelf(async ({ port, listeners }) => {
  const connection = new RawConnection({ port });
  connection.send('HEAD /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.equal((await connection.answer(false)).status, 200);
  assert.equal(listeners(), 0);
  connection.socket.destroy();
}));
