/**
 * One request as schemes look at it: headers, JSON, form and query, each read at first need and
 * once. Only own members count, and nothing that was sent is ever called.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { findOwnMember, findValueAt, type JsonPath } from '../../../base/json/path.ts';
import { FORM_TYPE, mediaTypeOf, parseForm, type ParsedForm } from './form.ts';
import type { Scheme, ValueSource, ValueSources } from '../scheme/scheme.ts';
import { sortedForm } from './sorted-form.ts';

export type SignedRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The raw query without `?`. */
  readonly search: string;
  readonly body: Buffer;
};

/** The reader of a request whose sender follows that scheme. */
export function readerOf({ payload }: Scheme, request: SignedRequest): RequestReader {
  return new RequestReader(request, typeof payload === 'object' ? payload.formField : null);
}

/** How many steps a path may have, and how many elements `[]` may stand for. */
const STEPS_MAX = 16;
const ELEMENTS_MAX = 1000;
type HeaderSource = Extract<ValueSource, { readonly header: string }>;

/** A source made ready: `name` is a header's in lower case, as Node has it. */
type Place = {
  readonly kind: 'header' | 'form' | 'query' | 'json' | 'every';
  readonly name: string;
  /** Of a path; `every` is one with `[]`. */
  readonly steps: JsonPath;
};

/**
 * Schemes live as long as their webhooks: for each request, to cut a path costs 0.3 µs, and to look
 * a header up by a name that was just made 0.5 µs.
 */
const placeBySource = new WeakMap<ValueSource, Place>();

const BYTE_ORDER_MARK = '\ufeff';

export class RequestReader {
  readonly request: SignedRequest;
  readonly #formField: string | null;
  #json: unknown;
  #isJsonRead = false;
  #form: ParsedForm | null | undefined;
  #sortedForm: string | null = null;
  #isForm: boolean | null = null;
  #query: URLSearchParams | null = null;

  /** `formField`: where a form carries the JSON that `json` sources look into. */
  constructor(request: SignedRequest, formField: string | null = null) {
    this.request = request;
    this.#formField = formField;
  }

  /** The text that stands there; numbers and booleans as JSON has them. null: it is not there. */
  read(sources: ValueSources): string | null {
    if (isList(sources)) {
      for (const source of sources) {
        const text = this.#readOne(source);
        if (text !== null) return text;
      }
      return null;
    }
    return this.#readOne(sources);
  }

  /** Of a path with `[]`, the text of every element; null for one that lacks it. */
  readEvery(source: ValueSource): readonly (string | null)[] {
    const { kind, steps } = placeOf(source);
    if (kind !== 'every') return [this.#readOne(source)];
    return this.#collect(steps).map(textOf);
  }

  /** Whether anything but null stands there. */
  has(source: ValueSource): boolean {
    const { kind, steps } = placeOf(source);
    if (kind === 'json') return isThere(findValueAt(this.json(), steps));
    if (kind !== 'every') return this.#readOne(source) !== null;
    return this.#collect(steps).some(isThere);
  }

  /** How many header lines have that name: Node joins them, or drops all but one. */
  count(source: HeaderSource): number {
    const { name } = placeOf(source);
    const { rawHeaders } = this.request;
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const given = rawHeaders[index] ?? '';
      if (given.length === name.length && given.toLowerCase() === name) count += 1;
    }
    return count;
  }

  /** The body, or the form's field, as JSON; undefined when it is none. */
  json(): unknown {
    if (!this.#isJsonRead) {
      this.#isJsonRead = true;
      this.#json = parseJson(this.#jsonText());
    }
    return this.#json;
  }

  /** null: the body is no form, or one of too many fields. */
  form(): ParsedForm | null {
    if (this.#form === undefined) {
      this.#form = this.isForm() ? parseForm(this.request.body) : null;
    }
    return this.#form;
  }

  /** Names and values as Twilio signs them. */
  sortedForm(): string {
    if (this.#sortedForm === null) {
      const form = this.form();
      this.#sortedForm = form === null ? '' : sortedForm(form);
    }
    return this.#sortedForm;
  }

  isForm(): boolean {
    this.#isForm ??= mediaTypeOf(this.request.headers['content-type']) === FORM_TYPE;
    return this.#isForm;
  }

  #collect(steps: JsonPath): readonly unknown[] {
    const found: unknown[] = [];
    collect(this.json(), steps, found);
    return found;
  }

  #field(name: string): string | null {
    return this.form()?.fields.get(name)?.[0] ?? null;
  }

  #jsonText(): string | null {
    const { body } = this.request;
    if (this.#formField !== null && this.isForm()) return this.#field(this.#formField);
    return isUtf8(body) ? body.toString('utf8') : null;
  }

  #readOne(source: ValueSource): string | null {
    const { kind, name, steps } = placeOf(source);
    switch (kind) {
      case 'header': {
        const value = this.request.headers[name];
        return typeof value === 'string' ? value : null;
      }
      case 'form': return this.#field(name);
      case 'query':
        this.#query ??= new URLSearchParams(this.request.search);
        return this.#query.get(name);
      case 'json': return textOf(findValueAt(this.json(), steps));
      case 'every': return this.readEvery(source)[0] ?? null;
    }
  }
}

function placeOf(source: ValueSource): Place {
  let place = placeBySource.get(source);
  if (place === undefined) {
    place = makePlace(source);
    placeBySource.set(source, place);
  }
  return place;
}

function makePlace(source: ValueSource): Place {
  if ('header' in source) return { kind: 'header', name: source.header.toLowerCase(), steps: [] };
  if ('form' in source) return { kind: 'form', name: source.form, steps: [] };
  if ('query' in source) return { kind: 'query', name: source.query, steps: [] };
  const kind = source.json.includes('[]') ? 'every' : 'json';
  return { kind, name: source.json, steps: source.json.split('.', STEPS_MAX + 1) };
}

function isList(sources: ValueSources): sources is readonly ValueSource[] {
  return Array.isArray(sources);
}

/** What was not looked at, past a limit, is as good as not there: it must not count as right. */
function collect(value: unknown, steps: readonly string[], found: unknown[]): void {
  if (found.length > ELEMENTS_MAX) return;
  if (steps.length > STEPS_MAX || found.length === ELEMENTS_MAX) {
    found.push(undefined);
    return;
  }
  const [step, ...rest] = steps;
  if (step === undefined) {
    found.push(value);
    return;
  }
  const isEvery = step.endsWith('[]');
  const member = findOwnMember(value, isEvery ? step.slice(0, -'[]'.length) : step);
  if (!isEvery) return collect(member, rest, found);
  if (!Array.isArray(member)) {
    found.push(undefined);
    return;
  }
  for (const element of member) {
    if (found.length > ELEMENTS_MAX) return;
    collect(element, rest, found);
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  // A larger one was rounded: it is not what was sent, and two ids could have become one.
  if (typeof value === 'number') {
    return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : null;
  }
  return typeof value === 'boolean' ? String(value) : null;
}

function parseJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
