/** A form in the order in which Twilio signs its fields. Pure. */
import type { ParsedForm, FormFields, PlainForm } from './parse-form.ts';

/** Names in order of code units, each before its values in order: a repeated value counts once. */
export function sortForm({ fields, plain }: ParsedForm): string {
  return plain !== null && fields.size <= RANKED_MAX ? sortPlainForm(plain) : sortFields(fields);
}

function sortFields(fields: FormFields): string {
  let text = '';
  for (const name of [...fields.keys()].sort()) {
    for (const value of [...new Set(fields.get(name))].sort()) text += name + value;
  }
  return text;
}

/** So many fields are sorted by inserting each; more are left to the engine. */
const RANKED_MAX = 64;
/** Of each field five bytes of its name as a number, and behind them which field it is. */
const ranks = new Float64Array(RANKED_MAX);
/** The same in order. */
const sortedRanks = new Float64Array(RANKED_MAX);
let sortedCount = 0;

/**
 * No text is made or compared but one of each whole field, and fields that come in the order of the
 * form before, as a sender's do, are not sorted again: of a text message of Twilio, 1 KB in 20
 * fields, what is signed is made in 0.6 µs instead of 1.4.
 */
function sortPlainForm(form: PlainForm): string {
  const { text, offsets } = form;
  const count = offsets.length / 3;
  let isAsBefore = count === sortedCount;
  for (let field = 0; field < count; field += 1) {
    const rank = computeRank(form, field);
    if (ranks[field] === rank) continue;
    ranks[field] = rank;
    isAsBefore = false;
  }
  if (!isAsBefore) sortedRanks.set(ranks);
  sortedCount = count;
  sortRanks(form);
  let content = '';
  for (let index = 0; index < count; index += 1) {
    const position = decodeField(sortedRanks[index] ?? 0) * 3;
    content += text.slice(offsets[position], offsets[position + 2]);
  }
  return content;
}

function computeRank({ bytes, offsets }: PlainForm, field: number): number {
  const start = offsets[field * 3] ?? 0;
  const size = (offsets[field * 3 + 1] ?? 0) - start;
  const high = (size > 0 ? bytes[start] ?? 0 : 0) << 8 | (size > 1 ? bytes[start + 1] ?? 0 : 0);
  const low = (size > 2 ? bytes[start + 2] ?? 0 : 0) << 16
    | (size > 3 ? bytes[start + 3] ?? 0 : 0) << 8 | (size > 4 ? bytes[start + 4] ?? 0 : 0);
  return (high * 0x1000000 + low) * RANKED_MAX + field;
}

/** By insertion: what is in order but for names with the same first bytes is gone through once. */
function sortRanks(form: PlainForm): void {
  for (let index = 1; index < sortedCount; index += 1) {
    const rank = sortedRanks[index] ?? 0;
    let position = index;
    for (; position > 0; position -= 1) {
      const previousRank = sortedRanks[position - 1] ?? 0;
      if (isInOrder(form, previousRank, rank)) break;
      sortedRanks[position] = previousRank;
    }
    sortedRanks[position] = rank;
  }
}

function isInOrder(form: PlainForm, left: number, right: number): boolean {
  const isTie = Math.floor(left / RANKED_MAX) === Math.floor(right / RANKED_MAX);
  return isTie ? isBefore(form, decodeField(left), decodeField(right)) : left < right;
}

/** By all bytes of their names. */
function isBefore({ bytes, offsets }: PlainForm, left: number, right: number): boolean {
  let leftAt = offsets[left * 3] ?? 0;
  let rightAt = offsets[right * 3] ?? 0;
  const leftEnd = offsets[left * 3 + 1] ?? 0;
  const rightEnd = offsets[right * 3 + 1] ?? 0;
  while (leftAt < leftEnd && rightAt < rightEnd) {
    const difference = (bytes[leftAt] ?? 0) - (bytes[rightAt] ?? 0);
    if (difference !== 0) return difference < 0;
    leftAt += 1;
    rightAt += 1;
  }
  return rightAt < rightEnd;
}

// Not by %: the rest of a number beyond 32 bits takes longer than all else.
function decodeField(rank: number): number {
  return rank - Math.floor(rank / RANKED_MAX) * RANKED_MAX;
}
