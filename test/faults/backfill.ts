/** Faults of backfill: what it makes, what it passes over, and the hold that it has. */
import type { PlantedFault } from './fault.ts';

export const BACKFILL_FAULTS: readonly PlantedFault[] = [
  {
    // A job that stops through a bug does so again whenever another one ends.
    file: 'webhooks/bulk/jobs.ts',
    text: ' || this.#stoppedIds.has(id)', replacement: '',
    tests: ['webhooks/bulk/jobs.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'addLateDeliveries(transaction, eventId, [identifier], [hook]);', replacement: '',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'deliverAt === null ? ', replacement: 'deliverAt !== undefined ? ',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'queuedAt: formatTimestamp(Math.min(findPlaceMs(eventId, record), beginMs - 1))',
    replacement: 'queuedAt: createdAt',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'Math.min(findPlaceMs(eventId, record), beginMs - 1)',
    replacement: 'findPlaceMs(eventId, record)',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'if (current !== webhook) matches', replacement: 'if (webhook === undefined) matches',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/backfill.ts',
    text: 'if (!isFull || !isAllHeld(webhookId)) throw thrown;', replacement: 'throw thrown;',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/stage-job.ts',
    text: "if (webhookId !== null && status !== 'running') deleteHold(transaction, webhookId, id);",
    replacement: '',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/stage-job.ts',
    text: "if (webhookId !== null && status !== 'running') deleteHold(",
    replacement: 'if (webhookId !== null) deleteHold(',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'if (holdPlace !== undefined && first.place >= holdPlace) return undefined;',
    replacement: '',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: 'followRecords(deps.store.collection(backfillCollection.name), (',
    replacement: 'deps.store.collection(backfillCollection.name).onChange((',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/bulk/job.ts',
    text: 'const place = hook === null ? kind : `${kind} ${hook}`;',
    replacement: 'const place = hook === null ? kind : `${kind} ${id}`;',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/job.ts',
    text: 'const place = hook === null ? kind : `${kind} ${hook}`;',
    replacement: 'const place = kind;',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/bulk/bulk-route.ts',
    text: 'if (isDryRun) {', replacement: 'if (false) {',
    tests: ['webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: '!webhookIds.includes(webhookId)', replacement: 'webhookIds.length === 0',
    tests: ['webhooks/deliveries/missed-events.test.ts', 'webhooks/bulk/backfill.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: '...lateWebhookIds, ', replacement: '',
    tests: ['webhooks/deliveries/missed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: 'name === null || to !== undefined', replacement: 'name === null',
    tests: ['webhooks/deliveries/missed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/missed-events.ts',
    text: 'if (find(delayedEventCollection.name, id) !== undefined) return false;',
    replacement: '',
    tests: ['webhooks/deliveries/missed-events.test.ts'],
  },
];
