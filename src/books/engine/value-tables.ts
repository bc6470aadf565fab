/** The tables that there are. */
import { encodeByteString } from '../../base/text/fold.ts';
import { readAuthors, readKeywords, readPublisher } from '../query/stored-fields.ts';
import { eachTerm, joinWords } from '../query/words.ts';
import { ValueTable } from './value-table.ts';

/** The members whose values have a table. */
export type TableName = 'author' | 'keyword' | 'publisher';

const CREATE_BY_NAME: Readonly<Record<TableName, (bytesMax: number) => ValueTable>> = {
  author: createAuthorTable, keyword: createKeywordTable, publisher: createPublisherTable,
};

export function createValueTable(name: TableName, bytesMax: number): ValueTable {
  return CREATE_BY_NAME[name](bytesMax);
}

/** The authors' names, each once a book, found by any of their words. */
function createAuthorTable(bytesMax: number): ValueTable {
  return new ValueTable({
    readValues: (bytes) => readAuthors(bytes).map(({ name }) => name), isCaseless: false,
    deriveTerms(name) {
      const terms: string[] = [];
      eachTerm(name, (term) => terms.push(term));
      return terms;
    },
    bytesMax,
  });
}

/** Keywords without regard to case, found by the beginning of their `joinWords`. */
function createKeywordTable(bytesMax: number): ValueTable {
  return new ValueTable({
    readValues: readKeywords, isCaseless: true,
    deriveTerms: (keyword) => [encodeByteString(joinWords(keyword))], bytesMax,
  });
}

/** Publishers, which are not looked for. */
function createPublisherTable(bytesMax: number): ValueTable {
  return new ValueTable({
    readValues(bytes) {
      const publisher = readPublisher(bytes);
      return publisher === null || publisher === '' ? [] : [publisher];
    },
    isCaseless: false, deriveTerms: () => [], bytesMax,
  });
}
