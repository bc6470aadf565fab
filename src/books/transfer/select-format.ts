/**
 * The format in which a caller wants books: `?format=` names it, else `Accept` does. Of formats
 * that it wants alike JSON comes first, then the others in the order of their list.
 */
import { AppError } from '../../base/errors.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import { quote } from '../../base/text/error-message.ts';
import { chooseMediaType } from '../../server/accept.ts';
import type { Exchange, HeaderList } from '../../server/http-route.ts';
import { parseEither, splitParameter } from '../../server/query.ts';
import { FORMAT, SPREADSHEET } from '../query/query-parameters.ts';
import type { BookWriter, WriterOptions } from './format-codec.ts';
import { FORMATS, WRITTEN_FORMATS } from './format-list.ts';
import type { Format, FormatName } from './format-list.ts';
import { createBookWriter } from './formats.ts';

type Offer = { readonly format: Format; readonly mediaType: string };

const NAMES = WRITTEN_FORMATS.map(({ name }) => name);
const OFFERS: readonly Offer[] = WRITTEN_FORMATS.flatMap((format) =>
  format.writtenTypes.map((mediaType) => ({ format, mediaType })));
const MEDIA_TYPES = OFFERS.map(({ mediaType }) => mediaType);

/** Formats of which a browser is to make a file. */
const FILE_FORMATS: readonly FormatName[] = ['jsonl', 'csv', 'bibtex', 'ris'];
/** Formats that hold the members that they are given, whichever these are. */
const PARTIAL_FORMATS: readonly FormatName[] = ['json', 'jsonl'];

type SelectedFormat = {
  readonly headers: HeaderList;
  readonly isForSpreadsheet: boolean;
  readonly createWriter: (options: WriterOptions) => Promise<BookWriter>;
};

/**
 * Null: JSON. Throws `malformed` for a format that there is not, and where the query asks for what
 * the format does not have; `not_acceptable` where the caller takes none of the media types.
 */
export function selectFormat({ search, request }: Exchange): SelectedFormat | null {
  const [name] = splitParameter(search, FORMAT).values;
  const { format, mediaType } =
    name === undefined ? negotiateOffer(request.headers.accept) : getOffer(name);
  const isForSpreadsheet = readSpreadsheet(search, format);
  if (format.name === 'json') return null;
  checkQuery(search, format);
  const charset = mediaType.startsWith('text/') ? '; charset=utf-8' : '';
  const headers = ['Content-Type', mediaType + charset];
  if (FILE_FORMATS.includes(format.name)) {
    headers.push('Content-Disposition', `attachment; filename="books${format.endings[0] ?? ''}"`);
  }
  return {
    headers, isForSpreadsheet,
    createWriter: (options) => createBookWriter(format.name, options),
  };
}

function readSpreadsheet(search: string, { name }: Format): boolean {
  const [value] = splitParameter(search, SPREADSHEET).values;
  if (value === undefined || !parseEither(SPREADSHEET, value, 'true', 'false')) return false;
  if (name === 'csv') return true;
  throw new AppError('malformed', `\`${SPREADSHEET}\` is for csv, and this answer is ${name}: `
    + 'leave it out, or add format=csv');
}

/** The best format that the header takes; a header without text says no more than none. */
function negotiateOffer(accept = ''): Offer {
  const mediaType = chooseMediaType(accept, MEDIA_TYPES);
  const offer = OFFERS.find((candidate) => candidate.mediaType === mediaType);
  if (offer !== undefined) return offer;
  throw new AppError('not_acceptable', `books come as ${MEDIA_TYPES.join(', ')}, none of which the `
    + 'header Accept takes: name one there, or a format in the query, such as ?format=csv');
}

/** The format of that name, with the first of its media types. */
function getOffer(name: string): Offer {
  const offer = OFFERS.find(({ format }) => format.name === name);
  if (offer !== undefined) return offer;
  const isOnlyRead = FORMATS.some((candidate) => candidate.name === name);
  throw new AppError('malformed', `\`${FORMAT}\` must be one of ${NAMES.join(', ')}, not `
    + `${quote(name)}${isOnlyRead ? ', which is only read' : didYouMean(name, NAMES)}`);
}

function checkQuery(search: string, { name }: Format): void {
  if (splitParameter(search, 'fields').values.length > 0 && !PARTIAL_FORMATS.includes(name)) {
    throw new AppError('malformed', `\`fields\` is for ${PARTIAL_FORMATS.join(' and ')} alone: `
      + `leave it out to have whole books as ${name}`);
  }
  if (splitParameter(search, 'explain').values[0] === 'true') {
    throw new AppError('malformed', '`explain` is answered as JSON alone: ask for '
      + 'application/json, or for no format');
  }
}
