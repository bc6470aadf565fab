/** Faults of actions and filters, of targets and of health. */
import type { PlantedFault } from './fault.ts';

export const ACTION_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/actions/configuration-references.ts',
    text: 'Math.max(0, before[direction] + by)', replacement: 'before[direction]',
    tests: ['webhooks/resources.test.ts'],
  },
  {
    file: 'webhooks/actions/configuration-references.ts',
    text: 'if (incoming + outgoing === 0) return;', replacement: 'if (outgoing === 0) return;',
    tests: ['webhooks/incoming/members.test.ts', 'webhooks/resources.test.ts'],
  },
  {
    file: 'webhooks/actions/event-name.ts', text: '&& name.trim() === name', replacement: '',
    tests: [
      'webhooks/deliveries/deliveries.test.ts', 'webhooks/outgoing/outgoing-webhook.test.ts',
      'webhooks/deliveries/system-events.test.ts',
    ],
  },
  {
    file: 'webhooks/actions/http-forward-action.ts',
    text: 'return addChainHeader(sentHeaders, hop);', replacement: 'return sentHeaders;',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/actions/action-registry.ts',
    text: 'filter(([name]) => name.toLowerCase() !== CHAIN_HEADER)',
    replacement: 'filter(([name]) => name !== CHAIN_HEADER)',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/filters/prepare-condition.ts',
    text: 'typeof actual === typeof value && actual !== value', replacement: 'actual !== value',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/prepare-condition.ts',
    text: '(actual !== undefined) === (value !== false)', replacement: 'actual !== undefined',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/condition.ts',
    text: "if (condition['path'] !== undefined) count += 1;", replacement: '',
    tests: ['webhooks/incoming/members.test.ts'],
  },
  {
    file: 'webhooks/filters/explain-condition.ts', text: 'isSecret ? MASK : quote(actual)',
    replacement: 'quote(actual)', tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/facts.ts',
    text: 'Object.hasOwn(headers, name) ? headers[name] : undefined', replacement: 'headers[name]',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/http/pass-through.ts',
    text: '    ...listConnectionOptions(origin.rawHeaders),\n', replacement: '',
    tests: ['webhooks/actions/pass-through.test.ts'],
  },
  {
    file: 'webhooks/http/pass-through.ts',
    text: "...isAuthorizationPassed ? [] : ['authorization'],", replacement: '',
    tests: ['webhooks/actions/pass-through.test.ts', 'webhooks/actions/pass.test.ts'],
  },
  {
    file: 'webhooks/http/url-credentials.ts', text: "value.replaceAll(/%2a/gi, '*') === MASK",
    replacement: 'value === MASK', tests: ['webhooks/http/mask-secrets.test.ts'],
  },
  {
    file: 'webhooks/http/rotate-secret.ts', text: "&& input['force'] !== true", replacement: '',
    tests: ['webhooks/rotation.test.ts'],
  },
  {
    file: 'webhooks/http/redact-headers.ts', text: 'isPublicHeader(name) ? one : MASK',
    replacement: 'one',
    tests: [
      'webhooks/deliveries/sent-request.test.ts', 'webhooks/outgoing/outgoing-webhook.test.ts',
    ],
  },
  {
    file: 'webhooks/http/refuse-chained.ts', text: 'if (hops === 0) return;',
    replacement: 'if (hops >= 0) return;', tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/health/health.ts', text: 'refusalTimesMs.length * 2 > window.length',
    replacement: 'true', tests: ['webhooks/health/health.test.ts'],
  },
  {
    file: 'webhooks/health/health-monitor.ts', text: 'if (!wasRejecting) this.writeSoon();',
    replacement: '',
    tests: ['webhooks/health/health-monitor.test.ts', 'webhooks/health/api.test.ts'],
  },
  {
    file: 'webhooks/health/disabled-members.ts',
    text: "if (rest['enabled'] !== false) return rest;", replacement: '',
    tests: ['webhooks/health/disabled-members.test.ts'],
  },
];
