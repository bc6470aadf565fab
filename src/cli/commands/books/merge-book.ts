/** The command `book:merge`. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../base/schema.ts';
import { bookSchema } from '../../../books/book.ts';
import { MEMBER_SCHEMAS, separateMembers } from '../../../books/book-members.ts';
import { bookResource } from '../../../books/book-resource.ts';
import { METADATA, chooseValues } from '../../../books/merge-choice.ts';
import { listDroppedValues } from '../../../books/merge-losses.ts';
import { mergedIdsOf } from '../../../books/merged-ids.ts';
import { formatPrintableJson } from '../../terminal/output.ts';
import type { CommandContext } from '../command-context.ts';
import { parseNames } from '../option-members.ts';
import {
  createIfMatch, fetchObject, fetchRecord, formatValue, recordPath, requestObject, resolveId,
} from '../resource-commands.ts';

/** Tells people where each value is now that the book has not: it may be the last copy. */
export async function mergeBook(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const id = await resolveId(context, bookResource);
  const from = await resolveId(context, bookResource, 'from');
  const other = await fetchObject(context, recordPath(bookResource, from));
  const choices: MergeChoices = {
    members: parseNames(args.all('members')), combine: parseNames(args.all('combine')),
  };
  const current = args.has('fill') ? await fetchRecord(context, bookResource, id) : null;
  if (current !== null) {
    addChoices(choices, separateMembers(current.record), separateMembers(other));
  }
  const { hasServer } = await context.openApiClient();
  const book = await requestObject(context, {
    method: 'POST', path: `${recordPath(bookResource, id)}/merge`, body: { ...choices, from },
    headers: createIfMatch(current?.etag),
  });
  await output.result(book, `merged book ${from} into ${id}: ${formatValue(book['title'])}`);
  const notes = [
    current === null ? null : describeChoices(choices, current.record, other),
    ...describeDroppedValues(
      current === null ? [other] : [other, current.record], book, current !== null),
    describeDeafness(other, book),
    // Without a server this very process holds what was deleted, and ends.
    hasServer ? `for a minute this undoes the merge: hookshelf book:restore ${from}`
      : 'no server runs that could undo the merge: the way back is an earlier data:backup',
  ];
  for (const note of notes) if (note !== null) output.note(note);
}

/** The members that a merge takes of the other book, and those that it unites. */
type MergeChoices = { readonly members: string[]; readonly combine: string[] };

/** Adds what `chooseValues` takes of the other book, as far as nobody has named it. */
function addChoices({ members, combine }: MergeChoices, book: JsonObject, other: JsonObject): void {
  const namedMembers = new Set([...members, ...combine]);
  const firstChoices = chooseValues(book, other);
  for (const name of MEMBER_SCHEMAS.keys()) {
    const [group = ''] = name.split('.');
    const isOfService = bookSchema.members[name]?.readOnly !== undefined;
    if (isOfService || namedMembers.has(name) || namedMembers.has(group)) continue;
    const choice = firstChoices.get(name);
    if (choice === 'other') members.push(name);
    if (choice === 'both') combine.push(name);
  }
}

/** Names what comes from the other book, and the united members that it had otherwise. */
function describeChoices(
  { members, combine }: MergeChoices, book: JsonObject, other: JsonObject,
): string | null {
  const [ownValues, others] = [separateMembers(book), separateMembers(other)];
  const unitedNames = combine.filter((name) =>
    others[name] !== undefined && !isDeepStrictEqual(others[name], ownValues[name]));
  const pieces = [
    ...members.length === 0 ? [] : [`from the other book: ${members.join(', ')}`],
    ...unitedNames.length === 0 ? [] : [`from both: ${unitedNames.join(', ')}`],
  ];
  if (pieces.length > 0) return pieces.join('; ');
  return listDroppedValues(other, book).length > 0
    ? null : 'the other book had nothing that this one lacks';
}

/** `books` are the books that were merged, as far as they are known. */
function describeDroppedValues(
  books: readonly JsonObject[], mergedBook: JsonObject, isFilled: boolean,
): readonly string[] {
  const droppedValues = books.flatMap((book) => listDroppedValues(book, mergedBook));
  const sources = [...new Set(droppedValues.map(({ keptIn }) => keptIn))]
    .sort((left, right) => Number(left === null) - Number(right === null));
  return sources.map((source) => {
    const values = droppedValues.filter(({ keptIn }) => keptIn === source);
    if (source !== null) {
      const names = values.map(({ name }) => name).join(', ');
      return `kept in ${METADATA}.source.${source}.members: ${names}`;
    }
    const texts = values.map(({ name, value }) => `${name} ${formatPrintableJson(value)}`)
      .join(', ');
    return isFilled ? `gone, as the metadata have no room for it: ${texts}`
      : `gone with the other book: ${texts}; --fill would keep it`;
  });
}

/** The own ids of its sources follow the id of the other book. Null: imports go on as before. */
function describeDeafness(other: JsonObject, book: JsonObject): string | null {
  const [mergedIds, idsBefore] = [mergedIdsOf(book), mergedIdsOf(other)];
  const newIds = mergedIds.slice(mergedIds.indexOf(String(other['id'])))
    .filter((id) => id.includes(':') && !idsBefore.includes(id));
  return newIds.length === 0 ? null
    : `imports leave records of ${newIds.join(', ')} alone from now on; to hear them, undo this, `
      + 'delete the other book, and import with --match isbn';
}
