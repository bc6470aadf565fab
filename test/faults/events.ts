/** Faults of events: which are kept and for how long, their list, delays, and durable sends. */
import type { PlantedFault } from './fault.ts';

const LISTS: readonly PlantedFault[] = [
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
    file: 'webhooks/events/event-columns.ts',
    text: 'this.#sources.createTest(source), ', replacement: '',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/events/event-columns.ts',
    text: 'if (after !== null) this.#columns.refresh(events.findSlot(id));', replacement: '{}',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-record.ts',
    text: ' || find(lateDeliveryCollection.name, id) !== undefined', replacement: '',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'base/event-name.ts',
    text: '(name) => name.startsWith(beginning)',
    replacement: '(name) => name.startsWith(beginning.slice(0, -1))',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/record-columns.ts',
    text: 'atMs >= from && atMs < to', replacement: 'atMs > from && atMs < to',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/record-columns.ts',
    text: 'atMs >= from && atMs < to', replacement: 'atMs >= from && atMs <= to',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/events/event-service.ts',
    text: 'Object.values(filter).every((criterion)',
    replacement: 'Object.values(filter).some((criterion)',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/events/public-event.ts',
    text: 'listed.slice(0, DELIVERIES_SHOWN_MAX)', replacement: 'listed',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
];

const KEEPING: readonly PlantedFault[] = [
  {
    file: 'webhooks/compose-outgoing.ts',
    text: "keep === 'all' && !mustWriteOldForm(find)", replacement: '!mustWriteOldForm(find)',
    tests: ['webhooks/deliveries/unheard-events.test.ts'],
  },
  {
    file: 'webhooks/compose-outgoing.ts',
    text: "keep === 'all' && !mustWriteOldForm(find)", replacement: 'false',
    tests: ['webhooks/deliveries/unheard-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: ': stageWithoutDeliveries(deps, transaction, unit, emission, hops)',
    replacement: ': NOT_KEPT',
    tests: ['webhooks/deliveries/unheard-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: 'if (excess <= 0 && readEventCreatedMs', replacement: 'if (readEventCreatedMs',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: 'if (excess <= 0 && readEventCreatedMs(event) >= oldestMs)',
    replacement: 'if (excess <= 0)',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: '    }, this.#sweptUpTo);\n', replacement: '    }, null, true);\n',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: 'if (!eventUse.isUnused(slot)) {', replacement: 'if (false) {',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-use.ts',
    text: "if (queuedCount > 0) return 'queued';",
    replacement: "if (queuedCount >= 0) return 'queued';",
    tests: ['webhooks/deliveries/event-use.test.ts'],
  },
];

const SOURCES: readonly PlantedFault[] = [
  {
    file: 'app/relay.ts',
    text: "source: 'catalog'", replacement: "source: 'api'",
    tests: ['app/book-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/system-events.ts',
    text: "source: 'own'", replacement: "source: 'api'",
    tests: ['webhooks/deliveries/system-events.test.ts'],
  },
];

const DELAYS: readonly PlantedFault[] = [
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'if (!transaction.delete(delayedEventCollection.name, id)) return false;',
    replacement: 'transaction.delete(delayedEventCollection.name, id);',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'if (reason === null) this.#onStoreRecovery();', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    // Events of a key begin in another order where their node was away for a while.
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'deps.ownership.onChange(() => this.#onOwnershipChange()),', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    // A node that starts sends what came later before it is the maintainer that begins them.
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'else if (!this.#wasMaintainer) this.#addOverdue();', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    // A full engine stops all deliveries.
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'if (store.failure === null) this.#endAllOverdue();', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: ': left.deliverAt < right.deliverAt;', replacement: ': left.id < right.id;',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    // An event that was staged before the webhook was there is missed.
    file: 'webhooks/bulk/backfill.ts',
    text: 'whenReady: () => deps.store.transact(commitBarrier),', replacement: '',
    tests: ['nodes/apps-backfill.test.ts'],
  },
  {
    file: 'webhooks/outgoing/get-named-webhook.ts',
    text: 'await store.transact((transaction) => '
      + 'transaction.findId(outgoingCollection.name, name));',
    replacement: '', tests: ['nodes/apps-backfill.test.ts'],
  },
  {
    // A reader of the stream takes an old event for a new one.
    file: 'app/topics.ts', text: '&& !isConvertedEvent(after)', replacement: '',
    tests: ['app/topics.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'of `EventUse` is called.\n  transaction.delete(delayedEventCollection.name, id);',
    replacement: 'of `EventUse` is called.',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'followRecords(deps.store.collection(delayedEventCollection.name),\n        (change)',
    replacement: 'deps.store.collection(delayedEventCollection.name).onChange(\n        (change)',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'if (!audienceFinder.mayKeepUnheard(findStaged(transaction))) deleteEvent(',
    replacement: 'deleteEvent(',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: 'parseTimestamp(deliverAt) < nowMs ? deliverAt : null', replacement: 'null',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delayed-events.ts',
    text: '\n      && this.#deps.ownership.isMaintainer()) {', replacement: ') {',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'deliverAt === undefined ? findIds()', replacement: 'true ? findIds()',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'if (deliverAt === undefined && !mayKeepUnheard(find)) return NOT_KEPT;',
    replacement: 'if (!mayKeepUnheard(find)) return NOT_KEPT;',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-terms.ts',
    text: 'if (beginMs > latestMs) {', replacement: 'if (false) {',
    tests: ['webhooks/deliveries/event-terms.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-terms.ts',
    text: 'deliverAt === undefined || delaySeconds === undefined ? []', replacement: 'true ? []',
    tests: ['webhooks/deliveries/event-terms.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-terms.ts',
    text: '...beginMs > nowMs ? {', replacement: '...deliverAt !== undefined ? {',
    tests: ['webhooks/deliveries/event-terms.test.ts'],
  },
  {
    file: 'webhooks/deliveries/cancel-event.ts',
    text: 'if (to === undefined || !hasNotBegun(transaction, delivery, nowMs)) {',
    replacement: 'if (to !== undefined && !hasNotBegun(transaction, delivery, nowMs)) {',
    tests: ['webhooks/deliveries/event-terms.test.ts'],
  },
  {
    file: 'webhooks/deliveries/cancel-event.ts',
    text: ' && parseTimestamp(nextAttemptAt) > nowMs', replacement: '',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/event-terms.ts',
    text: "['m', 60]", replacement: "['m', 1]",
    tests: ['cli/commands/events.test.ts'],
  },
];

const SENDS: readonly PlantedFault[] = [
  {
    file: 'webhooks/deliveries/durable-send.ts',
    text: 'if (problem !== null) throw',
    replacement: 'if (problem !== null || webhook.triggerEvent !== name) throw',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'webhooks/deliveries/durable-send.ts',
    text: 'if (problem !== null) throw',
    replacement: 'if (problem !== null || !webhook.enabled) throw',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'webhooks/deliveries/durable-send.ts',
    text: 'queuedAt: deliverAt, nextAttemptAt: deliverAt,', replacement: 'queuedAt: deliverAt,',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'webhooks/deliveries/durable-send.ts',
    text: 'queuedAt: deliverAt, nextAttemptAt: deliverAt,',
    replacement: 'nextAttemptAt: deliverAt,',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: 'const mayStart = enabled && this.#ownsQueue',
    replacement: 'const mayStart = this.#ownsQueue',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
];

const KINDS: readonly PlantedFault[] = [
  {
    file: 'webhooks/deliveries/delivery-list.ts',
    text: "if (isRouteDeliveryId(id)) return kind === 'route';",
    replacement: "if (isRouteDeliveryId(id)) return kind === 'route' || kind === null;",
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-list.ts',
    text: "isForward(bytes) ? 'forward' : 'webhook'", replacement: "'webhook'",
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
  {
    file: 'webhooks/bulk/delivery-resend.ts',
    text: 'DELIVERY_STATUSES), kind: null,', replacement: "DELIVERY_STATUSES), kind: 'all',",
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-service.ts',
    text: 'return [kind, hook,', replacement: 'return [hook,',
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: '  checkNoRoute(identifier);\n', replacement: '',
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
  {
    file: 'webhooks/deliveries/public-route.ts',
    text: "done: 'delivered'", replacement: "done: 'done'",
    tests: ['webhooks/deliveries/delivery-kinds.test.ts'],
  },
];

const ATTEMPTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/sending/request-builder.ts',
    text: 'delivery.isPayload || !deps.bodies.needsMaking(webhook)', replacement: 'false',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
  {
    file: 'webhooks/sending/request-builder.ts',
    text: 'return sendBody(madeBody, false);', replacement: 'return sendBody(madeBody, true);',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
];

const STREAM: readonly PlantedFault[] = [
  {
    file: 'app/topics.ts',
    text: '  isOptional: true,\n', replacement: '',
    tests: ['e2e/event-stream-topic.test.ts'],
  },
  {
    file: 'app/topics.ts',
    text: '!before && after !== null && isEvent(id, after)',
    replacement: '!before && (after === null || isEvent(id, after))',
    tests: ['e2e/event-stream-topic.test.ts'],
  },
  {
    file: 'app/topics.ts',
    text: 'isRouteDeliveryId(id) ? { topic: requestTopic, id: parseRequestId(id) } : null',
    replacement: 'null',
    tests: ['e2e/event-stream-topic.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/watch/watch-events.ts',
    text: "if (!isNamed(formatValue(event['name']))) return;", replacement: '',
    tests: ['e2e/event-watch.test.ts'],
  },
];

export const EVENT_FAULTS: readonly PlantedFault[] = [
  ...LISTS, ...KEEPING, ...SOURCES, ...DELAYS, ...SENDS, ...KINDS, ...ATTEMPTS, ...STREAM,
];
