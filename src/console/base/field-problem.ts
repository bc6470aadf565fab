/** Words for the problem of a member, and for its place. Pure. */
import { parsePointer } from './json-places.ts';

/** `pointer` is a JSON Pointer into the body that was sent. */
export type FieldProblem = { readonly pointer: string; readonly detail: string };

/** `{ pointer: '/options/name', detail: 'is required' }` reads `Options, name: is required`. */
export function formatFieldProblem({ pointer, detail }: FieldProblem): string {
  const place = joinSteps(parsePointer(pointer));
  return place === '' ? detail : `${place}: ${detail}`;
}

/** Texts of the server have them around names, which people do not need. */
export function dropBackticks(text: string): string {
  return text.replaceAll('`', '');
}

/** `allowedMethods` reads `Allowed methods`. */
export function formatLabel(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
    .replace(/\b(url|isbn|id)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * `/authors/0/birthDate` reads `Authors 1, birth date`, from its steps with their labels: positions
 * begin with 1 for people.
 */
export function joinSteps(
  steps: readonly (string | number)[],
  findLabel: (step: string, index: number) => string = formatLabel,
): string {
  return steps.map((step, index) => {
    if (/^\d+$/.test(String(step))) return ` ${Number(step) + 1}`;
    const label = findLabel(String(step), index);
    return index === 0 ? label : `, ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
  }).join('');
}
