/** Describes stored requests as a list resource. Requests come in, so nobody adds one by hand. */
import { isJsonObject } from '../../base/fields.ts';
import type { ListedResource } from '../../resources/resource.ts';
import { firstText } from '../members/members.ts';

export const requestResource: ListedResource = {
  path: '/api/requests',
  noun: 'request',
  plural: 'requests',
  columns: [
    { title: 'ID', member: 'id', form: 'identifier' },
    {
      title: 'STATUS', member: 'status', fit: 'whole',
      tones: {
        done: 'good', pending: 'warning', duplicate: 'warning', failed: 'bad', rejected: 'bad',
      },
    },
    { title: 'EVENT', member: 'event', widthMin: 12 },
    {
      title: 'HOOK', member: 'path', importance: 4,
      show: (path, { hookName }) => firstText(hookName, path),
    },
    { title: 'RECEIVED', member: 'receivedAt', form: 'time' },
    {
      title: 'ANSWERED', member: 'answered', importance: 3,
      show: (answered) => isJsonObject(answered) ? String(answered['status']) : null,
    },
    { title: 'BYTES', member: 'bodyBytes', importance: 1 },
    { title: 'CLIENT', member: 'client', importance: 2 },
  ],
};
