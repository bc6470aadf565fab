/**
 * `book:import` and `book:export`. Both stream: an import sends the file's records as JSON Lines to
 * `POST /api/books/import` while the results come back, and holds neither as a whole.
 */
import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { once } from 'node:events';
import { AppError, messageOf } from '../../../base/errors.ts';
import { readPackageFile } from '../../../base/files/package-file.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { checkRecords } from '../../../books/transfer/check-records.ts';
import {
  FORMAT_ENDINGS, createBookWriter, findFormat, readRecords,
} from '../../../books/transfer/formats.ts';
import type { FormatName } from '../../../books/transfer/format-list.ts';
import { connectionLostError } from '../../../server/local/api-call.ts';
import type { CommandContext } from '../command-context.ts';
import { ImportReport } from './import-report.ts';
import { cleanUpOnSignals } from '../../process/early-signals.ts';
import { OutputFile } from '../../terminal/output-file.ts';
import { parseObject } from '../resource-commands.ts';

const STANDARD_STREAM = '-';
const READ_BYTES = 256 * 1024;
const LINE_FEED = Buffer.from('\n');
const DEFAULT_FORMAT: FormatName = 'json';
// White space and a byte order mark, or the part of one that a chunk ends in. The text was decoded
// as latin1, so that each of the mark's three bytes is a character.
const JSON_SPACE = /^[\xef\xbb\xbf\s]+/;

/** Exit code 1 when a record was skipped, or would be. */
export async function importBooks(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const input = await openInput(context);
  const progress = output.progress('books', input.bytesTotal);
  const report = new ImportReport(output, progress, args.has('dry-run'));
  const isFormatGuessed = args.find('file') === STANDARD_STREAM && !args.has('format');
  const bytes = toBuffers(input.stream);
  const lines = toJsonLines(isFormatGuessed ? assertJsonStart(bytes) : bytes, input.format, report);
  const body = Readable.from(lines, { objectMode: false });
  try {
    // A dry run does not create a data directory, so the records are checked here.
    const results = args.has('dry-run') && context.isDataMissing()
      ? checkRecords(body, args.has('replace')) : await sendRecords(context, body);
    for await (const result of parseJsonLines(results)) report.addResult(result);
  } catch (thrown) {
    // A source that breaks off breaks the request too. `toJsonLines` has left its error, which is
    // the cause, in the report.
    throw report.sourceError ?? connectionLostError(thrown);
  } finally {
    // First the lines that no result will follow; the totals, if there are any, are printed below.
    progress.end();
    report.end();
    body.destroy();
    input.close();
  }
  return report.print();
}

/** Resolves with the results, which arrive while records are still being sent. */
async function sendRecords(
  { args, openApiClient }: CommandContext, body: Readable,
): Promise<AsyncIterable<Buffer>> {
  const query = new URLSearchParams();
  if (args.has('replace')) query.set('replace', 'true');
  if (args.has('dry-run')) query.set('dryRun', 'true');
  const apiClient = await openApiClient();
  return apiClient.stream({
    method: 'POST', path: `/api/books/import?${query}`, body,
    headers: { 'content-type': 'application/jsonl' },
  });
}

export async function exportBooks(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const path = args.find('file') ?? STANDARD_STREAM;
  const format = resolveFormat(context, path);
  if (path === STANDARD_STREAM) {
    await writeBooks(context, format, (text) => output.text(text));
    return 0;
  }
  const books = await writeFileAtomically(context, path,
    (write) => writeBooks(context, format, write));
  await output.result({ file: path, format, books }, `exported ${books} books to ${path}`);
  return 0;
}

type Write = (text: string) => Promise<void>;

