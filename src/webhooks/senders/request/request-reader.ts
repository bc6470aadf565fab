/**
 * Reads the values of a request that schemes name: headers, JSON, form and query. Each is parsed
 * when it is first needed, and once, from the plain body. Only own members count, and no member is
 * ever called.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonNumber } from '../../../base/exact-number.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import { findOwnMember, findValueAt, type JsonPath } from '../../../base/json/path.ts';
import {
  FORM_TYPE, parseMediaType, parseForm, toUtf8, type FormFields,
} from '../../../base/text/parse-form.ts';
import { readCloudEvent, type CloudEventHead } from './cloud-event.ts';
import { isMultipartType, parseMultipart, type MultipartFields } from './parse-multipart.ts';
import { PLAIN_BYTES_MAX, decodeBody, isDecoded, type PlainBody } from './plain-body.ts';
import {
  toSourceList, type Scheme, type ValueSource, type ValueSources,
} from '../scheme/scheme.ts';

export type RawRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The raw query without `?`. */
  readonly search: string;
  readonly body: Buffer;
  /** The limit of the plain body; absent: `PLAIN_BYTES_MAX`. */
  readonly plainBytesMax?: number;
};

export function createRequestReader(
  { payload }: Pick<Scheme, 'payload'>, request: RawRequest,
): RequestReader {
  return new RequestReader(request, typeof payload === 'object' ? payload.formField : null);
}

/** Limits of the steps of a path, and of the elements that `[]` may stand for. */
const STEPS_MAX = 16;
const ELEMENTS_MAX = 1000;
type HeaderSource = Extract<ValueSource, { readonly header: string }>;

/** A compiled source: `name` is a header's in lower case, as Node has it. */
type CompiledSource = {
  readonly kind: 'header' | 'form' | 'query' | 'json' | 'every' | 'cloudEvent';
  readonly name: string;
  /** The steps of a path; the kind `every` has a step with `[]`. */
  readonly steps: JsonPath;
};

/**
 * Sources are compiled once, as schemes live as long as their webhooks: cutting a path takes 0.3
 * µs, and finding a header by a name that was just made 0.5 µs.
 */
const compiledSources = new WeakMap<ValueSource, CompiledSource>();

const BYTE_ORDER_MARK = '\ufeff';

export class RequestReader {
  readonly request: RawRequest;
  readonly #formField: string | null;
  #plainBody: PlainBody | null = null;
  #json: unknown;
  #isJsonRead = false;
  #form: FormFields | null | undefined;
  #multipart: MultipartFields | null | undefined;
  #cloudEvent: CloudEventHead | null = null;
  #sortedForm: string | null = null;
  #isForm: boolean | null = null;
  #query: URLSearchParams | null = null;

  /** `formField` is the field of a form that holds the JSON of `json` sources. */
  constructor(request: RawRequest, formField: string | null = null) {
    this.request = request;
    this.#formField = formField;
  }

  /** The text of the first source that has one; numbers and booleans as in JSON. null: none has. */
  read(sources: ValueSources): string | null {
    for (const source of toSourceList(sources)) {
      const text = this.#readOne(source);
      if (text !== null) return text;
    }
    return null;
  }

  /** The text of every element of a path with `[]`; null for an element that lacks it. */
  readEvery(source: ValueSource): readonly (string | null)[] {
    const { kind, steps } = getCompiledSource(source);
    if (kind !== 'every') return [this.#readOne(source)];
    return this.#collectEvery(steps).map(formatScalar);
  }

  /** Whether the source has a value other than null. */
  has(source: ValueSource): boolean {
    const { kind, steps } = getCompiledSource(source);
    if (kind === 'json') return isPresent(findValueAt(this.json(), steps));
    if (kind !== 'every') return this.#readOne(source) !== null;
    return this.#collectEvery(steps).some(isPresent);
  }

  /** The number of header lines of that name: Node joins them, or drops all but one. */
  countHeaderLines(source: HeaderSource): number {
    const { name } = getCompiledSource(source);
    const { rawHeaders } = this.request;
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const rawName = rawHeaders[index] ?? '';
      if (rawName.length === name.length && rawName.toLowerCase() === name) count += 1;
    }
    return count;
  }

  plainBody(): PlainBody {
    const { body, headers, plainBytesMax = PLAIN_BYTES_MAX } = this.request;
    this.#plainBody ??= decodeBody(body, headers['content-encoding'], plainBytesMax);
    return this.#plainBody;
  }

  /** The body, or the form's field, as JSON; undefined: it is no JSON. */
  json(): unknown {
    if (!this.#isJsonRead) {
      this.#isJsonRead = true;
      this.#json = parseJsonIfValid(this.#readJsonText());
    }
    return this.#json;
  }

