/**
 * The members of a book that a column of a csv can hold, as the server names them. The build runs
 * this module and puts its export in its place (.ci/computed-data.mjs).
 */
import { CSV_COLUMNS } from '../../../books/transfer/csv-columns.ts';

export const columnNames: readonly string[] = CSV_COLUMNS;
