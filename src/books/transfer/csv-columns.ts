/**
 * The columns of a csv: what each holds by its name in the header. It is one of these:
 *
 * - a single member of a book (`title`, `reading.status`), by its own name, by a word that people
 *   have for it (`Titel`), or as a caller maps it;
 * - a member of `metadata`, such as `metadata.Where bought`, where the name is another one: the
 *   column is a person's own, and so is one without a name (`column 3`);
 * - `none`, which leaves the column out.
 *
 * Where the words of several columns mean one member, the first of them holds it, unless another
 * column has the member's own name; the others are a person's own. A header is valid where a
 * column is `title` and no two are the same. A name that is nearly a member's refuses the file:
 * nothing of it would be found where it is looked for.
 */
import { quote } from '../../base/text/error-message.ts';
import { fold } from '../../base/text/fold.ts';
import { didYouMean, findNearest } from '../../base/text/nearest.ts';
import { MEMBER_SCHEMAS, METADATA_PREFIX } from '../book-members.ts';
import type { HeaderProblem } from './grammars/delimited-text.ts';

export const CSV_COLUMNS: readonly string[] = [...MEMBER_SCHEMAS.keys()];
const COLUMNS_BY_LOWER_NAME: ReadonlyMap<string, string> =
  new Map(CSV_COLUMNS.map((column) => [column.toLowerCase(), column]));
export const LEFT_OUT = 'none';

/** The words that people have for members, in English, German, French and Spanish, folded. */
const WORDS: Readonly<Record<string, string>> = {
  'title': 'book, name, book name, book title, titel, buchtitel, titre, titulo',
  'subtitle': 'untertitel, sous titre, subtitulo',
  'authors': 'author, author name, author(s), writer, writers, written by, autor, autoren, '
    + 'autor(en), autorin, autor/in, verfasser, verfasserin, verfasser/in, auteur, auteurs, '
    + 'auteur(s), autora, autores',
  'isbn': 'isbn13, isbn 13, isbn10, isbn 10, isbn number, isbn nr, isbn nummer',
  'publisher': 'publishing house, verlag, editeur, maison d\'edition, editorial',
  'datePublished': 'year, published, publication date, publication year, date published, '
    + 'year published, publish date, published year, year of publication, jahr, erschienen, '
    + 'erscheinungsjahr, erscheinungsdatum, annee, annee de publication, date de publication, ano, '
    + 'ano de publicacion, fecha de publicacion',
  'inLanguage': 'language, sprache, langue, idioma',
  'numberOfPages': 'pages, page count, number of pages, seiten, seitenzahl, nombre de pages, '
    + 'paginas, numero de paginas',
  'bookEdition': 'edition, auflage, edicion',
  'bookFormat': 'format, binding, einband, reliure, formato, encuadernacion',
  'keywords': 'tags, genre, genres, category, categories, subjects, schlagworter, schlagworte, '
    + 'stichworter, kategorie, kategorien, mots cles, genero, generos, etiquetas, palabras clave',
  'series': 'book series, series name, reihe, serie, buchreihe',
  'reading.status': 'status, read status, reading status, lesestatus, statut, estado',
  'reading.rating': 'rating, my rating, star rating, stars, bewertung, meine bewertung, sterne, '
    + 'ma note, etoiles, valoracion, puntuacion, mi valoracion, estrellas',
  'reading.startedOn': 'date started, started, start date, started on, begonnen, begonnen am, '
    + 'angefangen am, date de debut, commence le, fecha de inicio',
  'reading.finishedOn': 'date read, date finished, finished, finish date, finished on, read on, '
    + 'end date, date completed, gelesen am, beendet, beendet am, lesedatum, date de lecture, '
    + 'lu le, fecha de lectura, leido el',
  'reading.readCount': 'read count, times read, mal gelesen, nombre de lectures',
  'reading.shelves': 'shelf, shelves, bookshelf, bookshelves, regal, regale, etagere, etageres, '
    + 'estanteria',
  'reading.review': 'review, my review, rezension, critique, mon avis, resena',
  'reading.owned': 'owned, owned?, im besitz, possede',
  'description': 'summary, synopsis, beschreibung, zusammenfassung, inhaltsangabe, resume, '
    + 'descripcion, resumen, sinopsis',
  'url': 'link',
  'image': 'cover, cover url, cover image, titelbild, couverture, portada',
};