  /** The body as a form; null: it is none, or has too many fields. */
  form(): FormFields | null {
    if (this.#form === undefined) {
      const body = this.plainBody();
      this.#form = this.isForm() && isDecoded(body)
        ? parseForm(body, this.request.headers['content-type']) : null;
    }
    return this.#form;
  }

  /** The fields and files of a multipart body; null: it is none, or not valid. */
  multipart(): MultipartFields | null {
    if (this.#multipart === undefined) {
      const contentType = this.request.headers['content-type'];
      const body = this.plainBody();
      this.#multipart = isMultipartType(contentType) && isDecoded(body)
        ? parseMultipart(body, contentType) : null;
    }
    return this.#multipart;
  }

  cloudEvent(): CloudEventHead {
    this.#cloudEvent ??= readCloudEvent(this.request.headers, () => this.json());
    return this.#cloudEvent;
  }

  sortedForm(): string {
    if (this.#sortedForm === null) {
      const form = this.form();
      this.#sortedForm = form === null ? '' : sortForm(form);
    }
    return this.#sortedForm;
  }

  isForm(): boolean {
    this.#isForm ??= parseMediaType(this.request.headers['content-type']) === FORM_TYPE;
    return this.#isForm;
  }

  #collectEvery(steps: JsonPath): readonly unknown[] {
    const values: unknown[] = [];
    collectValues(this.json(), steps, values);
    return values;
  }

  #readField(name: string): string | null {
    const fields = this.isForm() ? this.form() : this.multipart();
    const value = fields?.get(name)?.[0];
    return typeof value === 'string' ? value : null;
  }

  #readJsonText(): string | null {
    const isForm = this.isForm() || isMultipartType(this.request.headers['content-type']);
    if (this.#formField !== null && isForm) return this.#readField(this.#formField);
    const body = this.plainBody();
    const text = isDecoded(body) ? toUtf8(body, this.request.headers['content-type']) : null;
    return text !== null && isUtf8(text) ? text.toString('utf8') : null;
  }

  #readOne(source: ValueSource): string | null {
    const { kind, name, steps } = getCompiledSource(source);
    switch (kind) {
      case 'header': {
        const value = this.request.headers[name];
        return typeof value === 'string' ? value : null;
      }
      case 'form': return this.#readField(name);
      case 'query':
        this.#query ??= new URLSearchParams(this.request.search);
        return this.#query.get(name);
      case 'json': return formatScalar(findValueAt(this.json(), steps));
      case 'cloudEvent': return this.cloudEvent()[name === 'id' ? 'id' : 'type'];
      case 'every': return this.readEvery(source)[0] ?? null;
    }
  }
}

function getCompiledSource(source: ValueSource): CompiledSource {
  let compiledSource = compiledSources.get(source);
  if (compiledSource === undefined) {
    compiledSource = compileSource(source);
    compiledSources.set(source, compiledSource);
  }
  return compiledSource;
}

function compileSource(source: ValueSource): CompiledSource {
  if ('header' in source) return { kind: 'header', name: source.header.toLowerCase(), steps: [] };
  if ('form' in source) return { kind: 'form', name: source.form, steps: [] };
  if ('query' in source) return { kind: 'query', name: source.query, steps: [] };
  if ('cloudEvent' in source) return { kind: 'cloudEvent', name: source.cloudEvent, steps: [] };
  const kind = source.json.includes('[]') ? 'every' : 'json';
  return { kind, name: source.json, steps: source.json.split('.', STEPS_MAX + 1) };
}

/** Values beyond a limit count as absent, so that they cannot count as right. */
function collectValues(value: unknown, steps: readonly string[], values: unknown[]): void {
  if (values.length > ELEMENTS_MAX) return;
  if (steps.length > STEPS_MAX || values.length === ELEMENTS_MAX) {
    values.push(undefined);
    return;
  }
  const [step, ...rest] = steps;
  if (step === undefined) {
    values.push(value);
    return;
  }
  const isEvery = step.endsWith('[]');
  const member = findOwnMember(value, isEvery ? step.slice(0, -'[]'.length) : step);
  if (!isEvery) return collectValues(member, rest, values);
  if (!Array.isArray(member)) {
    values.push(undefined);
    return;
  }
  for (const element of member) {
    if (values.length > ELEMENTS_MAX) return;
    collectValues(element, rest, values);
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function formatScalar(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isJsonNumber(value) || typeof value === 'boolean' ? String(value) : null;
}

function parseJsonIfValid(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/**
 * The fields of a form as Twilio signs them: names in order of code units, each before its sorted
 * values; repeated values count once.
 */
function sortForm(fields: FormFields): string {
  let text = '';
  for (const name of [...fields.keys()].sort()) {
    const values = fields.get(name) ?? [];
    const sortedValues = values.length === 1 ? values : [...new Set(values)].sort();
    for (const value of sortedValues) text += name + value;
  }
  return text;
}
