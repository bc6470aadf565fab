/** The names and values of compared members, for people. */
import { formatLabel, joinSteps } from '../../base/field-problem.ts';
import { formatValue } from '../../base/format.ts';
import { NumberText } from '../../base/json-text.ts';
import { FINGERPRINTS } from '../../parts/forms/edit-record.ts';
import { memberLabels, valueLabels } from './book-labels.ts';
import type { MemberPath } from './compare-books.ts';
import { formatStars } from './book-marks.ts';

/** `Authors 1, born`; metadata has users' names. */
export function formatPath(path: MemberPath): string {
  return joinSteps(path, (step, index) => {
    if (index > 0 && path[0] === 'metadata') return step;
    const names = path.slice(0, index + 1).filter((name) => typeof name === 'string');
    return memberLabels[names.join('.')] ?? formatLabel(step);
  });
}

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
  return isObject(item) || Array.isArray(item)
    ? Object.values(item).map(formatItem).join(', ') : formatValue(item);
}

/** Whether it has members with names. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && !(value instanceof NumberText);
}
