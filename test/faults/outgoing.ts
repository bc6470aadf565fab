/** Faults of outgoing webhooks, and of what both kinds share: actions, filters, health, secrets. */
import type { PlantedFault } from './fault.ts';

const OUTGOING: readonly PlantedFault[] = [
  {
    file: 'webhooks/outgoing/outgoing-webhook-index.ts',
    text: 'if (previous !== undefined) removeTriggers(previous);', replacement: '',
    tests: ['webhooks/outgoing/outgoing-webhook-index.test.ts'],
  },
  {
    file: 'webhooks/outgoing/outgoing-webhook-index.ts',
    text: 'if (!isSystem) addAll(byTrigger.get(EVERY_EVENT));',
    replacement: 'addAll(byTrigger.get(EVERY_EVENT));',
    tests: ['webhooks/outgoing/outgoing-webhook-index.test.ts'],
  },
  {
    file: 'webhooks/outgoing/outgoing-signature.ts',
    text: 'previous !== null && atMs < Date.parse(previous.validUntil)',
    replacement: 'previous !== null',
    tests: ['webhooks/outgoing/outgoing-signature.test.ts'],
  },
  {
    file: 'webhooks/outgoing/automatic-disabling.ts',
    text: 'if (isSuccess) {\n    stageFailingReset(transaction, identifier);\n    return null;',
    replacement: 'if (isSuccess) {\n    return null;',
    tests: ['webhooks/sending/disabling.test.ts'],
  },
  {
    file: 'webhooks/outgoing/payload-template.ts',
    text: 'if (json.length > FILLED_LENGTH_MAX) {', replacement: 'if (false) {',
    tests: ['webhooks/outgoing/payload-template.test.ts'],
  },
];

const ACTIONS: readonly PlantedFault[] = [
  {
    file: 'webhooks/actions/run-action.ts',
    text: "if (thrown.code !== 'invalid') throw thrown;", replacement: '',
    tests: ['webhooks/actions/run-action.test.ts'],
  },
  {
    file: 'webhooks/actions/configuration-references.ts',
    text: 'if (incoming + outgoing === 0) return;', replacement: 'return;',
    tests: ['webhooks/resources.test.ts'],
  },
  {
    file: 'webhooks/actions/configuration-references.ts',
    text: 'for (const name of collectNames(subtractReferences(before, after))) {\n'
      + '    addUses(transaction, direction, name, -1);\n  }',
    replacement: '',
    tests: ['webhooks/resources.test.ts'],
  },
  {
    file: 'webhooks/actions/http-forward-action.ts',
    text: 'body: hasRequestBody(method) ? call.bytes() ?? EMPTY_PAYLOAD : null,',
    replacement: 'body: call.bytes() ?? EMPTY_PAYLOAD,',
    tests: ['webhooks/actions/http-forward-action.test.ts'],
  },
  {
    file: 'webhooks/actions/log-action.ts',
    text: 'headers: hideSignatureHeaders(headers, secretSources),', replacement: 'headers,',
    tests: ['webhooks/actions/log-action.test.ts'],
  },
];

const FILTERS: readonly PlantedFault[] = [
  {
    file: 'webhooks/filters/explain-condition.ts',
    text: "path.split('.').some(isSecretName)", replacement: 'false',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/prepare-condition.ts',
    text: 'typeof actual === typeof value && ', replacement: '',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/condition.ts',
    text: 'if (count > CONDITIONS_MAX) {', replacement: 'if (false) {',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
];

const HEALTH: readonly PlantedFault[] = [
  {
    file: 'webhooks/health/health.ts',
    text: 'failedTries >= FAILED_TRIES_MIN', replacement: 'failedTries > FAILED_TRIES_MIN',
    tests: ['webhooks/health/health.test.ts'],
  },
  {
    file: 'webhooks/health/health.ts',
    text: '\n    && refusalTimesMs.length * 2 > window.length', replacement: '',
    tests: ['webhooks/health/health.test.ts'],
  },
  {
    file: 'webhooks/health/health-monitor.ts',
    text: 'if (transaction.find(collection, webhookId) === undefined) return;', replacement: '',
    tests: ['webhooks/health/health-monitor.test.ts'],
  },
  {
    file: 'webhooks/health/disabled-members.ts',
    text: "if (current?.['enabled'] !== false) return", replacement: 'if (true) return',
    tests: ['webhooks/health/disabled-members.test.ts'],
  },
];

const HTTP: readonly PlantedFault[] = [
  {
    file: 'webhooks/http/mask-secrets.ts',
    text: 'isMoved ? null : stored', replacement: 'stored',
    tests: ['webhooks/http/mask-secrets.test.ts'],
  },
  {
    file: 'webhooks/http/url-credentials.ts',
    text: 'candidate.name === name)[nth]', replacement: 'candidate.name === name)[0]',
    tests: ['webhooks/http/mask-secrets.test.ts'],
  },
  {
    file: 'webhooks/http/pass-through.ts',
    text: '...CONNECTION_HEADERS, ...PRIVATE_HEADERS, ...OWN_HEADERS,',
    replacement: '...CONNECTION_HEADERS, ...OWN_HEADERS,',
    tests: ['webhooks/actions/pass-through.test.ts'],
  },
  {
    file: 'webhooks/http/refuse-chained.ts',
    text: 'if (hops === 0) return;', replacement: 'return;',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/http/check-target.ts',
    text: 'if (before !== null && findTarget(before) === target) return;', replacement: '',
    tests: ['webhooks/resources.test.ts'],
  },
];

export const OUTGOING_FAULTS: readonly PlantedFault[] = [
  ...OUTGOING, ...ACTIONS, ...FILTERS, ...HEALTH, ...HTTP,
];
