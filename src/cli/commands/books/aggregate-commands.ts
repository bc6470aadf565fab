/** The commands that answer about many books at once, such as `book:facets`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { quote } from '../../../base/text/error-message.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import { bookResource } from '../../../books/book-resource.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import type { OptionSpecs } from '../../arguments/option-spec.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { expectObject, toTableColumns } from '../resource-commands.ts';
import { facetOptions, statisticsOptions } from '../route-options.ts';
import { endList, fetchSearched, readItems, writeJson } from './book-commands.ts';

const FACET_COLUMNS = [
  { title: 'FACET', member: 'facet' },
  { title: 'VALUE', member: 'value', widthMin: 12 },
  { title: 'COUNT', member: 'count', fit: 'whole' },
] as const;

/** Prints the service's answer with --json, else a line for each value. */
export async function showFacets(context: CommandContext): Promise<void> {
  checkFacets(context.args.find('by'));
  return showAnswer(context, 'facets', facetOptions, FACET_COLUMNS, listValues);
}

const STATISTICS_COLUMNS = [
  { title: 'VALUE', member: 'value', widthMin: 12 },
  { title: 'BOOKS', member: 'books', fit: 'whole' },
  { title: 'PAGES', member: 'pages', fit: 'whole' },
  { title: 'MEAN RATING', member: 'meanRating', fit: 'whole' },
] as const;

/** Prints the service's answer with --json, else its rows. */
export function showStatistics(context: CommandContext): Promise<void> {
  return showAnswer(context, 'statistics', statisticsOptions, STATISTICS_COLUMNS,
    ({ rows = null }) => Array.isArray(rows) ? rows.map(expectObject) : []);
}

async function showAnswer(
  context: CommandContext, name: string, options: OptionSpecs,
  columns: ListedResource['columns'], listRows: (answer: JsonObject) => readonly JsonObject[],
): Promise<void> {
  const { output } = context;
  const query = new URLSearchParams();
  setQueryOptions(query, context, options);
  const answer = await fetchSearched(context, `${bookResource.path}/${name}?${query}`);
  if (output.isJson) await output.json(answer);
  else await output.list(listRows(answer), toTableColumns({ columns }), 'no books');
}

/** Throws `usage` for a name that is no facet. */
function checkFacets(by: string | undefined): void {
  const names = facetOptions['by']?.suggests ?? [];
  const unknown = by?.split(',').find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new AppError('usage',
    `--by must be some of ${names.join(', ')}, by commas, not ${quote(unknown)}`
    + didYouMean(unknown, names));
}

const DUPLICATE_COLUMNS = [
  { title: 'GROUP', member: 'group', fit: 'whole' },
  ...bookResource.columns.filter(({ member }) => member !== 'datePublished'),
  { title: 'UPDATED', member: 'updatedAt', form: 'time', importance: 2 },
] as const;

/** Prints the groups as they arrive; those of one group have its number. */
export async function listDuplicates(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const apiClient = await context.openApiClient();
  const query = new URLSearchParams({ by: args.get('by') });
  const response = await apiClient.stream({
    method: 'GET', path: `${bookResource.path}/duplicates?${query}`,
  });
  const table = output.table(toTableColumns({ columns: DUPLICATE_COLUMNS }));
  let count = 0;
  try {
    for await (const jsonBuffers of readItems(response)) {
      const groups = jsonBuffers.map((json) => expectObject(parseJsonText(json.toString())));
      const rows = groups.flatMap((group, index) => listBooksOf(group, count + index + 1));
      if (output.isJson) await writeJson(context, groups, count === 0);
      else await output.write(`${table.formatRows(rows).join('\n')}\n`);
      count += groups.length;
      if (output.isClosed) break;
    }
  } finally {
    // Unread bytes would keep the connection open, and with it this process.
    response.destroy();
  }
  await endList(context, count, 'no duplicates');
}

function listBooksOf({ books = null }: JsonObject, group: number): readonly JsonObject[] {
  return Array.isArray(books) ? books.map((book) => ({ group, ...expectObject(book) })) : [];
}

/** A row for each value of each facet. */
function listValues({ facets = null }: JsonObject): readonly JsonObject[] {
  if (!isJsonObject(facets)) return [];
  return Object.entries(facets).flatMap(([facet, values]) => Array.isArray(values)
    ? values.map((value) => ({ facet, ...expectObject(value) })) : []);
}
