/** Describes jobs as a list resource. They are added by the bulk routes: see bulk-route.ts. */
import { isUuid, timeOfUuidV7 } from '../../base/uuid.ts';
import type { ListedResource } from '../../resources/resource.ts';

export const jobResource: ListedResource = {
  path: '/api/jobs',
  noun: 'job',
  plural: 'jobs',
  columns: [
    { title: 'ID', member: 'id', form: 'identifier' },
    { title: 'KIND', member: 'kind', fit: 'whole' },
    {
      title: 'STATUS', member: 'status', fit: 'whole',
      tones: { done: 'good', running: 'warning' },
    },
    {
      title: 'STARTED', member: 'id', form: 'time', importance: 1,
      show: (id) => typeof id === 'string' && isUuid(id)
        ? new Date(timeOfUuidV7(id)).toISOString() : null,
    },
    { title: 'TOTAL', member: 'total', importance: 3 },
    { title: 'DONE', member: 'done' },
    { title: 'FAILED', member: 'failed', importance: 2 },
    { title: 'REASON', member: 'reason', importance: 4 },
  ],
};
