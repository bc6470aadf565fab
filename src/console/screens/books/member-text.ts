/** The names and values of compared members, for people. */
import { formatValue } from '../../base/format.ts';
import { NumberText } from '../../base/json-text.ts';
import { formatLabel } from '../../parts/forms/input-field.ts';
import { memberLabels } from './book-labels.ts';
import type { MemberPath } from './compare-books.ts';

/** `Authors, 1, born`: positions begin with 1 for people, and metadata has users' names. */
export function formatPath(path: MemberPath): string {
  const words = path.map((step, index) => {
    if (typeof step === 'number') return String(step + 1);
    if (index > 0 && path[0] === 'metadata') return step;
    const names = path.slice(0, index + 1).filter((name) => typeof name === 'string');
    const label = memberLabels[names.join('.')] ?? formatLabel(step);
    return index === 0 ? label : label.toLowerCase();
  });
  return words.join(', ');
}

/** `–` for none; the items of a list as one text, of authors and series what each says. */
export function formatMember(value: unknown): string {
  if (!Array.isArray(value)) return formatValue(value);
  const areTexts = value.every((item) => typeof item === 'string');
  return value.map(formatItem).join(areTexts ? ', ' : '; ');
}

function formatItem(item: unknown): string {
  return typeof item !== 'object' || item === null || item instanceof NumberText
    ? formatValue(item) : Object.values(item).map(formatItem).join(', ');
}
