import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicatedRecords } from '../../../src/store/replication/replicated-records.ts';

const LOG = '00000000-0000-4000-8000-00000000000a';
const POSITION = { sequence: 5, chain: 'c5' };

type HeadCase = {
  readonly name: string;
  readonly sequence: number;
  readonly chain: string;
  readonly floor: number;
  /** Null: the log continues the records. */
  readonly divergence: RegExp | null;
};

const HEADS: readonly HeadCase[] = [
  { name: 'the records', sequence: 5, chain: 'c5', floor: 5, divergence: null },
  { name: 'entries behind the records', sequence: 9, chain: 'c9', floor: 5, divergence: null },
  { name: 'fewer entries', sequence: 4, chain: 'c4', floor: 0, divergence: /ends at 4/ },
  {
    name: 'another last entry', sequence: 5, chain: 'other', floor: 0,
    divergence: /another transaction 5/,
  },
  {
    name: 'only entries far behind the records', sequence: 9, chain: 'c9', floor: 7,
    divergence: /begins at 7, and only 5/,
  },
];

for (const { name, divergence, ...position } of HEADS) {
  test(`a log that holds ${name} ${divergence === null ? 'is' : 'is not'} followed`, () => {
    const records = new ReplicatedRecords(new Map(), LOG, POSITION);
    const isFollowed = records.checkHead({ log: LOG, format: 2, ...position });
    assert.equal(isFollowed, divergence === null);
    if (divergence === null) assert.equal(records.divergence, null);
    else assert.match(records.divergence ?? '', divergence);
  });
}

test('entries that are large are taken one a turn of the event loop', async () => {
  const records = new ReplicatedRecords(new Map(), LOG, POSITION);
  const entry = { first: 6, sequence: 6, chain: 'c6', batchId: 'b', lines: Buffer.alloc(1 << 20) };
  let turn = 0;
  setImmediate(() => { turn += 1; });
  const turns: number[] = [];
  records.accept = (entries) => {
    turns.push(...entries.map(() => turn));
    return true;
  };
  await records.acceptInTurns([entry, entry]);
  assert.deepEqual(turns, [0, 1]);
});
