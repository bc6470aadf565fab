/**
 * Explains how a query was answered: by which plan, and why by that. The plans here are those of
 * today's scans (scan.ts).
 */
import type { ScanInputs } from './slot-filter.ts';

export type PlanExplanation = {
  /** A short name of the plan, such as `scan`. */
  readonly name: string;
  /** A sentence with the counts that led to the plan. */
  readonly reason: string;
};

/** The answer to `explain=true`, and of `books.explain(query)`. */
export type BookListExplanation = {
  /** The name of the plan. */
  readonly plan: string;
  readonly reason: string;
  /** How many books match, on all pages. */
  readonly total: number;
  /** Milliseconds from the parsed query to the books that were found; they are not sent. */
  readonly ms: number;
};

/** All books, or all after a cursor, as the store lays them out. */
export function explainWhole(size: number): PlanExplanation {
  return {
    name: 'whole',
    reason: `all ${size} books are asked for in the order of their ids, in which they are stored`,
  };
}

/** A page of all books by id. */
export function explainPageById(size: number): PlanExplanation {
  return {
    name: 'page-by-id',
    reason: `all ${size} books match, and in the order of ids none is read but those of the page`,
  };
}

/** Few candidates. */
export function explainSparse(count: number, size: number): PlanExplanation {
  return {
    name: 'scan-candidates',
    reason: `the word index says that ${count} of ${size} books may match: only these are read`,
  };
}

/** A walk through the whole collection; `candidatesMax` candidates would have been few. */
export function explainScan(
  { collection: { size }, candidates }: ScanInputs, candidatesMax: number,
): PlanExplanation {
  const reason = candidates === null
    ? `no index is of use: all ${size} books are read`
    : `the word index says that ${candidates.count} of ${size} books may match, more than the `
      + `${candidatesMax} that are held at once: they are read on a walk through all books`;
  return { name: 'scan', reason };
}