const MEMBERS_OF_WORDS: ReadonlyMap<string, string> = new Map(Object.entries(WORDS)
  .flatMap(([member, words]) => words.split(', ').map((word) => [word, member] as const)));

/** The start of HTML and XML, or a sign that no text has, as in a name of no table. */
const NO_TABLE = /^<[!?a-z]|[\0-\x08\x0e-\x1f\ufffd]/i;

const NAMES_SHOWN_MAX = 20;
const NAME_SHOWN_MAX = 80;
const NAME_COMPARED_MAX = 64;
/** A name that differs more in length is another word: `Date` is no `datePublished`. */
const LENGTH_DIFFERENCE_MAX = 2;

/** A caller's columns by their names in lower case, each with its name and what it is to hold. */
export type ColumnMap =
  ReadonlyMap<string, { readonly name: string; readonly content: string }>;

/** The columns of a header by their names in the file, each with what it holds. */
export type FileColumns = Readonly<Record<string, string>>;

/** Parses texts such as `Written by=authors`; a text says what is wrong with one. */
export function parseColumnMap(texts: readonly string[]): ColumnMap | string {
  const map = new Map<string, { readonly name: string; readonly content: string }>();
  for (const text of texts) {
    const end = text.lastIndexOf('=');
    const name = text.slice(0, Math.max(end, 0)).trim();
    if (name === '') {
      return `must be a column of the file and a member, such as "Written by=authors", not ${
        quote(text)}`;
    }
    const target = text.slice(end + 1).trim();
    const content = findContent(target);
    if (content === null) {
      return `has no member ${quote(target)} for ${quote(name)}${didYouMean(target, CSV_COLUMNS)}; `
        + `known are ${CSV_COLUMNS.join(', ')}, ${METADATA_PREFIX}<name> for a column of your own, `
        + `and ${LEFT_OUT}, which leaves it out`;
    }
    if (map.has(name.toLowerCase())) return `stands twice for ${quote(name)}`;
    map.set(name.toLowerCase(), { name, content });
  }
  return map;
}

/** The content that a caller names; null for a name that no content has. */
function findContent(name: string): string | null {
  const isOwn = name.startsWith(METADATA_PREFIX) && name.length > METADATA_PREFIX.length;
  if (isOwn || name === LEFT_OUT) return name;
  return findMember(name) ?? MEMBERS_OF_WORDS.get(foldName(name)) ?? null;
}

type CsvHeader = {
  /** In the order of the header. */
  readonly contents: readonly string[];
  /** Null: each column has the name of what it holds. */
  readonly columns: FileColumns | null;
};

/** The contents of the columns of a header, or everything that is wrong with them. */
export function readColumns(header: readonly string[], map: ColumnMap): CsvHeader | HeaderProblem {
  const names = header.map((name, index) => name || `column ${index + 1}`);
  const contents = findContents(names, map);
  const columns = Object.fromEntries(names.map((name, index) => [name, contents[index] ?? '']));
  const problem = explainHeader(names, contents, map);
  if (problem !== null) return { problem, columns };
  const isPlain = names.every((name, index) =>
    name.toLowerCase() === contents[index]?.toLowerCase());
  return { contents, columns: isPlain ? null : columns };
}

function findContents(names: readonly string[], map: ColumnMap): readonly string[] {
  const sureContents = names.map((name) => map.get(name.toLowerCase())?.content
    ?? findMember(name) ?? (name.startsWith(METADATA_PREFIX) ? name : null));
  const takenMembers = new Set(sureContents);
  return names.map((name, index) => {
    const content = sureContents[index] ?? null;
    if (content !== null) return content;
    const member = MEMBERS_OF_WORDS.get(foldName(name));
    if (member === undefined || takenMembers.has(member)) return METADATA_PREFIX + name;
    takenMembers.add(member);
    return member;
  });
}

