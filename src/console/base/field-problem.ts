/** Words for the problem of a member, and for its place. Pure. */
import { memberLabels } from './book-labels.ts';

/** `pointer` is a JSON Pointer into the body that was sent. */
export type FieldProblem = { readonly pointer: string; readonly detail: string };

/** `{ pointer: '/options/name', detail: 'is required' }` reads `Options, name: is required`. */
export function formatFieldProblem({ pointer, detail }: FieldProblem): string {
  const place = formatPlace(parsePointer(pointer));
  return place === '' ? detail : `${place}: ${detail}`;
}

/** The steps of a JSON Pointer (RFC 6901), `/a~1b/0` as `['a/b', '0']`. */
export function parsePointer(pointer: string): string[] {
  return pointer.split('/').slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
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

/** The label of a member of a book by its path without positions, else the words of its name. */
export function findMemberLabel(path: readonly string[]): string {
  return memberLabels[path.join('.')] ?? formatLabel(path.at(-1) ?? '');
}

/**
 * `/authors/0/birthDate` reads `Authors 1, born`: positions begin with 1 for people. The names in
 * the metadata of a book are those of its source.
 */
export function formatPlace(steps: readonly (string | number)[]): string {
  const names: string[] = [];
  return steps.map((step) => {
    if (/^\d+$/.test(String(step))) return ` ${Number(step) + 1}`;
    names.push(String(step));
    if (names.length === 1) return findMemberLabel(names);
    if (names[0] === 'metadata') return `, ${step}`;
    return joinLabels('', findMemberLabel(names));
  }).join('');
}

/** `Reading, rating` */
export function joinLabels(outer: string, inner: string): string {
  return `${outer}, ${inner.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`;
}
