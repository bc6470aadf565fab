/** The indexes of the catalog, and what answers by them: loaded when a query first needs them. */
import { lazyImport } from '../../base/lazy-import.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import type { answerPage } from './answer-page.ts';
import type { answerWhole } from './answer-whole.ts';
import type { ScanInputs } from './slot-filter.ts';
import type { CatalogIndexes, CatalogIndexesOptions } from '../engine/catalog-indexes.ts';
import type { IndexReport, IndexReporter } from '../engine/index-report.ts';

const loadEngine = lazyImport(() => import('./query-engine.ts'));

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

  /** See `answerPage`. */
  answerPage(inputs: ScanInputs, limit: number): MaybePromise<ReturnType<typeof answerPage>> {
    return loadEngine((engine) =>
      engine.answerPage({ ...inputs, indexes: this.#open(engine) }, limit));
  }

  /** See `answerWhole`. */
  answerWhole(inputs: ScanInputs): MaybePromise<ReturnType<typeof answerWhole>> {
    return loadEngine((engine) => engine.answerWhole({ ...inputs, indexes: this.#open(engine) }));
  }

  /** The indexes themselves, for answers about all books. */
  open(): MaybePromise<CatalogIndexes> {
    return loadEngine((engine) => this.#open(engine));
  }

  /** See `CatalogIndexes.fit`. */
  fit(): void {
    this.#indexes?.fit();
  }

  close(): void {
    this.#isClosed = true;
    this.#indexes?.close();
  }

  #open(engine: { readonly CatalogIndexes: typeof CatalogIndexes }): CatalogIndexes {
    this.#indexes ??= new engine.CatalogIndexes(this.#options);
    if (this.#isClosed) this.#indexes.close();
    return this.#indexes;
  }
}
