import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPage, planWhole, replanPage } from '../../../src/books/engine/planner.ts';
import type { Plan } from '../../../src/books/engine/planner.ts';

type Inputs = Parameters<typeof planPage>[0];

const TITLES = { orderText: 'title', hasOrder: true };
const NO_TITLES = { orderText: 'title', hasOrder: false };

const CASES: readonly {
  readonly name: string; readonly inputs: Inputs;
  readonly plan: string; readonly reason: string; readonly looksMax: number;
}[] = [
  {
    name: 'without a condition a page stands in its order',
    inputs: { bookCount: 1_000_000, matchCount: null, wantedCount: 21, ...TITLES },
    plan: 'order-walk', reason: 'all books match: the order by title is walked from the page on',
    looksMax: Infinity,
  },
  {
    name: 'without a condition and an index all books are read',
    inputs: { bookCount: 1_000_000, matchCount: null, wantedCount: 21, ...NO_TITLES },
    plan: 'scan', reason: 'there is no index by title yet', looksMax: Infinity,
  },
  {
    name: 'matches are sorted while there is no index of their order',
    inputs: { bookCount: 1_000_000, matchCount: 500_000, wantedCount: 21, ...NO_TITLES },
    plan: 'sorted-matches',
    reason: '500,000 of 1,000,000 match, and there is no index by title yet', looksMax: Infinity,
  },
  {
    name: 'many matches are met on a walk, which is left if to sort them costs less than the rest',
    inputs: { bookCount: 1_000_000, matchCount: 5000, wantedCount: 20, ...TITLES },
    plan: 'order-walk',
    reason: '5,000 of 1,000,000 match: to walk in order of title costs 4,000 looks, to sort them '
      + '500,000',
    looksMax: 16_000,
  },
  {
    name: 'a walk is not left for a sort that costs more than the rest of it',
    inputs: { bookCount: 1_000_000, matchCount: 10_000, wantedCount: 20, ...TITLES },
    plan: 'order-walk',
    reason: '10,000 of 1,000,000 match: to walk in order of title costs 2,000 looks, to sort them '
      + '1,000,000',
    looksMax: Infinity,
  },
  {
    name: 'few matches are sorted',
    inputs: { bookCount: 1_000_000, matchCount: 100, wantedCount: 21, ...TITLES },
    plan: 'sorted-matches',
    reason: '100 of 1,000,000 match: to sort them costs 10,000 looks, to walk in order of title '
      + '210,000',
    looksMax: Infinity,
  },
  {
    name: 'a walk for no more matches than are wanted goes through all books',
    inputs: { bookCount: 1000, matchCount: 21, wantedCount: 21, ...TITLES },
    plan: 'order-walk',
    reason: '21 of 1,000 match: to walk in order of title costs 1,000 looks, to sort them 2,100',
    looksMax: Infinity,
  },
  {
    name: 'no match is no work',
    inputs: { bookCount: 1000, matchCount: 0, wantedCount: 21, ...TITLES },
    plan: 'sorted-matches',
    reason: '0 of 1,000 match: to sort them costs 0 looks, to walk in order of title 1,000',
    looksMax: Infinity,
  },
  {
    name: 'an empty catalog has an empty page',
    inputs: { bookCount: 0, matchCount: 0, wantedCount: 21, ...TITLES },
    plan: 'sorted-matches',
    reason: '0 of 0 match: to sort them costs 0 looks, to walk in order of title 0',
    looksMax: Infinity,
  },
];

/** The plan with its explanation as a text. */
function tell({ name, looksMax, explain }: Plan): object {
  return { name, looksMax, reason: explain() };
}

for (const { name, inputs, plan, reason, looksMax } of CASES) {
  test(name, () => assert.deepEqual(tell(planPage(inputs)), { name: plan, reason, looksMax }));
}

test('to sort is chosen from as few matches on as cost no more than the walk', () => {
  const plan = (matchCount: number): string =>
    planPage({ bookCount: 10_000, matchCount, wantedCount: 25, ...TITLES }).name;
  assert.equal(plan(50), 'sorted-matches', '5,000 looks either way');
  assert.equal(plan(51), 'order-walk');
});

test('a walk may be left while a sort costs less than the rest: at the bound it may not', () => {
  const looksMax = (bookCount: number): number =>
    planPage({ bookCount, matchCount: 100, wantedCount: 1, ...TITLES }).looksMax;
  // The walk expects a hundredth of the books, and takes four times that; the sort takes 10,000.
  assert.equal(looksMax(10_420), Infinity);
  assert.equal(looksMax(10_421), 420);
});

test('the plan after a walk says what the walk expected, and when it was left', () => {
  const plan = planPage({ bookCount: 1_000_000, matchCount: 5000, wantedCount: 20, ...TITLES });
  assert.deepEqual(tell(replanPage(plan)), {
    name: 'sorted-matches', looksMax: Infinity,
    reason: '5,000 of 1,000,000 match: to walk in order of title costs 4,000 looks, to sort them '
      + '500,000; the walk was left after 16,000, as the matches stand late in the order',
  });
});

test('all matches are walked through in their order', () => {
  assert.deepEqual(tell(planWhole(1000, 20, 'title')), {
    name: 'order-walk', looksMax: Infinity,
    reason: '20 of 1,000 match, all of them are wanted, and there is an index by title',
  });
  assert.match(planWhole(1000, null, 'id').explain(), /^1,000 of 1,000 match/);
});
