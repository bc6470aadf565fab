import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedTextColumn, type TextCriterion } from '../../../src/webhooks/records/columns.ts';
import type { RecordFields } from '../../../src/webhooks/records/fields.ts';
import { RecordList } from '../../../src/webhooks/records/record-list.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { below, createRandom } from '../../support/random.ts';

type Thing = { readonly id: string; readonly owner: string | null };

const fields: RecordFields<Thing, { readonly owner: TextCriterion | null }> = {
  owner: {
    parameters: {}, parse: () => null, isChanging: true,
    isMet: (criterion, { owner }) => owner !== null
      && (typeof criterion === 'function' ? criterion(owner) : owner === criterion),
    createColumn: () => new SharedTextColumn(({ owner }) => owner, { listsSlots: true }),
  },
};

/** Owners a and b have few things, c has most. */
const OWNERS = ['a', 'b', ...Array.from({ length: 30 }, () => 'c')];
const CRITERIA: readonly TextCriterion[] =
  ['a', 'c', 'none', (owner) => owner !== 'c', (owner) => owner === 'b', () => true];

test('pages, counts and walks of few records are those that a look at all records finds',
  async () => {
    const random = createRandom(7);
    const store = createMemoryStore([{ name: 'things', key: 'id' }]);
    const list = new RecordList(store, 'things', {
      fields, decode: (bytes) => JSON.parse(bytes.toString()) as Thing,
    });
    const owners = new Map<string, string | null>();
    const number = (bound: number): number => below(random, bound);
    const makeId = (index: number): string => `t${String(index).padStart(4, '0')}`;
    for (let round = 0; round < 60; round += 1) {
      const changes = Array.from({ length: 60 }, () => {
        const id = makeId(number(900));
        if (number(3) === 0) return { id, json: null };
        const owner = number(40) === 0 ? null : OWNERS[number(OWNERS.length)] ?? null;
        return { id, json: JSON.stringify({ id, owner }) };
      });
      await store.transact((transaction) => {
        for (const { id, json } of changes) {
          if (json !== null) transaction.put('things', id, json);
          else if (transaction.find('things', id) !== undefined) transaction.delete('things', id);
        }
      });
      for (const { id, json } of changes) {
        if (json === null) owners.delete(id);
        else owners.set(id, (JSON.parse(json) as Thing).owner);
      }
      for (const owner of CRITERIA) {
        const isMet = (text: string | null): boolean => text !== null
          && (typeof owner === 'function' ? owner(text) : owner === text);
        const ids = [...owners].filter(([, text]) => isMet(text)).map(([id]) => id).sort();
        assert.equal(await list.count({ owner }), ids.length);
        for (const isNewestFirst of [false, true]) {
          const ordered = isNewestFirst ? ids.toReversed() : ids;
          const after = number(2) === 0 ? null : makeId(number(900));
          const isBehind = (id: string): boolean =>
            after === null || (isNewestFirst ? id < after : id > after);
          const page = await list.page({ owner },
            { after, limit: 10, isNewestFirst, decode: (_, id) => id });
          assert.deepEqual(page, ordered.filter(isBehind).slice(0, 10));
        }
      }
    }
  });

test('a walk over few records passes over those that have gone meanwhile', async () => {
  const store = createMemoryStore([{ name: 'things', key: 'id' }]);
  const things = store.collection('things');
  const list = new RecordList(store, 'things', {
    fields, decode: (bytes) => JSON.parse(bytes.toString()) as Thing,
  });
  const put = (id: string, owner: string): Promise<void> => store.transact((transaction) => {
    transaction.put('things', id, JSON.stringify({ id, owner }));
  });
  for (let index = 0; index < 100; index += 1) await put(`z${100 + index}`, 'c');
  for (const id of ['k1', 'k2', 'k3']) await put(id, 'a');
  const { walk } = await list.select({ owner: 'a' }, null, false);
  assert.equal(things.idAt(walk.next()), 'k1');
  await store.transact((transaction) => transaction.delete('things', 'k2'));
  // It may take the slot of the one that has gone.
  await put('k9', 'c');
  assert.equal(things.idAt(walk.next()), 'k3');
  assert.equal(walk.next(), -1);
});
