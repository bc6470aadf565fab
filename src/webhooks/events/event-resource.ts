/** Describes events as a list resource. */
import type { ListedResource } from '../../resources/resource.ts';

export const eventResource: ListedResource = {
  path: '/api/events',
  noun: 'event',
  plural: 'events',
  columns: [
    { title: 'ID', member: 'id', form: 'identifier' },
    { title: 'NAME', member: 'name', widthMin: 16 },
    { title: 'SOURCE', member: 'source', importance: 3 },
    { title: 'KEY', member: 'key', widthMin: 8, importance: 2 },
    {
      title: 'HEARD', member: 'heard', importance: 4,
      show: (heard) => heard === true ? 'yes' : 'no',
      tones: { true: 'good' },
    },
    { title: 'CREATED', member: 'createdAt', form: 'time', importance: 5 },
    { title: 'BYTES', member: 'payloadBytes', importance: 1 },
  ],
};
