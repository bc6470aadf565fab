/** The form that adds a book, and the fields that its members have in forms. */
import { LatestCall, callApi, getJson, hasStatus } from '../../base/api-calls.ts';
import { fill, h, createSelect } from '../../base/dom.ts';
import { appendQuery, href, type Query } from '../../base/screen-address.ts';
import { loadModel, resolveSchema, type ModelSchema } from '../../base/model-schema.ts';
import { hasLineBreak } from '../../parts/forms/condition-text.ts';
import {
  InputError, createJsonField, findLabel, inputField, type Field, type FieldFactories,
  type FieldOptions,
} from '../../parts/forms/input-field.ts';
import { MemberFields, modelField } from '../../parts/forms/model-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { SPECIAL_FIELDS } from '../../parts/forms/special-fields.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import type { Book } from '../../../books/book.ts';
import { RATING_CHOICES } from './book-marks.ts';
import { isObject } from './member-text.ts';
import type { NamedBook } from './stored-book.ts';

export const BOOK_FIELDS: FieldFactories = {
  authors: authorsField, keywords: linesField, metadata: metadataField, shelves: linesField,
  stars: ratingField,
};

/** The fields that say which book it is. */
const OWNED_FIELDS = '[name="isbn"], [name="title"], [name="authors"]';

export function openNewBook(container: HTMLElement): () => void {
  return openView(container, () => showNew(container));
}

async function showNew(container: HTMLElement): Promise<void> {
  const owned = h('p', { role: 'status' });
  const form = recordForm({
    schema: await loadModel('BookBody'), value: {}, action: 'Add the book',
    factories: { ...BOOK_FIELDS, isbn: (options) => {
      const field = modelField(options);
      field.element.append(owned);
      return field;
    } },
    save: (value) => addBook(container, value),
  });
  const call = new LatestCall();
  const answers: BooksByPath = new Map();
  form.element.addEventListener('change', ({ target }) => {
    if (!(target instanceof Element) || !target.matches(OWNED_FIELDS)) return;
    void showOwned(owned, new FormData(form.element), answers, call.begin())
      .catch(showFailureNotice);
  });
  fill(container, backLink('books', 'Books'), heading('A new book'), form.element);
  form.element.querySelector<HTMLElement>('[name="title"]')?.focus();
}

/** What the server has answered, by path: a title that changes asks not again for the ISBN. */
type BooksByPath = Map<string, readonly NamedBook[]>;

/** Leads to the book of the catalog that the user may be adding again. Throws ApiError. */
async function showOwned(
  container: HTMLElement, form: FormData, answers: BooksByPath, signal: AbortSignal,
): Promise<void> {
  const read = (name: string): string => String(form.get(name)).trim();
  const [isbn, title] = [read('isbn'), read('title')];
  const [author = ''] = read('authors').split('\n');
  const [sameIsbn] = isbn === '' ? [] : await findBooks({ isbn }, answers, signal);
  const alike = sameIsbn !== undefined || title === '' || author === '' ? []
    : await findBooks({ q: title, author, typos: 'off' }, answers, signal);
  const book = sameIsbn
    ?? alike.find((other) => other.title.toLowerCase() === title.toLowerCase());
  if (signal.aborted) return;
  fill(container, ...book === undefined ? [] : ['You have this already: ',
    h('a', { href: href(['books', book.id]) }, book.title)]);
}

/** Finds none where the server refuses what is typed: saving tells why. Throws ApiError. */
async function findBooks(
  query: Query, answers: BooksByPath, signal: AbortSignal,
): Promise<readonly NamedBook[]> {
  const path = appendQuery('/api/books', { ...query, fields: 'id,title' });
  const answer = answers.get(path);
  if (answer !== undefined) return answer;
  const books = await getJson<readonly NamedBook[]>(path, signal).catch((thrown: unknown) => {
    if (hasStatus(thrown, 400)) return [];
    throw thrown;
  });
  answers.set(path, books);
  return books;
}

/** Adds the book, and shows it. Throws ApiError. */
export async function addBook(
  container: HTMLElement, value: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { body } = await callApi<Book>('POST', '/api/books', { body: value });
  showNotice(`Added ${body.title}.`);
  goIfStillHere(container, ['books', body.id]);
}

type LinesField = Field & { readonly area: HTMLTextAreaElement; readLines(): string[] };

/** A list of texts, one a line. Empty lines are no items. */
function linesField(options: FieldOptions): Field {
  const texts = Array.isArray(options.value) ? options.value.map(String) : [];
  return texts.some(hasLineBreak) ? modelField(options) : createLinesField(options, texts);
}

