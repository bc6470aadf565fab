/** How tests import books unless they say otherwise. */
import type {
  MatchMode, SourceFormat,
} from '../../src/books/transfer/matching/book-import.ts';

/** Books are known again by their ids alone, and what the records say is not remembered. */
export const PLAIN_MODE: MatchMode = {
  matches: [], onMatch: 'update', isSameIdLeftAlone: true, source: null, digestFormat: null,
  isDryRun: false, isVerbose: false,
};

/** Its records never have the id of a book, and nothing is exported in it. */
export const GOODREADS: SourceFormat = {
  format: 'goodreads', ownIdFields: ['Book Id'], bookIdFields: [], bookIdPrefix: null,
  exportOf: () => '', isMadeOwnId: () => true, readExports: () => [],
};
