/**
 * Faults of what incoming and outgoing webhooks share: actions, filters, health, and the headers,
 * secrets and targets of HTTP.
 */
import type { PlantedFault } from './fault.ts';

const COMMAND_TESTS = ['webhooks/actions/commands/run-command-action.test.ts'];
const DIRECTORY_TESTS = ['webhooks/actions/commands/command-directory.test.ts'];

const ACTIONS: readonly PlantedFault[] = [
  {
    file: 'webhooks/actions/configuration-references.ts',
    text: 'Object.hasOwn(INCOMING_ACTIONS, actionType)', replacement: 'actionType === EMIT_EVENT',
    tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/sending/delivery-worker.ts',
    text: 'if (attempt instanceof SwitchedOffError) return { postponedMs: attempt.remainingMs };',
    replacement: 'if (attempt instanceof SwitchedOffError) return { postponedMs: 1 };',
    tests: ['webhooks/sending/preparing.test.ts'],
  },
  {
    file: 'webhooks/sending/request-builder.ts',
    text: '    if (thrown instanceof SwitchedOffError) return thrown;\n', replacement: '',
    tests: ['webhooks/sending/preparing.test.ts'],
  },
  {
    file: 'webhooks/actions/commands/command-runner.ts',
    text: "if (!text.includes('\\0')) return;", replacement: 'return;', tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/actions/commands/run-command-action.ts',
    text: 'value !== MASK && !isSecretName(name)', replacement: 'value !== MASK',
    tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/actions/commands/run-command-action.ts',
    text: 'hideSignatureHeaders(headers, secretSources)', replacement: 'headers',
    tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/actions/commands/command-result.ts',
    text: '!end.isTimedOut && exitCode', replacement: 'exitCode', tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/actions/commands/command-result.ts',
    text: 'escapeControls(redactText(', replacement: 'String(String(', tests: COMMAND_TESTS,
  },
  {
    file: 'webhooks/actions/commands/command-directory.ts',
    text: 'mode: nearest.mode & ~STICKY', replacement: 'mode: nearest.mode',
    tests: DIRECTORY_TESTS,
  },
  {
    file: 'webhooks/actions/commands/command-directory.ts',
    text: 'for (const step of within) checkOwnership(step);', replacement: 'within.at(0);',
    tests: DIRECTORY_TESTS,
  },
  {
    file: 'webhooks/actions/commands/command-directory.ts',
    text: 'real.startsWith(directory + sep)', replacement: 'real.startsWith(directory)',
    tests: DIRECTORY_TESTS,
  },
  {
    file: 'webhooks/actions/run-action.ts',
    text: 'action.isBuiltIn && isTemporary(thrown)',
    replacement: 'action.isBuiltIn && thrown instanceof AppError',
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
    file: 'base/event-name.ts', text: '&& name.trim() === name', replacement: '',
    tests: [
      'webhooks/deliveries/deliveries.test.ts', 'webhooks/outgoing/outgoing-webhook.test.ts',
      'webhooks/deliveries/system-events.test.ts',
    ],
  },
  {
    file: 'webhooks/actions/http-forward-action.ts',
    text: 'addTraceHeaders(addChainHeader(sentHeaders, hop), trace)',
    replacement: 'addTraceHeaders(sentHeaders, trace)',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/actions/chained-http-sender.ts',
    text: "some(([name]) => name.toLowerCase() === 'traceparent')",
    replacement: "some(([name]) => name === 'traceparent')",
    tests: ['webhooks/trace-context.test.ts'],
  },
  {
    file: 'webhooks/http/pass-through.ts', text: ", 'traceparent', 'tracestate',", replacement: ',',
    tests: ['webhooks/trace-context.test.ts'],
  },
  {
    file: 'webhooks/deliveries/sent-request.ts',
    text: '    ...listTraceHeaders(sent?.headers ?? [], readEventTrace(eventRecord)),\n',
    replacement: '', tests: ['webhooks/trace-context.test.ts'],
  },
  {
    file: 'base/trace-context.ts',
    text: 'if (version === FIRST_VERSION && more !== undefined) return null;', replacement: '',
    tests: ['base/trace-context.test.ts'],
  },
  {
    file: 'webhooks/actions/chained-http-sender.ts',
    text: 'filter(([name]) => name.toLowerCase() !== CHAIN_HEADER)',
    replacement: 'filter(([name]) => name !== CHAIN_HEADER)',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/actions/modules/action-modules.ts',
    text: 'createTaggedLogger(log, logTags)', replacement: 'createTaggedLogger(log, {})',
    tests: ['webhooks/actions/modules/action-tools.test.ts'],
  },
];

const FILTERS: readonly PlantedFault[] = [
  {
    file: 'webhooks/filters/explain-condition.ts',
    text: "path.split('.').some(isSecretName)", replacement: 'false',
    tests: ['webhooks/filters/conditions.test.ts'],
  },
  {
    file: 'webhooks/filters/condition.ts',
    text: 'if (count > CONDITIONS_MAX) {', replacement: 'if (false) {',
    tests: ['webhooks/filters/conditions.test.ts'],
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
];

const HEALTH: readonly PlantedFault[] = [
  {
    file: 'webhooks/health/health.ts',
    text: 'failedTries >= FAILED_TRIES_MIN', replacement: 'failedTries > FAILED_TRIES_MIN',
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
  {
    file: 'webhooks/health/health.ts', text: 'rejectionTimesMs.length * 2 > window.length',
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
    file: 'webhooks/http/target-rules.ts',
    text: 'if (before !== null && findTarget(before) === target) return;', replacement: '',
    tests: ['webhooks/resources.test.ts'],
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
];

export const ACTION_FAULTS: readonly PlantedFault[] = [
  ...ACTIONS, ...FILTERS, ...HEALTH, ...HTTP,
];
