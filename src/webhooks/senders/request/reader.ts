/**
 * One request as schemes look at it: headers, JSON, form and query, each read at first need and
 * once. Only own members count, and nothing that was sent is ever called.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { memberOf, valueAt, type Path } from '../../../base/json/path.ts';
import { FORM_TYPE, mediaTypeOf, parseForm, sortedFields, type FormFields } from './form.ts';
import type { Scheme, ValueSource, ValueSources } from '../scheme/scheme.ts';

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
type JsonSource = Extract<ValueSource, { readonly json: string }>;

/** Schemes live as long as their webhooks; to cut a path for each request costs 0.3 µs. */
const stepsBySource = new WeakMap<JsonSource, Path>();

const BYTE_ORDER_MARK = '\ufeff';

export class RequestReader {
  readonly request: SignedRequest;
  readonly #formField: string | null;
  #json: unknown;
  #isJsonRead = false;
  #form: FormFields | null | undefined;
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
    if (!('json' in source)) return [this.#readOne(source)];
    const found: unknown[] = [];
    collect(this.json(), source.json.split('.'), found);
    return found.map(textOf);
  }

  /** Whether anything but null stands there. */
  has(source: ValueSource): boolean {
    if (!('json' in source)) return this.#readOne(source) !== null;
    if (!source.json.includes('[]')) return isThere(memberAt(this.json(), source));
    const found: unknown[] = [];
    collect(this.json(), source.json.split('.'), found);
    return found.some(isThere);
  }

  /** How many header lines have that lower-case name: Node joins them, or drops all but one. */
  count(name: string): number {
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
  form(): FormFields | null {
    if (this.#form === undefined) {
      this.#form = this.isForm() ? parseForm(this.request.body) : null;
    }
    return this.#form;
  }

  /** Names and values as Twilio signs them. */
  sortedForm(): string {
    this.#sortedForm ??= sortedFields(this.form() ?? new Map());
    return this.#sortedForm;
  }

  isForm(): boolean {
    this.#isForm ??= mediaTypeOf(this.request.headers['content-type']) === FORM_TYPE;
    return this.#isForm;
  }

  #field(name: string): string | null {
    return this.form()?.get(name)?.[0] ?? null;
  }

  #jsonText(): string | null {
    const { body } = this.request;
    if (this.#formField !== null && this.isForm()) return this.#field(this.#formField);
    return isUtf8(body) ? body.toString('utf8') : null;
  }

  #readOne(source: ValueSource): string | null {
    if ('header' in source) {
      const value = this.request.headers[source.header.toLowerCase()];
      return typeof value === 'string' ? value : null;
    }
    if ('form' in source) return this.#field(source.form);
    if ('query' in source) {
      this.#query ??= new URLSearchParams(this.request.search);
      return this.#query.get(source.query);
    }
    if (source.json.includes('[]')) return this.readEvery(source)[0] ?? null;
    return textOf(memberAt(this.json(), source));
  }
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
  const member = memberOf(value, isEvery ? step.slice(0, -'[]'.length) : step);
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

/** What stands at a path without `[]`. */
function memberAt(value: unknown, source: JsonSource): unknown {
  let steps = stepsBySource.get(source);
  if (steps === undefined) {
    steps = source.json.split('.', STEPS_MAX + 1);
    stepsBySource.set(source, steps);
  }
  return valueAt(value, steps);
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
