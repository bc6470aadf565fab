/** The commands `book:list`, `book:add` and `book:update`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption } from '../option-input.ts';
import { setQueryOptions } from '../option-members.ts';
import { bookListOptions } from '../route-options.ts';
import { formatPrintableJson } from '../../terminal/output.ts';
import {
  LIST_LIMIT_MAX, createRecord, expectObject, formatValue, patchRecord, readPages, resolveId,
  toTableColumns,
} from '../resource-commands.ts';
import { bookSchema } from '../../../books/book.ts';
import { bookResource } from '../../../books/book-resource.ts';
import { JsonSplitter } from '../../../books/transfer/json-splitter.ts';
import type { SplitElement } from '../../../books/transfer/json-splitter.ts';

const PAGE_SIZE = 500;

/**
 * Prints the books page by page: a list of any length starts at once, and fits in memory. With
 * --explain it prints how their first page is found.
 */
export async function listBooks(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const limit = args.integer('limit', 1, LIST_LIMIT_MAX) ?? Infinity;
  if (args.has('explain')) return showPlan(context, limit);
  const apiClient = await context.openApiClient();
  const table = output.table(toTableColumns({ columns: selectColumns(args.find('fields')) }));
  let count = 0;
  let isFirstPage = true;
  const pages = readPages(apiClient, buildListPath(context, limit));
  for await (const { records, corrections } of pages) {
    // Every page has the corrections of the first.
    if (isFirstPage && corrections !== null) output.note(explainCorrections(corrections));
    isFirstPage = false;
    const books = records.slice(0, limit - count);
    if (output.isJson) await writeJson(context, books, count === 0);
    else if (books.length > 0) await output.write(`${table.formatRows(books).join('\n')}\n`);
    count += books.length;
    if (count >= limit || output.isClosed) break;
  }
  await endList(context, count, 'no books');
}

export async function addBook(context: CommandContext): Promise<void> {
  const { bytes } = await readJsonOption(context, 'input', { inlineSecrets: 'accepted' });
  const book = await createRecord(context, bookResource, bytes);
  await context.output.result(book,
    `added book ${formatValue(book['id'])}: ${formatValue(book['title'])}`);
}

export async function updateBook(context: CommandContext): Promise<void> {
  const { bytes, value } = await readJsonOption(context, 'input', { inlineSecrets: 'accepted' });
  if (!isJsonObject(value)) throw new AppError('invalid', '--input must be a JSON object');
  const id = await resolveId(context, bookResource);
  const book = await patchRecord(context, bookResource, id, bytes);
  await context.output.result(book, `updated book ${id}: ${formatValue(book['title'])}`);
}

async function showPlan(context: CommandContext, limit: number): Promise<void> {
  await context.output.object(await fetchSearched(context, buildListPath(context, limit)));
}

/** Fetches the object that a search answers, and tells people which words were corrected. */
export async function fetchSearched(context: CommandContext, path: string): Promise<JsonObject> {
  const apiClient = await context.openApiClient();
  const { body, headers } = await apiClient.request({ method: 'GET', path });
  const corrections = headers['x-search-corrected'];
  if (typeof corrections === 'string') context.output.note(explainCorrections(corrections));
  return expectObject(body);
}

/** The columns of the members that `--fields` names, in the order of the model. */
function selectColumns(fields: string | undefined): typeof bookResource.columns {
  if (fields === undefined) return bookResource.columns;
  const names = new Set(['id', ...fields.split(',')]);
  return Object.keys(bookSchema.members).filter((member) => names.has(member)).map((member) =>
    bookResource.columns.find((column) => column.member === member)
      ?? { title: member.replace(/(?=[A-Z])/g, ' ').toUpperCase(), member });
}

/** Tells people of the value of `X-Search-Corrected`. */
function explainCorrections(corrections: string): string {
  const pairs = corrections.split(', ').map((pair) => {
    const [word = '', correction = ''] = pair.split('=').map(decodeURIComponent);
    return `"${correction}" instead of "${word}"`;
  });
  return `searched for ${pairs.join(' and ')}; --typos off searches for the words as they are`;
}

function buildListPath(context: CommandContext, limit: number): string {
  const query = new URLSearchParams();
  setQueryOptions(query, context, bookListOptions);
  query.set('limit', String(Math.min(limit, PAGE_SIZE)));
  return `${bookResource.path}?${query}`;
}

/** Writes a page as a part of one JSON array, which `endList` closes. */
export async function writeJson(
  { output }: CommandContext, items: readonly JsonObject[], isFirst: boolean,
): Promise<void> {
  if (items.length === 0) return;
  const lines = items.map((item) => formatPrintableJson(item)).join(',\n');
  await output.write(`${isFirst ? '[\n' : ',\n'}${lines}`);
}

/** Ends a list of `count` items: closes the array of `writeJson`, or tells people of no item. */
export async function endList(
  { output }: CommandContext, count: number, emptyText: string,
): Promise<void> {
  if (output.isJson) await output.write(count === 0 ? '[]\n' : '\n]\n');
  else if (count === 0) await output.line(emptyText);
}

/**
 * The items of the list that the service answers, each as JSON, some at a time. Throws
 * `unavailable` where the list is cut short: what has come of it must not pass for the whole.
 */
export async function* readItems(
  response: AsyncIterable<Buffer>,
): AsyncGenerator<readonly Buffer[]> {
  const splitter = new JsonSplitter();
  for await (const chunk of assertBegun(response)) {
    const items = splitter.push(chunk).map(toItem);
    if (items.length > 0) yield items;
  }
  const rest = splitter.end().map(toItem);
  if (rest.length > 0) yield rest;
}

function toItem({ line, json, problem }: SplitElement): Buffer {
  if (json === undefined) throw createCutError(`line ${line}: ${problem}`);
  return json;
}

/** Throws `unavailable` where nothing comes: a reader of JSON takes that for no items. */
async function* assertBegun(response: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isBegun = false;
  for await (const chunk of response) {
    isBegun ||= chunk.length > 0;
    yield chunk;
  }
  if (!isBegun) throw createCutError('it is empty');
}

function createCutError(problem: string): AppError {
  return new AppError('unavailable', `the answer is no whole list: ${problem}`);
}
