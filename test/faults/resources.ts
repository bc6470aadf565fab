/** Faults of resources: writes, keys of idempotency, conditions and what expires. */
import type { PlantedFault } from './fault.ts';

const REPOSITORY = ['resources/repository.test.ts'];
const KEYS = ['resources/idempotency-keys.test.ts'];

export const RESOURCE_FAULTS: readonly PlantedFault[] = [
  // A record that is overwritten, or a change that nobody hears of.
  {
    file: 'resources/repository.ts',
    text: 'bodyKey !== undefined && transaction.find(this.#collection, id) !== undefined',
    replacement: "bodyKey === ''", tests: REPOSITORY,
  },
  {
    file: 'resources/repository.ts',
    text: 'precondition?.(createRepresentation(resource, id, before));\n      const wholeBody',
    replacement: 'const wholeBody', tests: REPOSITORY,
  },
  {
    file: 'resources/repository.ts',
    text: 'after: storedRecord.bytes };\n    onChange?.(transaction, change, inputs);',
    replacement: 'after: storedRecord.bytes };', tests: REPOSITORY,
  },
  // A request that is done twice, or refused for good.
  {
    file: 'resources/idempotency-keys.ts', text: 'this.#running.delete(identifier);',
    replacement: '', tests: KEYS,
  },
  {
    file: 'resources/expiring-records.ts', text: 'this.#records.size > countMax ||',
    replacement: '', tests: KEYS,
  },
  {
    file: 'resources/conditional-request.ts',
    text: 'floorToSecond(version.updatedAtMs) > sinceMs',
    replacement: 'version.updatedAtMs > sinceMs', tests: ['resources/resource-routes.test.ts'],
  },
];
