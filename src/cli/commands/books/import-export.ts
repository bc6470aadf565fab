/**
 * `book:import` and `book:export`. Both stream: an import sends the bytes of the file to
 * `POST /api/books/import` while the results come back, and holds neither as a whole.
 */
import { createReadStream, fstatSync } from 'node:fs';
import { Readable } from 'node:stream';
import { once } from 'node:events';
import { AppError, messageOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import { readPackageFile } from '../../../base/files/package-file.ts';
import { explainBinaryEnding } from '../../../books/transfer/binary-file.ts';
import { openBookFile, startFile } from '../../../books/transfer/book-file.ts';
import type { FileStart } from '../../../books/transfer/book-file.ts';
import { parseColumnMap } from '../../../books/transfer/csv-columns.ts';
import { resolveEncoding } from '../../../books/transfer/decode-text.ts';
import {
  READ_ENDINGS, WRITTEN_ENDINGS, createBookWriter, findWrittenFormat,
} from '../../../books/transfer/formats.ts';
import { FORMATS } from '../../../books/transfer/format-list.ts';
import type { BookWriter } from '../../../books/transfer/format-codec.ts';
import type { FormatName } from '../../../books/transfer/format-list.ts';
import { ON_MATCH, isContradictory, parseMatches } from '../../../books/transfer/import-mode.ts';
import type { ImportMode } from '../../../books/transfer/import-mode.ts';
import { findFormatByEnding, findFormatByName } from '../../../books/transfer/recognise-format.ts';
import type { FormatChoice } from '../../../books/transfer/recognise-format.ts';
import { readLines } from '../../api-client/read-lines.ts';
import { connectionLostError } from '../../../server/local/api-call.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { bookExportOptions } from '../route-options.ts';
import { readItems } from './book-commands.ts';
import { ImportReport } from './import-report.ts';
import { cleanUpOnSignals } from '../../process/early-signals.ts';
import { OutputFile } from '../../terminal/output-file.ts';
import { expectObject } from '../resource-commands.ts';

const STANDARD_STREAM = '-';
const READ_BYTES = 256 * 1024;
const DEFAULT_FORMAT: FormatName = 'json';

/** Exit code 1 when a record was skipped, or would be. */
export async function importBooks(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const mode = readImportMode(args);
  if (args.has('from-metadata')) return rereadBooks(context, mode);
  const declared = resolveEncoding(args.find('charset') ?? null, 'usage');
  const input = await openInput(context);
  const progress = output.progress('books', input.bytesTotal);
  const report = new ImportReport(output, progress, mode);
  try {
    const source = countBytes(toBuffers(input.stream), report);
    const start = await startFile(source, input.choice, declared);
    if (input.isFormatGuessed) assertJsonStart(start);
    // Everybody knows what the sample is.
    if (args.has('file')) report.begin(start);
    await checkBeginning(start, mode);
    await importFile(context, start, mode, report);
  } catch (thrown) {
    // A source that breaks off breaks the request too. `countBytes` has left its error, which is
    // the cause, in the report.
    throw report.sourceError ?? connectionLostError(thrown);
  } finally {
    progress.end();
    input.close();
  }
  return report.print();
}

/** Throws `invalid` where the server would refuse the file: no data directory is made for it. */
async function checkBeginning(start: FileStart, mode: ImportMode): Promise<void> {
  // The server reads no further either before it says so.
  const file = await openBookFile(
    Readable.from(start.chunks.map((chunk) => Buffer.from(chunk))), start.format, mode,
    start.declared);
  await file.close();
}

/** The options that say how a file is read. */
const FILE_OPTIONS: readonly string[] =
  ['format', 'charset', 'match', 'on-match', 'replace', 'all-types', 'column'];

/** Has the server read again what the metadata of books have from files. */
async function rereadBooks(context: CommandContext, mode: ImportMode): Promise<number> {
  const { args, output } = context;
  const names = FILE_OPTIONS.filter((name) => args.has(name));
  if (names.length > 0) {
    throw new AppError('usage', '--from-metadata reads no file: leave out '
      + names.map((name) => `--${name}`).join(' and '));
  }
  // There is nothing to read again where there is no catalog: an engine may have it.
  const hasOwnData = context.serverUrl === null
    && context.loadSettings().settings.store.url === null;
  if (hasOwnData) context.enterExistingDataAsOwner();
  const progress = output.progress('books', null);
  const report = new ImportReport(output, progress, mode);
  try {
    const apiClient = await context.openApiClient();
    const query = new URLSearchParams({ fromMetadata: 'true', ...toQuery(mode) });
    const results = await apiClient.stream(
      { method: 'POST', path: `/api/books/import?${query}` });
    report.begin({ format: 'metadata', encoding: 'utf-8' });
    for await (const line of readLines(results)) report.addResult(expectObject(JSON.parse(line)));
  } catch (thrown) {
    throw connectionLostError(thrown);
  } finally {
    progress.end();
  }
  return report.print();
}

/** The parameters of every import. */
function toQuery({ isDryRun, isVerbose }: ImportMode): Readonly<Record<string, string>> {
  return { ...isDryRun ? { dryRun: 'true' } : {}, ...isVerbose ? { verbose: 'true' } : {} };
}

async function importFile(
  context: CommandContext, start: FileStart, mode: ImportMode, report: ImportReport,
): Promise<void> {
  const body = Readable.from(readAll(start), { objectMode: false });
  try {
    const results = await sendFile(context, start, mode, body);
    for await (const line of readLines(results)) {
      report.addResult(expectObject(JSON.parse(line)));
      // The server reads the rest of the file past; nobody has to send it.
      if (report.stopReason !== null) break;
    }
  } finally {
    body.destroy();
  }
}

/** Throws `usage` for options that contradict each other. */
function readImportMode(args: CommandContext['args']): ImportMode {
  const named = ON_MATCH.find((one) => one === args.find('on-match')) ?? null;
  if (isContradictory(named, args.has('replace'))) {
    throw new AppError('usage', `--replace contradicts --on-match ${named}: leave one out`);
  }
  const match = args.find('match');
  const matches = match === undefined || match === null ? [] : parseMatches(match);
  if (typeof matches === 'string') throw new AppError('usage', `--match ${matches}`);
  const columns = parseColumnMap(args.all('column'));
  if (typeof columns === 'string') throw new AppError('usage', `--column ${columns}`);
  return {
    matches,
    onMatch: args.has('replace') ? 'replace' : named,
    hasAllTypes: args.has('all-types'), columns, isDryRun: args.has('dry-run'),
    isVerbose: args.has('verbose'),
  };
}

/** Resolves with the results, which arrive while the file is still being sent. */
async function sendFile(
  { openApiClient }: CommandContext, { format, declared }: FileStart, mode: ImportMode,
  body: Readable,
): Promise<AsyncIterable<Buffer>> {
  const query = new URLSearchParams({ format, ...toQuery(mode) });
  if (mode.matches.length > 0) query.set('match', mode.matches.join());
  if (mode.onMatch !== null) query.set('onMatch', mode.onMatch);
  if (mode.hasAllTypes) query.set('allTypes', 'true');
  for (const { name, content } of mode.columns.values()) {
    query.append('column', `${name}=${content}`);
  }
  const mediaType = FORMATS.find(({ name }) => name === format)?.mediaTypes[0] ?? '';
  const apiClient = await openApiClient();
  return apiClient.stream({
    method: 'POST', path: `/api/books/import?${query}`, body,
    headers: { 'content-type': mediaType + (declared === null ? '' : `; charset=${declared}`) },
  });
}

export async function exportBooks(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const path = args.find('file') ?? STANDARD_STREAM;
  const format = resolveFormat(context, path);
  const isForSpreadsheet = args.has('spreadsheet');
  if (isForSpreadsheet && format !== 'csv') {
    throw new AppError('usage', `--spreadsheet is for csv, and this export is ${format}: leave it `
      + 'out, or add --format csv');
  }
  const writer = await createBookWriter(format, { isForSpreadsheet });
  const isToFile = path !== STANDARD_STREAM;
  const books = isToFile
    ? await writeFileAtomically(context, path, (write) => writeBooks(context, writer, write))
    : await writeBooks(context, writer, (text) => output.text(text), () => output.isClosed);
  // Standard output holds nothing but the books.
  for (const note of describeExport(writer, isForSpreadsheet)) output.note(note);
  if (!isToFile) return;
  const { leftOutCount: leftOut, leftOutMembers } = writer;
  const losses = leftOutMembers === undefined || leftOut === 0
    ? {} : { leftOut, leftOutMembers: Object.fromEntries(leftOutMembers) };
  await output.result({ file: path, format, books, ...losses },
    `exported ${books} book${books === 1 ? '' : 's'} to ${path}`);
}

/** The notes that tell a person what the written file lacks or has besides. */
function describeExport(
  { leftOutMembers }: BookWriter, isForSpreadsheet: boolean,
): readonly string[] {
  const notes: string[] = [];
  if (isForSpreadsheet) {
    notes.push("a ' stands before each text that a spreadsheet would take for a formula; "
      + 'book:import takes it off again');
  }
  for (const [name, count] of leftOutMembers ?? []) {
    notes.push(`left out: ${name} in ${count} ${count === 1 ? 'book' : 'books'}`);
  }
  return notes;
}

type Write = (text: string) => Promise<void>;

/** Resolves with the number of books. `isUnread`: whether nobody takes more of them. */
async function writeBooks(
  context: CommandContext, writer: BookWriter, write: Write,
  isUnread = (): boolean => false,
): Promise<number> {
  const apiClient = await context.openApiClient();
  // No words are corrected: a file that nobody asked for would not be noticed.
  const query = new URLSearchParams({ typos: 'off' });
  setQueryOptions(query, context, bookExportOptions);
  const read = (take: BookTaker, begin?: () => Promise<void>): Promise<number> =>
    readBooks(apiClient, query.size === 1 ? '/api/books' : `/api/books?${query}`,
      { take, begin, isUnread });
  const sort = query.get('sort');
  if (writer.prepare !== undefined) {
    query.delete('sort');
    await read((books) => writer.prepare?.(books));
    if (sort !== null) {
      await read((books) => writer.prepareInIdOrder?.(books));
      query.set('sort', sort);
    }
  }
  const count = await read((books) => write(writer.write(books)), () => write(writer.begin()));
  if (!isUnread()) await write(writer.end());
  return count;
}

type BookTaker = (books: readonly Buffer[]) => Promise<void> | void;

type BookReader = {
  readonly take: BookTaker;
  /** Called before the first books, once nothing has been refused. */
  readonly begin: (() => Promise<void>) | undefined;
  /** Whether nobody wants more. */
  readonly isUnread: () => boolean;
};

/** Takes the books of a list, some at a time. Resolves with how many there were. */
async function readBooks(
  apiClient: ApiClient, path: string, { take, begin, isUnread }: BookReader,
): Promise<number> {
  const books = await apiClient.stream({ method: 'GET', path });
  let count = 0;
  try {
    await begin?.();
    for await (const jsonBuffers of readItems(books)) {
      count += jsonBuffers.length;
      await take(jsonBuffers);
      if (isUnread()) break;
    }
    return count;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('unavailable', `the export failed: ${messageOf(cause)}`, {}, cause);
  } finally {
    // Unread bytes would keep the connection open, and with it this process.
    books.destroy();
  }
}

/**
 * Writes the file as the calling user, and reads as the owner of the data directory. Where root
 * calls in another's data directory, these are two users (process/identity.ts):
 * - In a folder where that owner could exchange the file, we become the owner for good before we
 *   open it, and the calls below that change the user do nothing.
 * - Else the file is opened by root, the data are read as the owner, and root renames the file,
 *   once nothing in the data directory is open any more.
 */
async function writeFileAtomically<Result>(
  context: CommandContext, path: string, produce: (write: Write) => Promise<Result>,
): Promise<Result> {
  const { identity } = context;
  if (identity.isOwnersPath(path)) identity.becomeOwner();
  const file = new OutputFile(path);
  const stopCleaningUp = cleanUpOnSignals(() => {
    identity.becomeRootAgain();
    file.removeTemporary();
  });
  try {
    await file.open();
    identity.becomeOwnerForNow();
    const result = await produce((text) => file.write(text));
    await context.closeApiClient();
    identity.becomeRootAgain();
    await file.commit();
    return result;
  } catch (thrown) {
    try {
      await context.closeApiClient();
    } finally {
      identity.becomeRootAgain();
      await file.discard();
    }
    throw thrown;
  } finally {
    stopCleaningUp();
  }
}

/** The bytes of the file, from its beginning on. */
async function* readAll({ chunks, readRest }: FileStart): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* readRest();
}

