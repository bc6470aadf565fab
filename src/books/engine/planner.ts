/**
 * Plans how the books of a query are found. Pure: numbers in, a plan with its reason out.
 *
 *   plan             walks through                             costs
 *   page-by-id       the ids, until the page is full           reading the page
 *   order-walk       an order, until the page is full          a look at each slot on the way
 *   sorted-matches   the books that match                      reading each of them, and a sort
 *   scan-candidates  the books that may match                  the same
 *   scan             all books                                 the same
 *
 * The first three need to know which books match without reading any: by bit sets, or because there
 * is no condition. What two of them cost is counted in looks. An order walk expects the matches to
 * stand evenly in the order. Where they do not, it is left once it has taken LEAVE_FACTOR times
 * what was expected, if to sort the matches costs less than what it may have to look at still.
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

type PlanName = 'page-by-id' | 'order-walk' | 'sorted-matches' | 'scan-candidates' | 'scan';

export type Plan = {
  readonly name: PlanName;
  /** Whether it walks through the books in the order that is asked for. */
  readonly isInOrder: boolean;
  /** One sentence with the counts that decided: written only for who asks. */
  readonly explain: () => string;
  /** The order walk is left after so many looks; Infinity where nothing else costs less. */
  readonly looksMax: number;
};

// To read a book and its sort values takes as long as so many looks at a bit.
const READ_LOOKS = 100;
const LEAVE_FACTOR = 4;

export function planPage(inputs: PlanInputs): Plan {
  const { bookCount, matchCount, wantedCount, orderText, hasOrder } = inputs;
  if (matchCount === null && orderText === 'id') {
    return createPlan('page-by-id', () =>
      `all ${describeCount(bookCount)} books match, and in the order of ids none is read but those `
        + 'of the page');
  }
  if (matchCount === null) {
    return hasOrder
      ? createPlan('order-walk', () =>
        `all books match: the order by ${orderText} is walked from the page on`)
      : createPlan('scan', () => `there is no index by ${orderText} yet`);
  }
  const describeFound = (): string =>
    `${describeCount(matchCount)} of ${describeCount(bookCount)} match`;
  if (!hasOrder) {
    return createPlan('sorted-matches', () =>
      `${describeFound()}, and there is no index by ${orderText} yet`);
  }
  const sortLooks = matchCount * READ_LOOKS;
  const walkLooks = expectWalkLooks(bookCount, matchCount, wantedCount);
  if (sortLooks <= walkLooks) {
    return createPlan('sorted-matches', () =>
      `${describeFound()}: to sort them costs ${describeCount(sortLooks)} looks, to walk in order `
        + `of ${orderText} ${describeCount(walkLooks)}`);
  }
  const looksMax = walkLooks * LEAVE_FACTOR;
  return createPlan('order-walk', () =>
    `${describeFound()}: to walk in order of ${orderText} costs ${describeCount(walkLooks)} looks, `
      + `to sort them ${describeCount(sortLooks)}`,
  sortLooks < bookCount - looksMax ? looksMax : Infinity);
}

/** The plan for all books that match. */
export function planWhole(bookCount: number, matchCount: number | null, orderText: string): Plan {
  return createPlan('order-walk', () =>
    `${describeCount(matchCount ?? bookCount)} of ${describeCount(bookCount)} match, all of them `
      + `are wanted, and there is an index by ${orderText}`);
}

/** The plan where books have to be read to know which match; null: no index says which may. */
export function planScan(bookCount: number, slotCount: number | null): Plan {
  return slotCount === null
    ? createPlan('scan', () => `no index is of use: all ${describeCount(bookCount)} books are read`)
    : createPlan('scan-candidates', () =>
      `${describeCandidates(bookCount, slotCount)}: only these are read`);
}

/** The same for all books that match, where more than `slotsMax` may match. */
export function planWholeScan(
  bookCount: number, slotCount: number | null, slotsMax: number,
): Plan {
  if (slotCount === null) return planScan(bookCount, null);
  return createPlan('scan', () =>
    `${describeCandidates(bookCount, slotCount)}, more than the ${describeCount(slotsMax)} `
      + 'that are held at once: they are read on a walk through all books');
}

/** The plan after an order walk that was left. */
export function replanPage({ explain, looksMax }: Plan): Plan {
  return createPlan('sorted-matches', () =>
    `${explain()}; the walk was left after ${describeCount(looksMax)}, as the matches stand late `
      + 'in the order');
}

function createPlan(name: PlanName, explain: () => string, looksMax = Infinity): Plan {
  const isInOrder = name === 'order-walk' || name === 'page-by-id';
  return { name, isInOrder, explain, looksMax };
}

/** How many slots a walk looks at until it has found the wanted ones. */
function expectWalkLooks(bookCount: number, matchCount: number, wantedCount: number): number {
  if (matchCount <= wantedCount) return bookCount;
  return Math.ceil(wantedCount * bookCount / matchCount);
}

function describeCandidates(bookCount: number, slotCount: number): string {
  return `the indexes say that ${describeCount(slotCount)} of ${describeCount(bookCount)} books `
    + 'may match';
}

function describeCount(count: number): string {
  return count.toLocaleString('en');
}
