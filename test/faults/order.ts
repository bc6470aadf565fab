/** Faults of the order by key: lanes, places, and what they are read from. */
import type { PlantedFault } from './fault.ts';

export const ORDER_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: ' && findFirst(lane) === task) return true;', replacement: ') return true;',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: "state === 'ready' && lane.runningCount === 0", replacement: "state === 'ready'",
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'if (lane.offeredTask === task) lane.offeredTask = null;\n    return false;',
    replacement: 'return false;',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: "task.state === 'gone' || task.lane !== lane", replacement: "task.state === 'gone'",
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'if (size === 0 && runningCount === 0) queue.lanes?.delete(name);', replacement: '',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'if (size === 0 && runningCount === 0)', replacement: 'if (size === 0)',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'lane.begunCount - 1 > LONG_LANE_THRESHOLD',
    replacement: 'lane.size > LONG_LANE_THRESHOLD',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'base/uuid.ts',
    text: ".padStart(12, '0')", replacement: '',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'if (!isDelayed) this.#begin(task);', replacement: 'this.#begin(task);',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'if (task.hasBegun) queue.push(task);', replacement: 'queue.push(task);',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'if (lane !== null) this.#lanes.endAttempt(lane);', replacement: '',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/filters/order.ts',
    text: 'return `${value.slice(0, KEY_START_LENGTH)}…${digest}`;',
    replacement: 'return value.slice(0, KEY_START_LENGTH) + digest.slice(0, 0);',
    tests: ['webhooks/sending/delivery-order.test.ts'],
  },
  {
    file: 'webhooks/filters/order.ts',
    text: "typeof value === 'number' || typeof value === 'boolean'",
    replacement: "typeof value === 'number'",
    tests: ['webhooks/sending/delivery-order.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-record.ts',
    text: 'return bytes.subarray(0, Math.max(0, findEmbeddedPart(bytes)));',
    replacement: 'return bytes;',
    tests: ['webhooks/sending/delivery-order.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-order.ts',
    text: 'name: JSON.stringify(key), key', replacement: 'name: String(key), key',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-order.ts',
    text: 'place: createPlace(queuedAtMs, identifier), ', replacement: '',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-order.ts',
    text: 'attempts.length === 0', replacement: 'attempts.length >= 0',
    tests: ['webhooks/sending/delivery-order.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: "order === 'strict' ? 1 : maxInFlight", replacement: 'maxInFlight',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: '\n      && !this.#laneUpdates.isUnderWay(webhookId);', replacement: ';',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/lane-updates.ts',
    text: 'if (ids.length > 0) this.#begin(queueKey, ids);', replacement: '',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/deliveries/route-delivery.ts',
    text: "route.status === 'pending' ? route.queuedAt : at", replacement: 'at',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
  {
    file: 'webhooks/deliveries/route-delivery.ts',
    text: "route.status === 'pending' ? route.queuedAt : at", replacement: 'route.queuedAt',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
  {
    file: 'webhooks/deliveries/route-record.ts',
    text: 'if (queuedAt !== null) json += `,"queuedAt":"${queuedAt}"`;', replacement: '',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
  {
    file: 'webhooks/runs/request-worker.ts',
    text: 'if (lane === undefined) this.#idsAwaitingRequest.add(id);', replacement: '',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
  {
    file: 'webhooks/runs/route-order.ts',
    text: 'name: `${routeName} ${JSON.stringify(key)}`', replacement: 'name: JSON.stringify(key)',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
  {
    file: 'webhooks/incoming/webhook-routes.ts',
    text: "if (value === undefined || value === 'none') continue;", replacement: 'continue;',
    tests: ['webhooks/incoming/members.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'const LONG_LANE_THRESHOLD = 100;', replacement: 'const LONG_LANE_THRESHOLD = 99;',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/scheduler/lanes.ts',
    text: 'right.waiting - left.waiting', replacement: 'left.waiting - right.waiting',
    tests: ['webhooks/scheduler/lanes.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-order.ts',
    text: 'return key === null ? null : { name', replacement: 'return { name',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'resendOf: identifier }, createdAt);\n  changeDeliveries',
    replacement: 'resendOf: identifier, queuedAt: stored.item.createdAt }, createdAt);\n'
      + '  changeDeliveries',
    tests: ['webhooks/sending/order.test.ts'],
  },
  {
    file: 'webhooks/incoming/webhook-routes.ts',
    text: "[['/order', order] as const, ...orders]", replacement: 'orders',
    tests: ['webhooks/incoming/members.test.ts'],
  },
  {
    file: 'webhooks/incoming/webhook-routes.ts',
    text: 'actionConfiguration, order })];', replacement: 'actionConfiguration })];',
    tests: ['webhooks/runs/route-order.test.ts'],
  },
];
