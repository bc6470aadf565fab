/** Deliveries as a list: the service makes them, so nobody adds or changes one by hand. */
import type { Listed } from '../../resources/resource.ts';

export const deliveryResource: Listed = {
  path: '/api/deliveries',
  noun: 'delivery',
  plural: 'deliveries',
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    {
      title: 'STATUS', member: 'status', isWhole: true,
      tones: { delivered: 'good', pending: 'warning', failed: 'bad' },
    },
    { title: 'EVENT', member: 'event', widthMin: 16 },
    { title: 'HOOK', member: 'hook', form: 'identifier', importance: 1 },
    { title: 'CREATED', member: 'createdAt', form: 'time' },
    { title: 'NEXT ATTEMPT', member: 'nextAttemptAt', form: 'time', importance: 2 },
    {
      title: 'ATTEMPTS', member: 'attempts', importance: 3,
      show: (attempts) => Array.isArray(attempts) ? String(attempts.length) : '0',
    },
  ],
};
