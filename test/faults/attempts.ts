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
    file: 'webhooks/sending/attempt-recorder.ts', text: '? retrySchedule : NO_RETRIES',
    replacement: '? retrySchedule : retrySchedule', tests: ['webhooks/sending/retry-on.test.ts'],
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
    file: 'webhooks/sending/attempt-recorder.ts', text: 'webhook?.rate !== undefined',
    replacement: 'false', tests: ['webhooks/sending/rate.test.ts'],
  },
];
