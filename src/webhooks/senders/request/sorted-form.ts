/** A form in the order in which Twilio signs its fields. Pure. */
import type { ParsedForm, FormFields, PlainForm } from './form.ts';

/** Names in order of code units, each before its values in order: a repeated value counts once. */
export function sortedForm({ fields, plain }: ParsedForm): string {
  return plain !== null && fields.size <= RANKED_MAX ? sortedPlain(plain) : sortedFields(fields);
}

function sortedFields(fields: FormFields): string {
  let sorted = '';
  for (const name of [...fields.keys()].sort()) {
    for (const value of [...new Set(fields.get(name))].sort()) sorted += name + value;
  }
  return sorted;
}

/** So many fields are sorted by inserting each; more are left to the engine. */
const RANKED_MAX = 64;
/** A rank holds so many bytes of a name, and behind them which field it is of. */
const RANK_BYTES = 5;
const ranks = new Float64Array(RANKED_MAX);

/**
 * No text is made or compared but one of each whole field: of a text message of Twilio, 1 KB in 20
 * fields, what is signed is made in 0.9 µs instead of 1.4.
 */
function sortedPlain(form: PlainForm): string {
  const { text, places } = form;
  const count = places.length / 3;
  for (let field = 0; field < count; field += 1) insertRank(form, field);
  let sorted = '';
  for (let index = 0; index < count; index += 1) {
    const place = fieldOf(ranks[index] ?? 0) * 3;
    sorted += text.slice(places[place], places[place + 2]);
  }
  return sorted;
}

/** Puts a field among those before it. */
function insertRank(form: PlainForm, field: number): void {
  const { bytes, places } = form;
  const start = places[field * 3] ?? 0;
  const size = (places[field * 3 + 1] ?? 0) - start;
  let prefix = 0;
  for (let index = 0; index < RANK_BYTES; index += 1) {
    prefix = prefix * 0x100 + (index < size ? bytes[start + index] ?? 0 : 0);
  }
  const rank = prefix * RANKED_MAX + field;
  let index = field;
  for (; index > 0; index -= 1) {
    const before = ranks[index - 1] ?? 0;
    if (before < prefix * RANKED_MAX) break;
    if (before < rank && isBefore(form, fieldOf(before), field)) break;
    ranks[index] = before;
  }
  ranks[index] = rank;
}

/** By all bytes of their names. */
function isBefore({ bytes, places }: PlainForm, left: number, right: number): boolean {
  let leftAt = places[left * 3] ?? 0;
  let rightAt = places[right * 3] ?? 0;
  const leftEnd = places[left * 3 + 1] ?? 0;
  const rightEnd = places[right * 3 + 1] ?? 0;
  while (leftAt < leftEnd && rightAt < rightEnd) {
    const difference = (bytes[leftAt] ?? 0) - (bytes[rightAt] ?? 0);
    if (difference !== 0) return difference < 0;
    leftAt += 1;
    rightAt += 1;
  }
  return rightAt < rightEnd;
}

// Not by %: the rest of a number beyond 32 bits takes longer than all else.
function fieldOf(rank: number): number {
  return rank - Math.floor(rank / RANKED_MAX) * RANKED_MAX;
}