/** Resolves with the number of books. */
async function writeBooks(
  { openApiClient, output }: CommandContext, format: FormatName, write: Write,
): Promise<number> {
  const apiClient = await openApiClient();
  const books = await apiClient.stream({ method: 'GET', path: '/api/books' });
  const writer = await createBookWriter(format);
  let count = 0;
  try {
    await write(writer.begin());
    for await (const records of readRecords(books, 'json')) {
      const jsonBuffers = records.flatMap(({ json }) => json === undefined ? [] : [json]);
      count += jsonBuffers.length;
      if (jsonBuffers.length > 0) await write(writer.write(jsonBuffers));
      if (output.isClosed) return count;
    }
    await write(writer.end());
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
    await context.closeApiClient();
    identity.becomeRootAgain();
    await file.discard();
    throw thrown;
  } finally {
    stopCleaningUp();
  }
}

/** Converts records to JSON Lines; lines without a valid record are reported and left out. */
async function* toJsonLines(
  source: AsyncIterable<Buffer>, format: FormatName, report: ImportReport,
): AsyncGenerator<Buffer> {
  try {
    for await (const records of readRecords(countBytes(source, report), format)) {
      const lines: Buffer[] = [];
      for (const { line, json, problem } of records) {
        if (json === undefined) {
          report.addInvalidLine(line, problem ?? 'no book');
          continue;
        }
        report.addSentLine(line);
        lines.push(json, LINE_FEED);
      }
      if (lines.length > 0) yield Buffer.concat(lines);
    }
  } catch (thrown) {
    const message = `the file cannot be read: ${messageOf(thrown)}`;
    report.sourceError = thrown instanceof AppError
      ? thrown : new AppError('malformed', message, {}, thrown);
    throw thrown;
  }
}

/** Throws `usage` when the input, whose format is not named, does not begin like JSON. */
async function* assertJsonStart(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isChecked = false;
  for await (const chunk of source) {
    const start: string = isChecked ? '' : chunk.toString('latin1').replace(JSON_SPACE, '');
    if (start !== '' && !/^[[{]/.test(start)) {
      throw new AppError('usage', 'standard input is taken for JSON, and does not begin like it: '
        + 'name its format, such as --format csv');
    }
    isChecked ||= start !== '';
    yield chunk;
  }
}

async function* countBytes(
  source: AsyncIterable<Buffer>, report: ImportReport,
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    report.bytesRead += chunk.length;
    yield chunk;
  }
}

async function* parseJsonLines(response: AsyncIterable<Buffer>): AsyncGenerator<JsonObject> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield parseObject(JSON.parse(line));
  }
  if (rest.trim() !== '') yield parseObject(JSON.parse(rest));
}

function resolveFormat({ args }: CommandContext, path: string): FormatName {
  const name = args.find('format') ?? (path === STANDARD_STREAM ? DEFAULT_FORMAT : undefined);
  const format = findFormat(name === undefined ? path : `.${name}`);
  if (format !== null) return format;
  throw new AppError('usage', `${path} does not end in ${FORMAT_ENDINGS}; name its --format`);
}

/** The file, or the sample: the command's row asks for one of `--file` and `--sample`. */
async function openInput(
  context: CommandContext,
): Promise<ImportInput & { readonly format: FormatName }> {
  const path = context.args.find('file');
  if (path !== undefined) {
    return { format: resolveFormat(context, path), ...await openFile(context, path) };
  }
  const sample = readPackageFile('data/samples/books.json');
  const stream = Readable.from([sample]);
  return { format: 'json', stream, bytesTotal: sample.length, close: () => stream.destroy() };
}

type ImportInput = {
  readonly stream: NodeJS.ReadableStream;
  readonly bytesTotal: number | null;
  close(): void;
};

/** Opens the file, or standard input. */
async function openFile({ io, identity }: CommandContext, path: string): Promise<ImportInput> {
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
    await once(stream, 'open');
    const status = statSync(path);
    if (status.isDirectory()) throw new AppError('invalid', `${path} is a directory`);
    const bytesTotal = status.isFile() ? status.size : null;
    return { stream, bytesTotal, close: () => stream.destroy() };
  } catch (cause) {
    stream.destroy();
    if (cause instanceof AppError) throw cause;
    throw new AppError('not_found', `cannot read ${path}: ${messageOf(cause)}`, {}, cause);
  }
}

async function* toBuffers(stream: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  for await (const chunk of stream) yield Buffer.from(chunk);
}
