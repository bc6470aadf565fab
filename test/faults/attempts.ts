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
];
