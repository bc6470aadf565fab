/** The query of a search: the parameters `q` and `where`, and the test of a record against them. */
import { AppError, messageOf, type FieldError } from '../../base/errors.ts';
import type { JsonObject, MemberOption, MemberSchema } from '../../base/schema.ts';
import type { Steps } from '../../base/turns.ts';
import type { Word } from '../../base/text/words.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { splitParameter } from '../../server/query.ts';
import { TEXT, arraySchema } from '../../resources/route-specs.ts';
import type { ContainsTest, Facts, FactSource } from '../members/filters/facts.ts';
import { prepareCondition, type Predicate } from '../members/filters/prepare-condition.ts';
import { createByteFilter, type ByteFilter } from './byte-filter.ts';
import { listPayloadTexts } from './payload-texts.ts';
import { MissingWords, parseSearchWords } from './search-words.ts';
import { WHERE_MAX, parseWhere } from './where-parameter.ts';

/** A record that a search looks at. Most are never decoded. */
export type SearchedRecord<Item> = {
  /** All that is searched, as it is stored; null: it is not stored, so it is always decoded. */
  readonly encodedParts: readonly Buffer[] | null;
  readonly read: () => SearchedContent;
  readonly decode: () => Item;
};

export type SearchedContent = {
  /** The ids that we have given: a word of eight or more characters finds them. */
  readonly ids: readonly string[];
  /** The texts beside the payload that are searched for words. */
  readonly texts: Iterable<string>;
  readonly readPayload: () => Buffer | null;
  readonly createFacts: () => Facts;
};

export type SearchQuery = {
  /** null: nothing has the text that is searched for. */
  readonly words: readonly Word[] | null;
  readonly predicates: readonly Predicate[];
  /** The `contains` of the conditions, which are tested ahead in steps. */
  readonly containsTests: readonly ContainsTest[];
  readonly mayMatch: ByteFilter;
};

const WHERE_LENGTH_MAX = 8000;

const whereOption: MemberOption = {
  placeholder: '<condition>',
  help: 'for which this holds, such as payload.customer.id=42; repeatable',
};

export const SEARCH_PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'q', in: 'query', schema: TEXT,
    option: { placeholder: '<words>' },
    description: 'Only those with all these words, or beginnings of words, in their payload. Makes '
      + 'the list a search, with `X-Search-Complete`',
  },
  {
    name: 'where', in: 'query', schema: arraySchema(TEXT), option: whereOption,
    description: 'Only those for which this holds: `payload.customer.id=42`, or a condition as '
      + 'JSON; up to ten times. Makes the list a search, with `X-Search-Complete`',
  },
];

export type SearchParameters = {
  /** The text of `q`; empty: it asks for nothing. */
  readonly text: string;
  readonly conditions: readonly string[];
  /** Names and values of `q` and `where` as they came, for the link to the next page. */
  readonly parameters: readonly (readonly [string, string])[];
  /** The raw query of the other parameters. */
  readonly rest: string;
};

/** Takes `q` and `where` out of a raw query. Throws `malformed`. */
export function splitSearchParameters(search: string): SearchParameters {
  const q = splitParameter(search, 'q');
  const where = splitParameter(q.rest, 'where');
  if (q.values.length > 1) {
    throw new AppError('malformed', 'the query parameter `q` stands twice: a search for several '
      + 'words has them in one');
  }
  const parameters = [
    ...q.values.map((value) => ['q', value] as const),
    ...where.values.map((value) => ['where', value] as const),
  ];
  const [text = ''] = q.values;
  return { text: text.trim(), conditions: where.values, parameters, rest: where.rest };
}

/** `sources` are those that records of the list have. Throws `malformed`. */
export function parseSearchQuery(
  { text, conditions: conditionTexts }: Pick<SearchParameters, 'text' | 'conditions'>,
  sources: readonly FactSource[],
): SearchQuery {
  const conditions = parseWhere(conditionTexts, sources);
  const words = parseSearchWords(text);
  const containsTests: ContainsTest[] = [];
  const predicates = conditions.map((condition) => prepareCondition(condition, containsTests));
  const mayMatch = createByteFilter(words ?? [], conditions);
  return { words, predicates, containsTests, mayMatch };
}

/** The member `where` of a body that chooses records, as the parameter of a list does. */
export const whereMember: MemberSchema = {
  schema: {
    kind: 'array', maxItems: WHERE_MAX,
    items: { kind: 'string', minLength: 1, maxLength: WHERE_LENGTH_MAX },
  },
  description: 'Only those for which all of these hold: `payload.customer.id=42`, or a condition '
    + 'as JSON, in a string',
  option: whereOption,
};

export function findWhereProblems(
  body: JsonObject, sources: readonly FactSource[],
): readonly FieldError[] {
  try {
    parseWhere(readWhere(body), sources);
    return [];
  } catch (thrown) {
    return [{ pointer: '/where', detail: messageOf(thrown) }];
  }
}

function readWhere({ where }: JsonObject): readonly string[] {
  return Array.isArray(where) ? where.map(String) : [];
}

/** Tells by steps whether the conditions hold for a record. */
type RecordTest = (record: SearchedRecord<unknown>) => Steps<boolean>;

/** Makes the test of the `where` of a body, which was checked before; null: it has none. */
export function prepareWhere(
  body: JsonObject, sources: readonly FactSource[],
): RecordTest | null {
  const conditions = readWhere(body);
  if (conditions.length === 0) return null;
  const query = parseSearchQuery({ text: '', conditions }, sources);
  return function* test(record) {
    const { encodedParts } = record;
    if (encodedParts !== null && !query.mayMatch(encodedParts)) return false;
    return yield* matchesRecord([], query, record);
  };
}

const TEXTS_PER_STEP = 200;
const LENGTH_PER_STEP = 1 << 16;

/** Whether a record that may match does: `words` are those of the query. Takes steps if large. */
export function* matchesRecord<Item>(
  words: readonly Word[],
  { predicates, containsTests }: Pick<SearchQuery, 'predicates' | 'containsTests'>,
  record: SearchedRecord<Item>,
): Steps<boolean> {
  const content = record.read();
  if (words.length > 0 && !(yield* hasWords(words, content))) return false;
  if (predicates.length === 0) return true;
  const facts = content.createFacts();
  yield* facts.searchAhead(containsTests);
  return predicates.every((predicate) => predicate(facts));
}

function* hasWords(
  words: readonly Word[], { ids, texts: otherTexts, readPayload }: SearchedContent,
): Steps<boolean> {
  const missing = new MissingWords(words);
  for (const id of ids) missing.lookIntoId(id);
  for (const text of otherTexts) missing.lookInto(text);
  if (missing.isEmpty) return true;
  const payload = readPayload();
  if (payload === null) return false;
  let texts = 0;
  let length = 0;
  for (const text of listPayloadTexts(payload)) {
    missing.lookInto(text);
    if (missing.isEmpty) return true;
    texts += 1;
    length += text.length;
    if (texts < TEXTS_PER_STEP && length < LENGTH_PER_STEP) continue;
    [texts, length] = [0, 0];
    yield;
  }
  return false;
}
