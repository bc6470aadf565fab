/** The routes that answer about many books at once. Their paths are no book's, as ids are UUIDs. */
import type { Schema } from '../../base/schema.ts';
import {
  TEXT, arraySchema, jsonResponse, objectSchema,
} from '../../resources/route-specs.ts';
import type { Handler, HttpRoute } from '../../server/http-route.ts';
import { problemResponses } from '../../server/problem.ts';
import { RATING_MAX, bookSchema } from '../book.ts';
import { bookResource } from '../book-resource.ts';
import {
  DUPLICATE_MEMBERS, correctionHeaders, duplicatesParameter, facetParameters,
  statisticsParameters, typosParameter,
} from '../query/query-parameters.ts';
import { FACET_NAMES, STATISTIC_NAMES } from '../query/conditions.ts';

/** The handlers of these routes. */
export type Aggregates = {
  readonly sendFacets: Handler; readonly sendStatistics: Handler;
  readonly sendSuggestions: Handler; readonly sendDuplicates: Handler;
};

const COUNT: Schema = { kind: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

const facetsSchema = objectSchema('BookFacets', {
  total: { ...COUNT, minimum: 0 },
  facets: objectSchema('FacetValues', Object.fromEntries(FACET_NAMES.map((facet) => [
    facet, arraySchema(objectSchema('FacetValue', { value: TEXT, count: COUNT })),
  ])), { optional: FACET_NAMES }),
});

const statisticsSchema = objectSchema('BookStatistics', {
  by: { kind: 'string', values: STATISTIC_NAMES },
  total: { ...COUNT, minimum: 0 },
  rows: arraySchema(objectSchema('BookStatisticsRow', {
    value: TEXT, books: COUNT, pages: { ...COUNT, minimum: 0 },
    meanRating: { kind: 'number', minimum: 0, maximum: RATING_MAX },
  }, { nullable: ['value', 'meanRating'] })),
});

const suggestionSchema = objectSchema('BookSuggestion', {
  member: { kind: 'string', values: ['title', 'authors', 'keywords'] }, value: TEXT, count: COUNT,
});

const duplicatesSchema = objectSchema('DuplicateBooks', {
  books: arraySchema({
    kind: 'object', name: 'DuplicateBook',
    members: Object.fromEntries(Object.entries(bookSchema.members).filter(([name]) =>
      DUPLICATE_MEMBERS.includes(name))),
  }),
});

export function aggregateRoutes(aggregates: Aggregates): readonly HttpRoute[] {
  return [
    facetsRoute(aggregates), statisticsRoute(aggregates), suggestionsRoute(aggregates),
    duplicatesRoute(aggregates),
  ];
}

function facetsRoute({ sendFacets }: Aggregates): HttpRoute {
  return {
    method: 'GET',
    path: `${bookResource.path}/facets`,
    operationId: 'countBookFacets',
    summary: 'How many of the books that match have each author, keyword, language and so on',
    access: 'read',
    parameters: facetParameters,
    responses: [
      {
        ...jsonResponse('The 20 most frequent values of each, and how many books match; a facet '
          + 'ignores its own filter', facetsSchema),
        headers: correctionHeaders,
      },
      ...problemResponses(400, 503),
    ],
    handle: sendFacets,
  };
}

function statisticsRoute({ sendStatistics }: Aggregates): HttpRoute {
  return {
    method: 'GET',
    path: `${bookResource.path}/statistics`,
    operationId: 'countBooksRead',
    summary: 'How many books were read in each year, month and so on, their pages and ratings',
    access: 'read',
    parameters: statisticsParameters,
    responses: [
      {
        ...jsonResponse('A row for each value that a book has, rising; `null`, for those without '
          + 'one, is last', statisticsSchema),
        headers: correctionHeaders,
      },
      ...problemResponses(400, 503),
    ],
    handle: sendStatistics,
  };
}

function suggestionsRoute({ sendSuggestions }: Aggregates): HttpRoute {
  return {
    method: 'GET',
    path: `${bookResource.path}/suggest`,
    operationId: 'suggestBooks',
    summary: 'Titles, authors and keywords for what somebody has typed',
    access: 'read',
    parameters: [{
      name: 'q', in: 'query', isRequired: true, schema: { kind: 'string', minLength: 1 },
      description: 'The beginning of a title, of a keyword, or of words in an author\'s name.',
    }, typosParameter],
    responses: [
      {
        ...jsonResponse('Up to ten, those of most books first', arraySchema(suggestionSchema)),
        headers: correctionHeaders,
      },
      ...problemResponses(400, 503),
    ],
    handle: sendSuggestions,
  };
}

function duplicatesRoute({ sendDuplicates }: Aggregates): HttpRoute {
  return {
    method: 'GET',
    path: `${bookResource.path}/duplicates`,
    operationId: 'listDuplicateBooks',
    summary: 'Books that have the same ISBN, or the same title and first author, in groups',
    access: 'read',
    parameters: [duplicatesParameter],
    responses: [
      jsonResponse('The groups, streamed, in the order of their least ids', arraySchema(
        duplicatesSchema)),
      ...problemResponses(400, 503),
    ],
    handle: sendDuplicates,
  };
}
