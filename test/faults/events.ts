/** Faults of events: their search, their list, delays, and backfill. */
import type { PlantedFault } from './fault.ts';

export const EVENT_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/search/search-query.ts',
    text: 'return predicates.every((predicate) => predicate(facts));', replacement: 'return true;',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'if (isOver()) return { items, stoppedAt: walk.position() };', replacement: '',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/events/event-columns.ts',
    text: 'this.#heard.createTest(isHeard),', replacement: '',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/events/event-columns.ts',
    text: ', this.#keys.createTest(key),', replacement: ',',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'if (!transaction.delete(delayedEventCollection.name, id)) return false;',
    replacement: 'transaction.delete(delayedEventCollection.name, id);',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'addReceivers(transaction, eventId, [identifier], [hook]);', replacement: '',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'deliverAt === null ? ', replacement: 'deliverAt !== undefined ? ',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: '!webhookIds.includes(webhookId)', replacement: 'webhookIds.length === 0',
    tests: ['webhooks/deliveries/missed-events.test.ts', 'webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: 'name === null || to !== undefined', replacement: 'name === null',
    tests: ['webhooks/deliveries/missed-events.test.ts'],
  },
];
