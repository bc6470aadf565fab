/**
 * The facts that filters are evaluated with: those of a request, of an event and its payload, or of
 * a response. Facts that no condition reads are neither decoded nor parsed. Pure.
 */
import { ScalarSet, isSameScalar } from '../../../base/exact-number.ts';
import { findValueAt, parsePath } from '../../../base/json/path.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { findParts } from '../../../base/text/find-parts.ts';
import { holdsText } from '../../../base/text/holds-text.ts';
import { quote } from '../../../base/text/error-message.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import type { Steps } from '../../../base/turns.ts';

export const SOURCES = ['payload', 'headers', 'query', 'event', 'method'] as const;
export const RESPONSE_SOURCES = ['status', 'body'] as const;
export type FactSource = (typeof SOURCES)[number] | (typeof RESPONSE_SOURCES)[number];

type FactsInput = {
  /** Called at most once. The payload of a response is its body. */
  readonly payload: () => unknown;
  /** Called at most once; null: unknown. */
  readonly event: () => string | null;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw query without `?`. */
  readonly query?: string;
  readonly method?: string;
  readonly status?: number;
};

/** The comparison of a `contains`: the only one that takes longer the more the sender sends. */
export type ContainsTest = { readonly read: FactReader; readonly value: JsonValue | undefined };

const ELEMENTS_STEP = 1000;

export class Facts {
  readonly #input: FactsInput;
  #payload: unknown;
  #isPayloadRead = false;
  #event: string | null | undefined;
  #query: URLSearchParams | null = null;
  /** The elements of each array that was searched more than once; null: once. */
  #elements: Map<readonly unknown[], ScalarSet | null> | null = null;
  #searchResults: Map<ContainsTest, boolean> | null = null;

  constructor(input: FactsInput) {
    this.#input = input;
  }

  payload(): unknown {
    if (!this.#isPayloadRead) {
      this.#isPayloadRead = true;
      this.#payload = this.#input.payload();
    }
    return this.#payload;
  }

  event(): string | undefined {
    if (this.#event === undefined) this.#event = this.#input.event();
    return this.#event ?? undefined;
  }

  get method(): string | undefined {
    return this.#input.method;
  }

  get status(): number | undefined {
    return this.#input.status;
  }

  /** `name` is in lower case. */
  header(name: string): unknown {
    const { headers = {} } = this.#input;
    return Object.hasOwn(headers, name) ? headers[name] : undefined;
  }

  /** The first value of that name. */
  queryValue(name: string): string | undefined {
    this.#query ??= new URLSearchParams(this.#input.query ?? '');
    return this.#query.get(name) ?? undefined;
  }

  /** Whether the search finds its value as an element of an array, or as a part of a text. */
  isFound(search: ContainsTest): boolean {
    return this.#searchResults?.get(search) ?? this.#search(search);
  }

  /** Makes searches ahead, in steps of a few milliseconds; `isFound` then gives their results. */
  *searchAhead(searches: readonly ContainsTest[]): Steps<void> {
    const results = new Map<ContainsTest, boolean>();
    const partsByText = new Map<string, Map<ContainsTest, string>>();
    for (const search of searches) {
      const { read, value } = search;
      const actual = read(this);
      if (typeof actual === 'string' && typeof value === 'string') {
        const parts = partsByText.get(actual) ?? new Map<ContainsTest, string>();
        partsByText.set(actual, parts.set(search, value));
        continue;
      }
      if (Array.isArray(actual)) yield* this.#gatherElements(actual);
      results.set(search, this.#search(search));
      yield;
    }
    for (const [text, parts] of partsByText) yield* searchText(text, parts, results);
    this.#searchResults = results;
  }

  #search({ read, value }: ContainsTest): boolean {
    const actual = read(this);
    if (Array.isArray(actual)) return this.#isElement(actual, value);
    return typeof actual === 'string' && typeof value === 'string' && holdsText(actual, value);
  }

  *#gatherElements(array: readonly unknown[]): Steps<void> {
    this.#elements ??= new Map();
    if (this.#elements.has(array)) return;
    const elements = new ScalarSet();
    for (const [index, element] of array.entries()) {
      elements.add(element);
      if (index % ELEMENTS_STEP === 0) yield;
    }
    this.#elements.set(array, elements);
  }

  /**
   * Whether an array of the payload has this text, number, boolean or null as an element. The
   * sender makes the array, and a thousand conditions may ask for it: only the first walks the
   * array.
   */
  #isElement(array: readonly unknown[], value: unknown): boolean {
    this.#elements ??= new Map();
    const cachedElements = this.#elements.get(array);
    if (cachedElements === undefined) {
      this.#elements.set(array, null);
      return array.some((element) => isSameScalar(element, value));
    }
    const elements = cachedElements ?? new ScalarSet(array);
    this.#elements.set(array, elements);
    return elements.has(value);
  }
}

