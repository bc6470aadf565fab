/** The values of compared members, for people. */
import { formatStars, formatValue } from '../../base/format.ts';
import { isContainer } from '../../base/json-text.ts';
import { FINGERPRINTS } from '../../parts/forms/edit-record.ts';
import { valueLabels } from '../../base/book-labels.ts';
import type { MemberPath } from './compare-books.ts';

/** Whether people want to see it: not what the server notes of imports. */
export function isForPeople(path: MemberPath): boolean {
  return !path.includes(FINGERPRINTS);
}

/**
 * In the words of the form: `–` for none, stars, `Audiobook`. The items of a list are one text, of
 * authors and series what each says.
 */
export function formatMember(path: MemberPath, value: unknown): string {
  const name = String(path.at(-1)).split('.').at(-1) ?? '';
  if (name === 'rating' && value !== undefined) return formatStars(Number(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return valueLabels[name]?.[value] ?? value;
  if (Array.isArray(value)) {
    const areTexts = value.every((item) => typeof item === 'string');
    return value.map(formatItem).join(areTexts ? ', ' : '; ');
  }
  if (!isObject(value)) return formatValue(value);
  return Object.entries(value).filter(([key]) => isForPeople([key]))
    .map(([key, item]) => `${key}: ${formatItem(item)}`).join(', ') || '–';
}

function formatItem(item: unknown): string {
  return isContainer(item)
    ? Object.values(item).map(formatItem).join(', ') : formatValue(item);
}

/** Whether it has members with names. */
export function isObject(value: unknown): value is object {
  return isContainer(value) && !Array.isArray(value);
}
