/** The commands that answer about many books at once: `book:facets`. */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { bookResource } from '../../../books/book-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { parseObject, toTableColumns } from '../resource-commands.ts';
import { FILTER_OPTIONS } from './book-commands.ts';

const FACET_COLUMNS = [
  { title: 'FACET', member: 'facet' },
  { title: 'VALUE', member: 'value', widthMin: 12 },
  { title: 'COUNT', member: 'count', fit: 'whole' },
] as const;

/** Prints the service's answer with --json, else a line for each value. */
export async function showFacets(context: CommandContext): Promise<number> {
  const { output } = context;
  const query = new URLSearchParams();
  setQueryOptions(query, context, ['by', ...FILTER_OPTIONS]);
  const apiClient = await context.openApiClient();
  const { body } = await apiClient.request({
    method: 'GET', path: `${bookResource.path}/facets?${query}`,
  });
  const columns = toTableColumns({ columns: FACET_COLUMNS });
  if (output.isJson) await output.json(body);
  else await output.list(listValues(parseObject(body)), columns, 'no books');
  return 0;
}

/** A row for each value of each facet. */
function listValues({ facets = null }: JsonObject): readonly JsonObject[] {
  if (!isJsonObject(facets)) return [];
  return Object.entries(facets).flatMap(([facet, values]) => Array.isArray(values)
    ? values.map((value) => ({ facet, ...parseObject(value) })) : []);
}
