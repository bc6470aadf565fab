/** What a query needs that is answered by indexes, as one module that can be loaded lazily. */
export { answerPage } from './answer-page.ts';
export { answerWhole } from './answer-whole.ts';
export { CatalogIndexes } from '../engine/catalog-indexes.ts';
