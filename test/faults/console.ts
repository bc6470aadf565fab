/**
 * Faults of the console. They are planted in what runs without a browser: a page with a fault would
 * have to be built for each.
 */
import type { PlantedFault } from './fault.ts';

export const CONSOLE_FAULTS: readonly PlantedFault[] = [
  {
    file: 'console/screens/books/book-files.ts',
    text: '|| ending.length <= longest.length', replacement: "|| longest !== ''",
    tests: ['console/screens/books/book-files.test.ts'],
  },
  {
    file: 'console/screens/books/import-outcome.ts',
    text: "&& value.status === 'skipped'", replacement: '',
    tests: ['console/screens/books/import-outcome.test.ts'],
  },
  {
    file: 'console/screens/books/import-outcome.ts',
    text: 'right[1] - left[1]', replacement: 'left[1] - right[1]',
    tests: ['console/screens/books/import-outcome.test.ts'],
  },
  {
    file: 'console/screens/books/compare-books.ts',
    text: '({ id, createdAt, updatedAt, ...book })', replacement: '({ id, ...book })',
    tests: ['console/screens/books/compare-books.test.ts'],
  },
  {
    file: 'console/screens/books/compare-books.ts',
    text: 'new Set([...firstValues?.keys() ?? [], ...secondValues?.keys() ?? []])',
    replacement: 'new Set(firstValues?.keys())',
    tests: ['console/screens/books/compare-books.test.ts'],
  },
  {
    file: 'console/screens/books/search-corrections.ts',
    text: 'replacements.get(foldWord(word))', replacement: 'replacements.get(word)',
    tests: ['console/screens/books/search-corrections.test.ts'],
  },
  {
    file: 'console/base/json-text.ts',
    text: '/^[-\\d]/.test(token) ? `"${token}"` : token', replacement: 'token',
    tests: ['console/base/json-text.test.ts'],
  },
  {
    file: 'console/base/json-text.ts',
    text: 'if (pretty.length > PRETTY_LENGTH_MAX) return null;', replacement: '',
    tests: ['console/base/json-text.test.ts'],
  },
  {
    file: 'console/base/json-places.ts',
    text: 'if (names.has(name)) {', replacement: 'if (false) {',
    tests: ['console/base/json-places.test.ts'],
  },
  {
    file: 'console/base/json-places.ts',
    text: "if (shorter === '') return null;", replacement: 'return null;',
    tests: ['console/base/json-places.test.ts'],
  },
  {
    file: 'console/screens/configuration/document-references.ts',
    text: "if (another !== undefined || typeof name !== 'string') return null;",
    replacement: "if (typeof name !== 'string') return null;",
    tests: ['console/screens/configuration/document-references.test.ts'],
  },
  {
    file: 'console/parts/run-description.ts',
    text: 'if (isCoalesced(data)) return', replacement: 'if (false) return',
    tests: ['console/parts/run-description.test.ts'],
  },
  {
    file: 'console/parts/forms/condition-text.ts',
    text: 'return hasLineBreak(item) ? item : text;', replacement: 'return item;',
    tests: ['console/parts/forms/condition-text.test.ts'],
  },
  {
    file: 'console/parts/forms/condition-text.ts',
    text: 'value === value.trim() && ', replacement: '',
    tests: ['console/parts/forms/condition-text.test.ts'],
  },
  {
    file: 'console/screens/outgoing/template-preview.ts',
    text: "if (match.startsWith('\\\\')) return '{{';", replacement: '',
    tests: ['console/screens/outgoing/template-preview.test.ts'],
  },
  {
    file: 'console/screens/outgoing/template-preview.ts',
    text: 'value !== null && Object.hasOwn(value, name)', replacement: 'value !== null',
    tests: ['console/screens/outgoing/template-preview.test.ts'],
  },
];
