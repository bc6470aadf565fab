/** API tokens as a list for the terminal. They are no resource of the API. */
import type { ListedResource } from '../resources/resource.ts';

/** The list for callers over TCP, which is all that they may ask of tokens. */
export const TOKEN_LIST_PATH = '/api/tokens';

export const tokenResource: ListedResource = {
  path: '/control/tokens',
  noun: 'token',
  plural: 'tokens',
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'NAME', member: 'name', widthMin: 16 },
    { title: 'SCOPE', member: 'scope', fit: 'whole' },
    { title: 'EVENTS', member: 'events', importance: 4 },
    { title: 'WEBHOOKS', member: 'webhooks', importance: 4 },
    { title: 'CREATED', member: 'createdAt', form: 'time', importance: 1 },
    { title: 'EXPIRES', member: 'expiresAt', form: 'time', importance: 3 },
    { title: 'LAST USED', member: 'lastUsedAt', form: 'time', importance: 2 },
    { title: 'REVOKED', member: 'revokedAt', form: 'time' },
  ],
};