/** Counts the bytes, and leaves the error that ends them in the report. */
async function* countBytes(
  source: AsyncIterable<Buffer>, report: ImportReport,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source) {
      report.bytesRead += chunk.length;
      yield chunk;
    }
  } catch (thrown) {
    const message = `the file cannot be read: ${explainFileError(thrown)}`;
    report.sourceError = thrown instanceof AppError
      ? thrown : new AppError('malformed', message, {}, thrown);
    throw thrown;
  }
}

/** Throws `usage` when standard input, whose format is not named, does not begin like JSON. */
function assertJsonStart({ text }: FileStart): void {
  const [first = '['] = text.toString('utf8').trimStart();
  if (first === '[' || first === '{') return;
  throw new AppError('usage', 'standard input is taken for JSON, and does not begin like it: '
    + 'name its format, such as --format csv');
}

function resolveFormat({ args }: CommandContext, path: string): FormatName {
  const name = args.find('format') ?? (path === STANDARD_STREAM ? DEFAULT_FORMAT : undefined);
  // A format is named otherwise than its files end: `bibtex`, `.bib`.
  const format = name === undefined ? findWrittenFormat(path) : findFormatByName(name);
  if (format !== null) return format;
  throw new AppError('usage', `${path} does not end in ${WRITTEN_ENDINGS}; name its --format`);
}

