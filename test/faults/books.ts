/** Faults of the catalog. */
import type { PlantedFault } from './fault.ts';

export const BOOK_FAULTS: readonly PlantedFault[] = [
  {
    file: 'books/isbn.ts', text: '(10 - sum % 10) % 10', replacement: '10 - sum % 10',
    tests: ['books/isbn.test.ts'],
  },
];