function createLinesField(options: FieldOptions, texts: readonly string[]): LinesField {
  const { schema } = options;
  const area = h('textarea', { rows: Math.max(2, texts.length + 1), autocomplete: 'off' });
  area.value = texts.join('\n');
  const readLines = (): string[] =>
    area.value.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const field = inputField({
    ...options, schema: { ...schema, description: `One a line. ${schema.description ?? ''}` },
  }, area, () => {
    const lines = readLines();
    return lines.length === 0 ? undefined : lines;
  });
  return {
    ...field, area, readLines,
    showError([step], detail) {
      const line = step === undefined ? undefined : readLines()[Number(step)];
      return field.showError([], line === undefined ? detail : `${line}: ${detail}`);
    },
  };
}

/** A text has a row with its name. The other values, such as the source of an import, are JSON. */
function metadataField(options: FieldOptions): Field {
  const { pairs = modelField } = SPECIAL_FIELDS;
  const members = Object.entries(Object(options.value));
  const texts = members.filter(([, value]) => typeof value === 'string');
  const others = members.filter(([, value]) => typeof value !== 'string');
  const rows = pairs({ ...options, value: Object.fromEntries(texts) });
  const json = createJsonField({
    name: `${options.name}-json`, label: 'What is no text, as JSON',
    value: others.length === 0 ? undefined : Object.fromEntries(others),
  });
  return {
    element: h('div.field', rows.element, h('details', h('summary', 'As JSON'), json.element)),
    read() {
      const otherValues = json.read() ?? {};
      if (!isObject(otherValues)) throw new InputError(`${findLabel(options)}: this is no object.`);
      const value = { ...Object(rows.read()), ...otherValues };
      return Object.keys(value).length === 0 ? undefined : value;
    },
    showError: (steps, detail) => rows.showError(steps, detail),
    clearError() {
      rows.clearError();
      json.clearError();
    },
  };
}

/** An author who is named in a line, with the fields of the other members. */
type AuthorField = {
  name: string;
  readonly legend: HTMLElement;
  readonly element: HTMLElement;
  readonly members: MemberFields;
};

/** Authors are named one a line; what else is known of them is folded below. */
function authorsField(options: FieldOptions): Field {
  const { value } = options;
  const { items = {} } = resolveSchema(options.schema);
  const authors = Array.isArray(value) ? value.map((author: unknown) => Object(author)) : [];
  const names = authors.map(({ name }) => String(name));
  if (names.some(hasLineBreak)) return modelField(options);
  const lines = createLinesField(options, names);
  const create = (name: string, stored: unknown): AuthorField =>
    createAuthorField(name, items, stored, options);
  let fields = names.map((name, index) => create(name, authors[index]));
  const container = h('div.record');
  const more = h('details', h('summary', 'More about the authors'), container);
  const show = (): void => {
    fields = matchAuthors(lines.readLines(), fields, (name) => create(name, {}));
    container.replaceChildren(...fields.map(({ element }) => element));
    more.hidden = fields.length === 0;
  };
  lines.area.addEventListener('input', show);
  show();
  return {
    element: h('div.field', lines.element, more),
    read() {
      const authorValues = fields.map(({ name, members }) => ({ name, ...members.read() }));
      return authorValues.length === 0 ? undefined : authorValues;
    },
    showError([index = '', member = 'name', ...rest], detail) {
      const isShown = fields[Number(index)]?.members.showError([member, ...rest], detail);
      return isShown === true || lines.showError(index === '' ? [] : [index], detail);
    },
    clearError() {
      lines.clearError();
      for (const { members } of fields) members.clearErrors();
    },
  };
}

function createAuthorField(
  name: string, schema: ModelSchema, stored: unknown, { factories, outerModels }: FieldOptions,
): AuthorField {
  const { properties: { name: _name, ...properties } = {} } = resolveSchema(schema);
  const members = new MemberFields({ properties }, stored, factories, outerModels);
  const legend = h('legend', name);
  const element = h('fieldset', legend, ...members.elements);
  return { name, legend, element, members };
}

/**
 * The fields of the authors in these lines: those of the same name, else those of the author who
 * stood in that line under a name that is in no line any more, else new ones.
 */
function matchAuthors(
  names: readonly string[], fields: readonly AuthorField[], create: (name: string) => AuthorField,
): AuthorField[] {
  const remaining = new Set(fields);
  const same = names.map((name) => {
    const field = [...remaining].find((candidate) => candidate.name === name);
    if (field !== undefined) remaining.delete(field);
    return field;
  });
  return names.map((name, index) => {
    const fieldInLine = fields[index];
    const field = same[index]
      ?? (fieldInLine !== undefined && remaining.delete(fieldInLine) ? fieldInLine : create(name));
    field.name = name;
    fill(field.legend, name);
    return field;
  });
}

function ratingField(options: FieldOptions): Field {
  const { value } = options;
  const select = createSelect(RATING_CHOICES, String(value ?? ''));
  return inputField(options, select, () => select.value === '' ? undefined : +select.value);
}
