/**
 * The postings of a memtable: pairs of a term and a document that has it, in the order in which
 * they came, so that documents rise. They are sorted by term once, by counting, when the memtable
 * is full: an array for each term, or a linked list, took twice the time.
 */
import { growInt32 } from '../../base/structures/typed-arrays.ts';

const FIRST_TERMS = 512;
const FIRST_PAIRS = 2048;

export class MemtablePostings {
  #count = 0;
  #terms = new Int32Array(FIRST_PAIRS);
  #documents = new Int32Array(FIRST_PAIRS);
  /** The last document of each term, plus one; 0 for a term without documents. */
  #lastDocuments = new Int32Array(FIRST_TERMS);
  #documentCounts = new Int32Array(FIRST_TERMS);

  get count(): number { return this.#count; }
  term(pair: number): number { return this.#terms[pair] ?? 0; }
  document(pair: number): number { return this.#documents[pair] ?? 0; }

  /** How many documents have a term. */
  documentCount(term: number): number { return this.#documentCounts[term] ?? 0; }

  /** Adds a pair, unless it is there already. `document` must not be lower than before. */
  add(term: number, document: number): void {
    if (term >= this.#lastDocuments.length) {
      this.#lastDocuments = growInt32(this.#lastDocuments, term + 1);
      this.#documentCounts = growInt32(this.#documentCounts, term + 1);
    }
    if (this.#lastDocuments[term] === document + 1) return;
    this.#lastDocuments[term] = document + 1;
    this.#documentCounts[term] = (this.#documentCounts[term] ?? 0) + 1;
    const pair = this.#count;
    if (pair === this.#terms.length) {
      this.#terms = growInt32(this.#terms, pair + 1);
      this.#documents = growInt32(this.#documents, pair + 1);
    }
    this.#terms[pair] = term;
    this.#documents[pair] = document;
    this.#count = pair + 1;
  }
}
