/** The indexes of the catalog, made when a query first needs them. */
import type { CatalogIndexes, CatalogIndexesOptions } from '../engine/catalog-indexes.ts';
import type { IndexReport, IndexReporter } from '../engine/index-report.ts';

export class LazyCatalogIndexes implements IndexReporter {
  readonly #options: CatalogIndexesOptions;
  /** null until the first query. */
  #indexes: CatalogIndexes | null = null;
  #isClosed = false;

  constructor(options: CatalogIndexesOptions) {
    this.#options = options;
  }

  reports(): readonly IndexReport[] {
    return this.#indexes?.reports() ?? [];
  }

  /** The class comes with the call: only what answers queries, itself loaded lazily, imports it. */
  open(Indexes: typeof CatalogIndexes): CatalogIndexes {
    if (this.#indexes === null) {
      this.#indexes = new Indexes(this.#options);
      if (this.#isClosed) this.#indexes.close();
    }
    return this.#indexes;
  }

  /** See `CatalogIndexes.fit`. */
  fit(): void {
    this.#indexes?.fit();
  }

  close(): void {
    this.#isClosed = true;
    this.#indexes?.close();
  }
}
