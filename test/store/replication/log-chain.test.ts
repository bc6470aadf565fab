import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_START, computeChain, findBreak } from '../../../src/store/replication/log-chain.ts';

const lines = Buffer.from('{}\n{}\n');
const entry = {
  first: 1, sequence: 2, batchId: 'batch', lines,
  chain: computeChain(LOG_START.chain, 'batch', lines),
};

test('an entry follows one position', () => {
  assert.equal(findBreak(LOG_START, entry), null);
  assert.match(findBreak({ ...LOG_START, chain: 'f' }, entry) ?? '', /does not continue/);
  assert.match(findBreak(LOG_START, { ...entry, batchId: 'other' }) ?? '', /does not continue/);
  assert.match(findBreak(LOG_START, { ...entry, lines: lines.subarray(3) }) ?? '', /not continue/);
});

test('an entry with the right chain does not follow at another sequence', () => {
  assert.match(findBreak(LOG_START, { ...entry, first: 2 }) ?? '', /2 to 2 where 1 is due/);
  assert.match(findBreak({ ...LOG_START, sequence: 1 }, entry) ?? '', /1 to 2 where 2 is due/);
  assert.match(findBreak(LOG_START, { ...entry, sequence: 0 }) ?? '', /1 to 0 where 1 is due/);
});