/** With fewer parts a pass for each of them is faster than one for all. */
const PARTS_MIN = 8;

/** Adds to `results` which parts a text holds. */
function* searchText(
  text: string, parts: ReadonlyMap<ContainsTest, string>, results: Map<ContainsTest, boolean>,
): Steps<void> {
  const distinctParts = new Set(parts.values());
  const find = distinctParts.size < PARTS_MIN ? findPartsOneByOne : findParts;
  const heldParts = yield* find(text, distinctParts);
  for (const [search, part] of parts) results.set(search, heldParts.has(part));
}

function* findPartsOneByOne(text: string, parts: ReadonlySet<string>): Steps<ReadonlySet<string>> {
  const heldParts = new Set<string>();
  for (const part of parts) {
    if (holdsText(text, part)) heldParts.add(part);
    yield;
  }
  return heldParts;
}

/** Reads the value at a path; undefined: there is none. */
export type FactReader = (facts: Facts) => unknown;

/** Never throws: an invalid path (see `findPathProblem`) reads nothing. */
export function createFactReader(path: string): FactReader {
  const { source, rest } = splitPath(path);
  switch (source) {
    case 'payload':
    case 'body': {
      const steps = rest === null ? [] : parsePath(rest);
      return steps === null ? () => undefined : (facts) => findValueAt(facts.payload(), steps);
    }
    case 'headers': {
      const name = (rest ?? '').toLowerCase();
      return (facts) => facts.header(name);
    }
    case 'query': return (facts) => facts.queryValue(rest ?? '');
    case 'event': return (facts) => facts.event();
    case 'method': return (facts) => facts.method;
    case 'status': return (facts) => facts.status;
    default: return () => undefined;
  }
}

/** Why a path is invalid, as a clause; null: it is valid. */
export function findPathProblem(path: string, sources: readonly string[]): string | null {
  const { source, rest } = splitPath(path);
  if (source.includes('[')) {
    return 'must have indexes as steps: payload.0.name, not payload[0].name';
  }
  if (!sources.includes(source)) {
    const last = sources.at(-1) ?? '';
    return `must begin with ${sources.slice(0, -1).join(', ')} or ${last}, not ${quote(source)}`
      + didYouMean(source, sources);
  }
  if (['event', 'method', 'key', 'status'].includes(source)) {
    return rest === null ? null : `must be ${source} alone, which has no members`;
  }
  if (source === 'payload' || source === 'body') {
    return rest === null || parsePath(rest) !== null ? null
      : 'must not have an empty step: member names and indexes are joined by single dots';
  }
  return rest !== null && rest !== '' ? null
    : `must name one, such as ${source === 'query' ? 'query.page' : 'headers.x-github-event'}`;
}

function splitPath(path: string): { readonly source: string; readonly rest: string | null } {
  const dot = path.indexOf('.');
  return dot === -1 ? { source: path, rest: null }
    : { source: path.slice(0, dot), rest: path.slice(dot + 1) };
}