/** Everything that is wrong with a header, and how to mend it; null: nothing. */
function explainHeader(
  names: readonly string[], contents: readonly string[], map: ColumnMap,
): string | null {
  const isOwn = (name: string, index: number): boolean => contents[index] === METADATA_PREFIX + name
    && !map.has(name.toLowerCase());
  const ownNames: readonly OwnName[] = names.filter(isOwn)
    .map((name) => ({ name, meantMember: findMeantMember(name) }));
  if (names.some((name) => NO_TABLE.test(name)) && ownNames.length === names.length) {
    return 'the file is no table, but a web page or no text: look whether it is the right one, '
      + 'and export it again';
  }
  if (names.length === 1 && ownNames.some(({ name }) => /[|:^]/.test(name))) {
    return 'cells must be separated by commas, semicolons or tabs';
  }
  const firstNames = new Map<string, string>();
  const repeatedNames = new Set<string>();
  for (const [index, content] of contents.entries()) {
    const firstName = firstNames.get(content);
    if (firstName === undefined) firstNames.set(content, names[index] ?? '');
    else if (content !== LEFT_OUT) repeatedNames.add(firstName);
  }
  const problems = [...repeatedNames].map((name) => `the column \`${name}\` stands twice`);
  const lowerNames = new Set(names.map((name) => name.toLowerCase()));
  const lostName = [...map].find(([lowerName]) => !lowerNames.has(lowerName))?.[1].name;
  if (lostName !== undefined) {
    problems.push(`there is no column ${quote(lostName)}: there are ${listNames(names)}`);
  }
  const hasTitle = contents.includes('title');
  if (!hasTitle) problems.push('there is no column `title`');
  const nearProblems = describeNear(ownNames);
  if (problems.length === 0 && nearProblems.length === 0) return null;
  // Where there is a title they may well be a person's own.
  const strangeProblems = hasTitle || lostName !== undefined ? [] : describeStrange(ownNames);
  return [...nearProblems, ...strangeProblems, ...problems, ...adviseMap(ownNames, contents)]
    .join('; ');
}

/** A name that means no member, and the member whose name is nearly that, or null. */
type OwnName = { readonly name: string; readonly meantMember: string | null };

/** How a column is mapped by a caller, by the example of one. */
function adviseMap(ownNames: readonly OwnName[], contents: readonly string[]): readonly string[] {
  const example = ownNames.find(({ meantMember }) => meantMember !== null) ?? ownNames[0];
  if (example === undefined) return [];
  const shortName = example.name.slice(0, NAME_SHOWN_MAX);
  const member = example.meantMember ?? (contents.includes('title') ? 'authors' : 'title');
  return [`the option or parameter \`column\` says what a column is, such as ${
    JSON.stringify(`${shortName}=${member}`)}, or ${
    JSON.stringify(`${shortName}=${METADATA_PREFIX}${shortName}`)} for a column of your own`];
}

function findMember(name: string): string | null {
  return COLUMNS_BY_LOWER_NAME.get(name.toLowerCase()) ?? null;
}

/** The member whose name is nearly that of the column, or null. */
function findMeantMember(name: string): string | null {
  // A word of people has its member, unless another column holds that already.
  if (MEMBERS_OF_WORDS.has(foldName(name))) return null;
  return findNearest(name, CSV_COLUMNS.filter((column) =>
    Math.abs(column.length - name.length) <= LENGTH_DIFFERENCE_MAX));
}

/** `Read_Count` is `read count`. */
function foldName(name: string): string {
  return fold(name.slice(0, NAME_COMPARED_MAX)).replace(/[-_\s]+/g, ' ').trim();
}

function listNames(names: readonly string[]): string {
  const shownNames = names.slice(0, NAMES_SHOWN_MAX)
    .map((name) => JSON.stringify(name.slice(0, NAME_SHOWN_MAX)));
  const more = names.length - shownNames.length;
  return shownNames.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A problem for each of the first names that are nearly a member's. */
function describeNear(names: readonly OwnName[]): readonly string[] {
  return names.filter(({ meantMember }) => meantMember !== null).slice(0, NAMES_SHOWN_MAX)
    .map(({ name, meantMember }) => `unknown column ${
      JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} (did you mean \`${meantMember}\`?)`);
}

/** One problem for all other names. */
function describeStrange(names: readonly OwnName[]): readonly string[] {
  const strangeNames = names.filter(({ meantMember }) => meantMember === null)
    .map(({ name }) => name);
  if (strangeNames.length === 0) return [];
  return [`unknown ${strangeNames.length === 1 ? 'column' : 'columns'} ${
    listNames(strangeNames)}: known are ${CSV_COLUMNS.join(', ')}`];
}