/** The file, or the sample: the command's row asks for one of them. */
async function openInput(context: CommandContext): Promise<ImportInput> {
  const path = context.args.find('file');
  if (path !== undefined) {
    const choice = resolveChoice(context, path);
    const isFormatGuessed = path === STANDARD_STREAM && !context.args.has('format');
    return { choice, isFormatGuessed, ...await openFile(context, path) };
  }
  const sample = readPackageFile('data/samples/books.json');
  const stream = Readable.from([sample]);
  return {
    choice: 'json', isFormatGuessed: false, stream, bytesTotal: sample.length,
    close: () => stream.destroy(),
  };
}

/** The format that is named, else what the name of the file says of it. Throws `usage`. */
function resolveChoice({ args }: CommandContext, path: string): FormatChoice {
  const name = args.find('format');
  const choice = name === undefined
    ? findFormatByEnding(path === STANDARD_STREAM ? `.${DEFAULT_FORMAT}` : path)
    : findFormatByName(name);
  if (choice !== null) return choice;
  const binaryAdvice = explainBinaryEnding(path);
  throw new AppError('usage', binaryAdvice === null
    ? `${path} does not end in ${READ_ENDINGS}; name its --format` : `${path} is ${binaryAdvice}`);
}

type OpenFile = {
  readonly stream: NodeJS.ReadableStream;
  readonly bytesTotal: number | null;
  close(): void;
};

