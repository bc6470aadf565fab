/** Books as a resource: where they are served and kept, and how a list shows them. */
import { isJsonObject } from '../base/fields.ts';
import type { JsonValue } from '../base/schema.ts';
import type { Resource } from '../resources/resource.ts';
import { bookExample, bookSchema } from './book.ts';
import { putMergedIds } from './merged-ids.ts';
import { readMergedIds } from './query/stored-fields.ts';

export const bookResource: Resource = {
  path: '/api/books',
  noun: 'book',
  plural: 'books',
  schema: bookSchema,
  collection: { name: 'books', key: 'id' },
  example: bookExample,
  keepStored: (members, stored) => putMergedIds(members, readMergedIds(stored)),
  columns: [
    { title: 'ID', member: 'id', form: 'identifier' },
    { title: 'TITLE', member: 'title', widthMin: 30 },
    { title: 'AUTHORS', member: 'authors', widthMin: 12, importance: 3, show: formatAuthorNames },
    { title: 'PUBLISHED', member: 'datePublished', fit: 'whole', importance: 2 },
    { title: 'ISBN', member: 'isbn', fit: 'whole', importance: 1 },
  ],
};

function formatAuthorNames(authors: JsonValue | undefined): string | null {
  if (!Array.isArray(authors) || authors.length === 0) return null;
  return authors.map((author) => isJsonObject(author) ? author['name'] ?? '-' : '').join('; ');
}
