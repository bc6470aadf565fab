/**
 * Plans how a page of books is found. Pure: numbers in, a plan with its reason out.
 *
 *   plan            walks through                         costs
 *   order-walk      an order, until the page is full      a look at each slot on the way
 *   sorted-matches  the books that match                  reading each of them, and a sort
 *   scan            all books, or candidates of the       reading each of them
 *                   word index (list/scan.ts)
 *
 * The two first need to know which books match without reading any: by bit sets, or because there
 * is no condition. What they cost is counted in looks. An order walk expects the matches to stand
 * evenly in the order. Where they do not, it is left once it has taken LEAVE_FACTOR times what was
 * expected, if to sort the matches costs less than what it may have to look at still.
 */

type PlanInputs = {
  /** How many books the catalog has. */
  readonly bookCount: number;
  /** How many of them match; null: no condition, so that all do. */
  readonly matchCount: number | null;
  /** How many books are wanted at the most. */
  readonly wantedCount: number;
  /** Words for the order, such as `title`. */
  readonly orderText: string;
  /** Whether there is an index of it; ids always have one. */
  readonly hasOrder: boolean;
};

export type Plan = {
  readonly name: 'order-walk' | 'sorted-matches' | 'scan';
  /** One sentence with the counts that decided. */
  readonly reason: string;
  /** The order walk is left after so many looks; Infinity where nothing else costs less. */
  readonly looksMax: number;
};

// To read a book and its sort values takes as long as so many looks at a bit.
const READ_LOOKS = 100;
const LEAVE_FACTOR = 4;

export function planPage(inputs: PlanInputs): Plan {
  const { bookCount, matchCount, wantedCount, orderText, hasOrder } = inputs;
  const found = `${describeCount(matchCount ?? bookCount)} of ${describeCount(bookCount)} match`;
  if (matchCount === null) {
    return hasOrder
      ? { name: 'order-walk', reason: `all books match: the order by ${orderText} is walked `
        + 'from the page on', looksMax: Infinity }
      : { name: 'scan', reason: `there is no index by ${orderText} yet`, looksMax: Infinity };
  }
  const sortLooks = matchCount * READ_LOOKS;
  const walkLooks = expectWalkLooks(bookCount, matchCount, wantedCount);
  if (!hasOrder) {
    return { name: 'sorted-matches', looksMax: Infinity,
      reason: `${found}, and there is no index by ${orderText} yet` };
  }
  if (sortLooks <= walkLooks) {
    return { name: 'sorted-matches', looksMax: Infinity,
      reason: `${found}: to sort them costs ${describeCount(sortLooks)} looks, to walk in order of `
        + `${orderText} ${describeCount(walkLooks)}` };
  }
  const looksMax = walkLooks * LEAVE_FACTOR;
  return { name: 'order-walk',
    looksMax: sortLooks < bookCount - looksMax ? looksMax : Infinity,
    reason: `${found}: to walk in order of ${orderText} costs ${describeCount(walkLooks)} looks, `
      + `to sort them ${describeCount(sortLooks)}` };
}

/** The plan for all books that match. */
export function planWhole(bookCount: number, matchCount: number | null, orderText: string): Plan {
  return { name: 'order-walk', looksMax: Infinity,
    reason: `${describeCount(matchCount ?? bookCount)} of ${describeCount(bookCount)} match, all `
      + `of them are wanted, and there is an index by ${orderText}` };
}

/** The plan after an order walk that was left. */
export function replanPage({ reason, looksMax }: Plan): Plan {
  return { name: 'sorted-matches', looksMax: Infinity,
    reason: `${reason}; the walk was left after ${describeCount(looksMax)}, as the matches stand `
      + 'late in the order' };
}

/** How many slots a walk looks at until it has found the wanted ones. */
function expectWalkLooks(bookCount: number, matchCount: number, wantedCount: number): number {
  if (matchCount <= wantedCount) return bookCount;
  return Math.ceil(wantedCount * bookCount / matchCount);
}

function describeCount(count: number): string {
  return count.toLocaleString('en');
}
