/** Faults of resources: writes, keys of idempotency, conditions, what expires, and lists. */
import type { PlantedFault } from './fault.ts';

const REPOSITORY = ['resources/repository.test.ts'];
const KEYS = ['resources/idempotency-keys.test.ts'];

export const RESOURCE_FAULTS: readonly PlantedFault[] = [
  // A record that is overwritten, or a change that nobody hears of.
  {
    file: 'resources/repository.ts',
    text: 'key !== undefined && transaction.find(collection.name, id) !== undefined',
    replacement: "key === ''", tests: REPOSITORY,
  },
  {
    file: 'resources/repository.ts',
    text: 'precondition?.(createRepresentation(resource, id, bytes));\n      const { fields }',
    replacement: 'const { fields }', tests: REPOSITORY,
  },
  {
    file: 'resources/record-stager.ts',
    text: 'after: bytes };\n    stageWithChange?.(transaction, change, inputs);',
    replacement: 'after: bytes };', tests: REPOSITORY,
  },
  {
    file: 'resources/record.ts', text: 'Math.max(nowMs, readUpdatedMs(key, id, before) + 1)',
    replacement: 'nowMs', tests: ['resources/record.test.ts'],
  },
  {
    file: 'resources/record-stager.ts', text: 'bodyKey !== undefined && pathId !== null && bodyKey',
    replacement: 'bodyKey !== undefined && pathId === bodyKey && bodyKey', tests: REPOSITORY,
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
  {
    file: 'resources/conditional-request.ts', text: 'matchesTag(list, etag, false)',
    replacement: 'matchesTag(list, etag, true)', tests: ['resources/resource-routes.test.ts'],
  },
  {
    file: 'resources/conditional-request.ts', text: "return isRead ? 'not_modified' : 'failed';",
    replacement: "return isRead ? 'not_modified' : 'proceed';",
    tests: ['resources/resource-routes.test.ts'],
  },
  {
    file: 'resources/representation.ts', text: '"${time}-${checksumTag(this.bytes)}"',
    replacement: '"${time}"', tests: ['resources/resource-routes.test.ts'],
  },
  {
    file: 'resources/idempotency-keys.ts', text: '[caller, route.operationId, ...params, key]',
    replacement: '[route.operationId, ...params, key]', tests: KEYS,
  },
  {
    file: 'resources/idempotency-keys.ts', text: 'if (storedResponse.request !== request) {',
    replacement: 'if (storedResponse.request === undefined) {', tests: KEYS,
  },
  {
    file: 'resources/idempotency-keys.ts',
    text: 'if (transaction !== null) storeResponse(transaction, response);', replacement: '',
    tests: KEYS,
  },
  {
    file: 'resources/expiring-records.ts', text: 'readExpiryMs(bytes) === expiryMs',
    replacement: 'true', tests: ['resources/expiring-records.test.ts'],
  },
  // A list that no parser reads.
  {
    file: 'resources/json-array-stream.ts',
    text: 'if (records.length > 0) records.push(COMPACT.separator);', replacement: '',
    tests: ['resources/json-array-stream.test.ts'],
  },
];
