/** Faults of deliveries, durable queue, inbox, runs, scheduler, sending and bulk jobs. */
import type { PlantedFault } from './fault.ts';

const DELIVERIES: readonly PlantedFault[] = [
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: '[...attempts, attempt].slice(-ATTEMPTS_MAX)', replacement: '[...attempts, attempt]',
    tests: ['webhooks/deliveries/delivery.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: 'Math.min(PROXY_DELAY_MS_BASE * 2 ** before, PROXY_DELAY_MS_MAX)',
    replacement: 'PROXY_DELAY_MS_BASE * 2 ** before',
    tests: ['webhooks/deliveries/delivery.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: "return kind === 'delivered' ? finish(after",
    replacement: "return kind === 'gone' ? finish(after",
    tests: ['webhooks/deliveries/delivery.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: "status === 'pending' || status === 'failed'", replacement: "status === 'pending'",
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: "if (kind === 'proxy') return withUpdatedAt(delivery, nowMs);", replacement: '',
    tests: ['webhooks/deliveries/delivery.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'for (const mark of POSTPONED_MARKS) if (hasMarkAt(bytes, mark, at)) return null;',
    replacement: '',
    tests: ['webhooks/deliveries/delivery-codec.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'record.isPayload ?? (record.sent !== undefined && record.body === undefined)',
    replacement: 'record.isPayload ?? false',
    tests: ['webhooks/deliveries/sent-request.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'hasMarkAt(bytes, UPDATED_MARK, createdEnd)', replacement: 'true',
    tests: ['webhooks/deliveries/delivery-codec.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'return embeddedAt === -1 || at < embeddedAt ? at : -1;', replacement: 'return at;',
    tests: ['webhooks/deliveries/delivery-list.test.ts'],
  },
  {
    file: 'webhooks/deliveries/fan-out.ts',
    text: 'deriveIds(seed, start)', replacement: 'deriveIds(seed)',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/deliveries/fan-out.ts',
    text: 'this.#isFailing || this.#isCutOff)', replacement: 'this.#isFailing)',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/deliveries/fan-out.ts',
    text: 'RETRY_MS, this.#closing.signal)', replacement: 'RETRY_MS)',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/deliveries/fan-out.ts',
    text: 'if (isTemporary(thrown)) {', replacement: 'if (true) {',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/deliveries/fan-out.ts',
    text: 'if (end < webhookIds.length) {', replacement: 'if (end + 1 < webhookIds.length) {',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'createdAt, name, source, key, hops, trace };',
    replacement: 'createdAt, name, source, key, hops: hops - 1, trace };',
    tests: ['webhooks/deliveries/deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'describeReceivers(webhooks, name, findIds())',
    replacement: 'describeReceivers(webhooks, name, webhooks.findTriggered(name))',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'readMember(bytes, EVENT_ID_MARK) ??',
    replacement: 'readMember(bytes.subarray(bytes.lastIndexOf(EVENT_ID_MARK)), EVENT_ID_MARK) ??',
    tests: ['webhooks/deliveries/delivery-codec.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-sender.ts',
    text: 'if (wasServerNotAsked(error)) return', replacement: 'if (false) return',
    tests: ['webhooks/sending/webhook-sender.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'matchingIds.filter((webhookId) => webhookId !== except)', replacement: 'matchingIds',
    tests: ['webhooks/deliveries/system-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/queue-capacity.ts',
    text: 'this.#reservedBytes - reserved;', replacement: 'this.#reservedBytes;',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/queue-capacity.ts',
    text: 'this.#reservedBytes -= bytes;', replacement: '',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/queue-capacity.ts',
    text: 'this.#stagedSeeds.add(seed);', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-publisher.ts',
    text: 'const payloadBytes = Buffer.byteLength(payloadJson);',
    replacement: 'const payloadBytes = payloadJson.length;',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'return capacity.reserveWhile(sum, commit);', replacement: 'return commit();',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/bulk/delivery-resend.ts',
    text: 'service.reserveResends(ids, as, commit)', replacement: 'commit()',
    tests: ['webhooks/bulk/delivery-resend.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'capacity.isEventQueued(eventId) ? 0 : ', replacement: '',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'stored.bytes.length + bodyBytes', replacement: 'stored.bytes.length',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'countedEventIds.has(eventId) || ', replacement: '',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-service.ts',
    text: '.pending, wanted.length, 0)', replacement: '.pending, deliveries.length, 0)',
    tests: ['webhooks/deliveries/queue-capacity.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'if (!statuses.includes(status)) {',
    replacement: "if (status === 'cancelled') {",
    tests: ['webhooks/deliveries/deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/sent-request.ts',
    text: 'redactHeaders(headers)', replacement: 'Object.entries(headers).flat().map(String)',
    tests: ['webhooks/deliveries/sent-request.test.ts'],
  },
  {
    file: 'webhooks/deliveries/system-events.ts',
    text: 'if (isSystemEventName(delivery.event)) return;', replacement: '',
    tests: ['webhooks/deliveries/system-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-reconciliation.ts',
    text: 'embeddedEvent === null && events.findSlot(eventId) === -1', replacement: 'false',
    tests: ['webhooks/sending/limits.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-retention.ts',
    text: "failed: 'failed'", replacement: "failed: 'finished'",
    tests: ['webhooks/sending/limits.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-record.ts',
    text: '!/[\\r\\n]/.test(payloadJson)', replacement: 'true',
    tests: ['webhooks/deliveries/payload-bytes.test.ts'],
  },
];

const EVENTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/deliveries/delivery-codec.ts',
    text: 'if (isPayload !== (sent !== null && embeddedBody === null))',
    replacement: 'if (isPayload && sent === null)',
    tests: ['webhooks/deliveries/delivery-codec.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery.ts',
    text: "delivery.status === 'pending' ? delivery.queuedAt : now", replacement: 'now',
    tests: ['webhooks/deliveries/delivery.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-changes.ts',
    text: 'if (embeddedEvent !== null) {', replacement: 'if (hook === null) {',
    tests: ['webhooks/deliveries/convert-deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-changes.ts',
    text: 'transaction.delete(deliveryBodyCollection.name, id);', replacement: '',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-changes.ts',
    text: ' && isForward(bytes)', replacement: '',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/convert-deliveries.ts',
    text: 'if (webhookId === null) return null;', replacement: 'if (webhookId === null) continue;',
    tests: ['webhooks/deliveries/convert-deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/convert-deliveries.ts',
    text: 'deleteFinishedMark(transaction, id);', replacement: '',
    tests: ['webhooks/deliveries/convert-deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-use.ts',
    text: 'this.#countsWithoutEvent.get(id) ?? NO_USE;', replacement: 'NO_USE;',
    tests: ['webhooks/deliveries/event-use.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-use.ts',
    text: 'if (isRouteDeliveryId(id)) return;', replacement: '',
    tests: ['webhooks/deliveries/event-use.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: 'this.#sweptUpTo = eventId.slice(0, -1);', replacement: '{}',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: 'if (findLateDeliveries(transaction, id).deliveries.some(isKept)) return false;',
    replacement: '',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/event-retention.ts',
    text: '    || find(fanOutCollection.name, id) !== undefined;', replacement: ';',
    tests: ['webhooks/deliveries/event-retention.test.ts'],
  },
  {
    file: 'webhooks/deliveries/emit-routes.ts',
    text: "isControl ? 'command' : 'api'", replacement: "'api'",
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
  {
    file: 'webhooks/deliveries/resend.ts',
    text: 'addLateDeliveries(transaction, eventId, [delivery.identifier], [hook]);',
    replacement: '',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
];

const DURABLE_QUEUE: readonly PlantedFault[] = [
  {
    // Whoever closes a second time goes on while attempts are under way.
    file: 'webhooks/durable-queue/queue-worker.ts',
    text: 'return this.#whenClosed;', replacement: 'return Promise.resolve();',
    tests: ['webhooks/durable-queue/queue-worker.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-worker.ts',
    text: 'if (!ownership.mayBegin()) return;', replacement: '',
    tests: ['webhooks/durable-queue/ownership.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-worker.ts',
    text: "return this.#postpone(id, 'could not be recorded', thrown);",
    replacement: 'item = undefined;',
    tests: ['webhooks/sending/trouble.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/result-batch.ts',
    text: 'lease.isHeld(transaction)\n', replacement: 'true\n',
    tests: ['webhooks/durable-queue/ownership.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/unit-of-work.ts',
    text: 'stored !== null && isCurrent(stored, bytes, this.#find)', replacement: 'stored !== null',
    tests: ['webhooks/sending/attempts.test.ts', 'webhooks/runs/webhook.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/unit-of-work.ts',
    text: 'this.#totals[from] -= 1;', replacement: '',
    tests: ['webhooks/inbox/request-changes.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/retry-time.ts',
    text: 'isSetBack ? nowMs + (dueAtMs - writtenAtMs) : dueAtMs', replacement: 'dueAtMs',
    tests: ['webhooks/scheduler/clock.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-spec.ts',
    text: ' || bytes > CHUNK_BYTES_MAX', replacement: '',
    tests: ['webhooks/durable-queue/turn-batch.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-retention.ts',
    text: 'readEnd(bytes, find)?.atMs === endedAtMs;',
    replacement: 'readEnd(bytes, find) !== null;',
    tests: ['webhooks/inbox/inbox-retention.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-retention.ts',
    text: 'if (!this.#deps.ownership.isMaintainer()) return this.#dropOutdated();',
    replacement: '',
    tests: ['webhooks/durable-queue/ownership.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-reconciliation.ts',
    text: 'if (expected !== actual) {', replacement: 'if (expected < actual) {',
    tests: ['webhooks/sending/limits.test.ts', 'webhooks/inbox/request-routes.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-list-route.ts',
    text: 'for (const [name, value] of parameters) next.append(name, value);', replacement: '',
    tests: ['webhooks/inbox/request-routes.test.ts'],
  },
  {
    file: 'webhooks/durable-queue/queue-filter.ts',
    text: 'atMs < untilMs', replacement: 'atMs <= untilMs',
    tests: ['webhooks/deliveries/deliveries.test.ts'],
  },
];

const INBOX: readonly PlantedFault[] = [
  {
    file: 'webhooks/inbox/inbox-capacity.ts',
    text: 'accepting.then(release, release);', replacement: '',
    tests: ['webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/inbox/inbox-capacity.ts',
    text: "status !== 'pending' && !isPinned", replacement: "status !== 'pending'",
    tests: ['webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-service.ts',
    text: "if (status === 'pending') throw stillPendingError(id);", replacement: '',
    tests: ['webhooks/inbox/request-routes.test.ts'],
  },
  {
    file: 'webhooks/inbox/stored-request.ts',
    text: '[name, isHidden(name) ? MASK : value]', replacement: '[name, value]',
    tests: ['webhooks/inbox/request-codec.test.ts'],
  },
  {
    file: 'webhooks/inbox/replay.ts',
    text: "routes.filter((route) => route.status === 'pending' || route.status === 'failed')",
    replacement: 'routes',
    tests: ['webhooks/inbox/replay.test.ts'],
  },
  {
    file: 'webhooks/actions/commands/command-slots.ts',
    text: 'order !== null && isRetry && order < runs.newestOrder', replacement: 'false',
    tests: ['webhooks/runs/waiting-runs.test.ts'],
  },
  {
    file: 'webhooks/actions/commands/command-slots.ts',
    text: 'waitingTurn !== null && isOlder(request, waitingTurn.request)', replacement: 'false',
    tests: ['webhooks/actions/commands/command-slots.test.ts'],
  },
  {
    file: 'webhooks/runs/request-worker.ts',
    text: 'this.#waitingRuns.giveUpAll(webhookId);', replacement: '',
    tests: ['webhooks/runs/waiting-runs.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'this.#countRunning(target, isWaiting ? -1 : 1);', replacement: '',
    tests: ['webhooks/runs/waiting-runs.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-codec.ts',
    text: "coalesced ? 'coalesced' : route.status", replacement: 'route.status',
    tests: ['webhooks/inbox/old-form.test.ts'],
  },
  {
    file: 'webhooks/compose-incoming.ts',
    text: "if (isCoalesced) return onOutcome('runs', webhookId, 'coalesced', null);",
    replacement: '',
    tests: ['webhooks/runs/coalesced.test.ts'],
  },
  {
    file: 'webhooks/inbox/event-ids.ts',
    text: ' || readExpiryMs(bytes) <= nowMs', replacement: '',
    tests: ['webhooks/inbox/event-ids.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: 'transaction.delete(requestBodyCollection.name, id);', replacement: '',
    tests: ['webhooks/inbox/request-routes.test.ts'],
  },
  {
    file: 'webhooks/inbox/inbox-retention.ts',
    text: 'state === null || state.isPinned', replacement: 'state === null',
    tests: ['webhooks/inbox/inbox-retention.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: 'if (bytesBefore === undefined || hasOldForm(bytesBefore)) {',
    replacement: 'if (bytesBefore === undefined) {',
    tests: ['webhooks/inbox/old-form.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: 'if (mustWriteOldForm(find)) return stageOldForm(transaction, request);',
    replacement: '', tests: ['webhooks/inbox/old-form.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: 'before.routes[index] === route', replacement: 'before.routes[index] === null',
    tests: ['webhooks/inbox/request-service.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: '  for (const index of routes.keys()) {', replacement: '  for (const index of []) {',
    tests: ['webhooks/inbox/request-changes.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-changes.ts',
    text: 'return isSameMemory(storedBytes, bytes) && partBytes.every(',
    replacement: 'return isSameMemory(storedBytes, bytes) || partBytes.every(',
    tests: ['webhooks/inbox/request-changes.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-states.ts',
    text: 'if (isRouteDeliveryId(id)) this.#refresh(parseRequestId(id));', replacement: '',
    tests: ['webhooks/inbox/request-list.test.ts'],
  },
];

const RUNS: readonly PlantedFault[] = [
  {
    file: 'webhooks/runs/apply-run.ts',
    text: "if (route.status !== 'pending') return applyLateRun(route, attempt, isCoalesced);",
    replacement: '',
    tests: ['webhooks/runs/apply-run.test.ts'],
  },
  {
    file: 'webhooks/runs/request-worker.ts',
    text: "hasFailed = before.status === 'pending' && ", replacement: 'hasFailed = ',
    tests: ['webhooks/runs/request-worker.test.ts'],
  },
  {
    file: 'webhooks/runs/request-worker.ts',
    text: `    });
    if (this.#loop.isStarted) this.#failIfOrphaned(webhookId);`,
    replacement: '    });',
    tests: ['webhooks/runs/request-worker.test.ts'],
  },
];

const SCHEDULER: readonly PlantedFault[] = [
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'runningCount >= runningMax', replacement: 'runningCount > runningMax',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'return all.peek() === first ? first : undefined;', replacement: 'return first;',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: '    this.#passOnTurn(target);\n    this.#dropTargetIfIdle(target);',
    replacement: '    this.#dropTargetIfIdle(target);',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: '      this.#passOnTurn(target);\n    }',
    replacement: '      this.#unblock(target);\n    }',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: "if (!wasHealthy && health === 'healthy') this.#unblockHealthy(target);", replacement: '',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/task-queues.ts',
    text: 'return isPaused ? 0 : ', replacement: 'return ',
    tests: ['webhooks/scheduler/task-queues.test.ts'],
  },
  {
    file: 'webhooks/scheduler/scheduler.ts',
    text: 'if (oldestPlace === null || place < oldestPlace) oldestPlace = place;',
    replacement: 'oldestPlace ??= place;',
    tests: ['webhooks/deliveries/durable-send.test.ts'],
  },
  {
    file: 'webhooks/scheduler/scheduler.ts',
    text: "if (this.#unsettledIds.has(id)) task.state = 'unsettled';\n    else ", replacement: '',
    tests: ['webhooks/scheduler/scheduler.test.ts'],
  },
  {
    file: 'webhooks/scheduler/scheduler.ts',
    text: 'pauseMs > 0 && !this.#isClosed', replacement: 'pauseMs > 0',
    tests: ['webhooks/scheduler/scheduler.test.ts'],
  },
  {
    file: 'webhooks/scheduler/due-times.ts',
    text: 'if (!isSetBack) return;', replacement: 'if (!isSetBack || isSetBack) return;',
    tests: ['webhooks/scheduler/clock.test.ts'],
  },
];

const SENDING: readonly PlantedFault[] = [
  {
    file: 'webhooks/sending/attempt-recorder.ts',
    text: " || outcome.kind === 'proxy'", replacement: '',
    tests: ['webhooks/sending/disabling.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-attempt.ts',
    text: 'if (!lease.mayContinue()) return null;', replacement: '',
    tests: ['webhooks/durable-queue/ownership.test.ts'],
  },
  {
    file: 'webhooks/sending/request-builder.ts',
    text: 'webhook === undefined || (!webhook.enabled && !webhook.isProbed)',
    replacement: 'webhook === undefined',
    tests: ['webhooks/sending/preparing.test.ts'],
  },
  {
    file: 'webhooks/sending/request-builder.ts',
    text: 'hideUrlSecrets(targetUrl)', replacement: 'targetUrl',
    tests: ['webhooks/deliveries/sent-request.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-sender.ts',
    text: 'if (signal.aborted) return null;', replacement: '',
    tests: ['webhooks/sending/limits.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: 'fanOuts.unwrittenCount === 0 && ', replacement: '',
    tests: ['webhooks/deliveries/fan-out.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: ' && delayedEvents.overdueCount === 0', replacement: '',
    tests: ['webhooks/deliveries/delayed-events.test.ts'],
  },
  {
    file: 'webhooks/deliveries/convert-deliveries.ts',
    text: 'if (fanOuts.findSlot(id) === -1) return true;', replacement: 'return true;',
    tests: ['webhooks/deliveries/convert-deliveries.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-reconciliation.ts',
    text: 'if (mayBegin(findCommitted(store), id, bytes)) return', replacement: 'return',
    tests: ['webhooks/deliveries/delivery-reconciliation.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-retirement.ts',
    text: 'if (!lease.isHeld(transaction)) return LEASE_LOST;', replacement: '',
    tests: ['webhooks/sending/webhook-retirement.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-retirement.ts',
    text: ' || !hasTarget(transaction, webhookId, targetUrl)', replacement: '',
    tests: ['webhooks/sending/webhook-retirement.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-retirement.ts',
    text: 'if (isTargetGone) fail(', replacement: 'fail(',
    tests: ['webhooks/sending/webhook-retirement.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-retirement.ts',
    text: 'isDisabled = isTargetGone && ', replacement: 'isDisabled = ',
    tests: ['webhooks/sending/webhook-retirement.test.ts'],
  },
];

const BULK: readonly PlantedFault[] = [
  {
    file: 'webhooks/bulk/job.ts',
    text: "running: status === 'running' ? place : undefined", replacement: 'running: undefined',
    tests: ['webhooks/bulk/jobs.test.ts'],
  },
  {
    file: 'webhooks/bulk/record-selection.ts',
    text: 'idsAddedLater.add(id);', replacement: '{}',
    tests: ['webhooks/bulk/jobs.test.ts'],
  },
  {
    file: 'webhooks/bulk/run-job.ts',
    text: ' || current.after !== job.after', replacement: '',
    tests: ['webhooks/bulk/jobs.test.ts'],
  },
];

export const DELIVERY_FAULTS: readonly PlantedFault[] = [
  ...DELIVERIES, ...EVENTS, ...DURABLE_QUEUE, ...INBOX, ...RUNS, ...SCHEDULER, ...SENDING, ...BULK,
];
