/** Description of the list of nodes; nobody creates them by the API. */
import type { ListedResource } from '../resources/resource.ts';

export const nodeResource: ListedResource = {
  path: '/api/nodes',
  noun: 'node',
  plural: 'nodes: only those that share a store by store.url are listed',
  columns: [
    { title: 'NODE', member: 'identifier', form: 'identifier' },
    {
      title: 'STATE', member: 'isLive', fit: 'whole', tones: { true: 'good', false: 'bad' },
      show: (isLive) => isLive === true ? 'live' : 'silent',
    },
    { title: 'ADDRESS', member: 'address', importance: 3 },
    { title: 'VERSION', member: 'version', fit: 'whole', importance: 2 },
    {
      title: 'SHARDS', member: 'shards', fit: 'whole',
      show: (shards) => Array.isArray(shards) ? String(shards.length) : null,
    },
    { title: 'POSITION', member: 'position', importance: 4 },
    { title: 'LAG', member: 'lag' },
    { title: 'LAST HEARD', member: 'lastHeardAt', form: 'time' },
    { title: 'STARTED', member: 'startedAt', form: 'time', importance: 1 },
  ],
};
