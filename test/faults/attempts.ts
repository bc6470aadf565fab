/** Faults of what an outgoing webhook says about its attempts: which follow, and how soon. */
import type { PlantedFault } from './fault.ts';

export const ATTEMPT_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/outgoing/retry-on.ts',
    text: 'if (retryOn === undefined || statusCode === null) return true;',
    replacement: 'if (retryOn === undefined) return true;',
    tests: ['webhooks/sending/retry-on.test.ts'],
  },
  {
    file: 'webhooks/outgoing/retry-on.ts', text: 'Math.floor(statusCode / 100)',
    replacement: 'statusCode', tests: ['webhooks/sending/retry-on.test.ts'],
  },
  {
    file: 'webhooks/sending/attempt-recorder.ts', text: 'mayTryAgain ? retrySchedule : []',
    replacement: 'retrySchedule', tests: ['webhooks/sending/retry-on.test.ts'],
  },
  {
    file: 'webhooks/scheduler/pace.ts', text: 'Math.max(this.#nextMs, nowMs) + this.#intervalMs',
    replacement: 'this.#nextMs + this.#intervalMs', tests: ['webhooks/scheduler/pace.test.ts'],
  },
  {
    file: 'webhooks/scheduler/pace.ts', text: '(windowMs + computeLeadMs(startLimit)) / limit',
    replacement: 'windowMs / limit', tests: ['webhooks/scheduler/pace.test.ts'],
  },
  {
    file: 'webhooks/scheduler/pace.ts', text: 'this.#hasStarted ? lastMs',
    replacement: 'true ? lastMs', tests: ['webhooks/scheduler/pace.test.ts'],
  },
  {
    file: 'webhooks/scheduler/scheduler.ts',
    text: '    pacedQueue.timer?.cancel();\n    pacedQueue',
    replacement: '    pacedQueue', tests: ['webhooks/scheduler/pace.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-paces.ts',
    text: 'Math.max(knownWaitMs, Math.min(intervalMs, FIRST_WAIT_MS_MAX))',
    replacement: 'knownWaitMs', tests: ['webhooks/sending/rate.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-paces.ts',
    text: 'lastMs + intervalMs - clock.now()', replacement: '0',
    tests: ['webhooks/sending/rate.test.ts'],
  },
  {
    file: 'webhooks/sending/attempt-recorder.ts', text: 'webhook?.rate !== undefined || isProbe',
    replacement: 'isProbe', tests: ['webhooks/sending/rate.test.ts'],
  },
  {
    file: 'webhooks/sending/attempt-recorder.ts', text: 'attempt.isProbe || ',
    replacement: '', tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/sending/delivery-paces.ts', text: 'pace.countStart(nowMs);\n      end();',
    replacement: 'end();', tests: ['webhooks/sending/rate.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-probes.ts', text: 'if (spacingMs > 0) return',
    replacement: 'if (false) return', tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-probes.ts', text: 'if (dueMs > nowMs) return',
    replacement: 'if (false) return', tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/health/probe.ts', text: "disabledReason === 'failing' && probe === true",
    replacement: 'probe === true', tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/health/probe.ts',
    text: "&& body['enabled'] === false && body['disabledReason'] !== 'failing'",
    replacement: "&& body['enabled'] === false", tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/scheduler/scheduler.ts',
    text: 'queue === undefined || queue.mayStart || queue.runningCount > 0',
    replacement: 'queue === undefined || queue.mayStart',
    tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/outgoing/automatic-disabling.ts',
    text: "(reason !== 'gone' || !isProbed(fields))", replacement: 'true',
    tests: ['webhooks/sending/probe.test.ts'],
  },
  {
    file: 'webhooks/outgoing/outgoing-webhook-index.ts',
    text: 'webhook.enabled || webhook.isProbed', replacement: 'webhook.enabled',
    tests: ['webhooks/sending/probe.test.ts'],
  },
];