type ImportInput = OpenFile & {
  readonly choice: FormatChoice;
  /** Whether nobody has said anything of the format. */
  readonly isFormatGuessed: boolean;
};

/** Opens the file, or standard input. */
async function openFile({ io, identity }: CommandContext, path: string): Promise<OpenFile> {
  if (path === STANDARD_STREAM) {
    // An open standard input would keep this process alive as long as the producer.
    const close = (): void => {
      if (io.stdin instanceof Readable) io.stdin.destroy();
    };
    return { stream: io.stdin, bytesTotal: null, close };
  }
  identity.prepareToRead(path);
  const stream = createReadStream(path, { highWaterMark: READ_BYTES });
  try {
    const [descriptor] = await once(stream, 'open');
    const status = fstatSync(descriptor);
    if (status.isDirectory()) throw new AppError('invalid', `${path} is a directory`);
    const bytesTotal = status.isFile() ? status.size : null;
    return { stream, bytesTotal, close: () => stream.destroy() };
  } catch (cause) {
    stream.destroy();
    if (cause instanceof AppError) throw cause;
    throw new AppError('not_found', `cannot read ${path}: ${explainFileError(cause)}`, {}, cause);
  }
}

async function* toBuffers(stream: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  for await (const chunk of stream) yield Buffer.from(chunk);
}
