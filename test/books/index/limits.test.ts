import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { Memtable } from '../../../src/books/index/memtable.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes } from '../../support/index-all.ts';
import { turnsUntil } from '../../support/turns.ts';

const TIME = '2026-01-01T00:00:00.000Z';
const STAMPS = { id: 'id', createdAt: TIME, updatedAt: TIME };

test('what is mostly of deleted books is made anew and takes less', async () => {
  const collection = new FakeCollection();
  const index = createIndexes({ collection, turns: createTurns(systemClock), memtableBooks: 8 });
  const put = (number: number): void => collection.put({
    ...STAMPS, id: `id-${String(number).padStart(3, '0')}`,
    title: `one${number} two${number} three${number}`,
  });
  for (let number = 0; number < 64; number += 1) put(number);
  index.openWords(parseBookQuery('q=nothing').filter);
  await turnsUntil(() => index.listReports()[0]?.state === 'ready');
  const segmentBytes = (): number => index.bytes - new Memtable().bytes;
  const full = segmentBytes();
  for (const id of collection.ids.slice(4)) collection.delete(id);
  for (let number = 100; number < 108; number += 1) put(number);
  await turnsUntil(() => segmentBytes() < full / 2);
});
