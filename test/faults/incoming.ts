/** Faults of incoming webhooks: their endpoint, their intake and their diagnosis. */
import type { PlantedFault } from './fault.ts';

export const INCOMING_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/incoming/custom-response.ts',
    text: 'isRejected ? refusePlaceholder : parsePlaceholder', replacement: 'parsePlaceholder',
    tests: ['webhooks/incoming/custom-responses.test.ts'],
  },
  {
    file: 'webhooks/incoming/custom-response.ts',
    text: 'if (RESERVED_NAMES.includes(name))', replacement: 'if (false)',
    tests: ['webhooks/incoming/custom-responses.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/send-custom-response.ts',
    text: "'Content-Security-Policy', 'sandbox',", replacement: '',
    tests: ['webhooks/incoming/custom-responses.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/send-custom-response.ts',
    text: 'payload ?? createEmptyPayload()', replacement: 'createEmptyPayload()',
    tests: ['webhooks/incoming/custom-responses.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts', text: 'if (!enabled) {',
    replacement: 'if (enabled === undefined) {', tests: ['webhooks/incoming/receive.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts', text: "check !== null && check !== 'rate'",
    replacement: 'check !== null', tests: ['webhooks/incoming/rate-limit.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: 'traffic.running >= runningMax',
    replacement: 'traffic.running > runningMax',
    tests: ['webhooks/incoming/receive.test.ts', 'webhooks/incoming/rejections.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: 'maxConcurrent ?? deps.limits.maxConcurrent', replacement: 'deps.limits.maxConcurrent',
    tests: ['webhooks/incoming/own-limits.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-webhook-index.ts',
    text: 'stored.rateLimit ?? options.rateLimit', replacement: 'options.rateLimit',
    tests: ['webhooks/incoming/own-limits.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-webhook-index.ts',
    text: '  if ((traffic.bucket?.ratePerS ?? 0) === rateLimit) return;\n', replacement: '',
    tests: ['webhooks/incoming/own-limits.test.ts', 'webhooks/incoming/rate-limit.test.ts'],
  },
  {
    file: 'webhooks/actions/run-action.ts', text: 'call.timeoutMs ?? runner.timeoutMs',
    replacement: 'runner.timeoutMs', tests: ['webhooks/incoming/own-limits.test.ts'],
  },
  {
    file: 'webhooks/runs/request-worker.ts', text: 'runningMax: maxInFlight ?? undefined',
    replacement: 'runningMax: undefined', tests: ['webhooks/incoming/own-limits.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: '    payloadBudget.release(payloadBytes);\n', replacement: '',
    tests: [
      'webhooks/incoming/receive.test.ts', 'webhooks/incoming/faults.test.ts',
      'webhooks/incoming/payload-budget.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts', text: '    traffic.running -= 1;\n',
    replacement: '',
    tests: ['webhooks/incoming/receive.test.ts', 'webhooks/incoming/faults.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/verify-request.ts', text: 'nowMs < previous.validUntilMs',
    replacement: 'true',
    tests: ['webhooks/incoming/verification.test.ts', 'webhooks/rotation.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/verify-request.ts',
    text: 'return isPrevious ? PREVIOUS_ADMISSION',
    replacement: 'return isPrevious ? CURRENT_ADMISSION',
    tests: ['webhooks/rotation.test.ts', 'webhooks/incoming/verification.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/webhook-traffic.ts',
    text: 'Math.min(this.#capacity, this.#tokens + refill)', replacement: 'this.#tokens + refill',
    tests: ['webhooks/incoming/rate-limit.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/payload-budget.ts',
    text: 'this.#reservedBytes > 0 && this.#reservedBytes + bytes',
    replacement: 'this.#reservedBytes + bytes',
    tests: ['webhooks/incoming/payload-budget.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/payload-budget.ts',
    text: '    this.#waitingBytes = null;\n    this.#onFree();',
    replacement: '    this.#onFree();', tests: ['webhooks/incoming/payload-budget.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/webhook-response.ts',
    text: 'const status = success ? 200 : 400;', replacement: 'const status = 200;',
    tests: ['webhooks/incoming/receive.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/event-names.ts',
    text: 'name.length > NAME_LENGTH_MAX ? null : name', replacement: 'name',
    tests: [
      'webhooks/incoming/members.test.ts', 'webhooks/incoming/duplicates.test.ts',
      'webhooks/incoming/schemes.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/run-webhook-routes.ts',
    text: 'matches === null || matches(facts)', replacement: 'matches === null || !matches(facts)',
    tests: ['webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/templates/content-type.ts', text: "|| mediaType.endsWith('+json')",
    replacement: '', tests: ['webhooks/incoming/body-format.test.ts'],
  },
  {
    file: 'webhooks/incoming/inbox-members.ts', text: "if ('header' in deduplicate) return false;",
    replacement: "if ('header' in deduplicate) return true;",
    tests: ['webhooks/incoming/inbox-members.test.ts'],
  },
  {
    file: 'webhooks/incoming/join-headers.ts', text: "name === 'cookie' ? '; ' : ', '",
    replacement: "', '", tests: ['webhooks/incoming/join-headers.test.ts'],
  },
  {
    file: 'webhooks/incoming/join-headers.ts', text: 'else if (!SINGLE_VALUE_HEADERS.has(name))',
    replacement: 'else', tests: ['webhooks/incoming/join-headers.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/duplicates.ts',
    text: 'return new Claim(event, storedRequest, this.#unfinishedClaims);',
    replacement: 'return new Claim(event, null, this.#unfinishedClaims);',
    tests: ['webhooks/incoming/failed-events.test.ts', 'webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/event-memory.ts', text: 'event.expiresAtMs > nowMs',
    replacement: 'event.expiresAtMs >= 0', tests: ['webhooks/incoming/event-memory.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stage-accepted.ts',
    text: "bytes !== undefined && readRequestStatus(bytes, findStaged(transaction)) === 'failed'",
    replacement: 'bytes === undefined',
    tests: [
      'webhooks/incoming/failed-events.test.ts', 'webhooks/incoming/keeping.test.ts',
      'webhooks/incoming/duplicates.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/stored-head.ts',
    text: "if (kind === 'credential') return MASK;", replacement: '',
    tests: ['webhooks/incoming/stored-head.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stored-head.ts', text: "scheme.toLowerCase() === 'bearer' || ",
    replacement: '', tests: ['webhooks/incoming/stored-head.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/rejected-requests.ts',
    // A count that never falls would hang.
    text: '-estimateBytes(rejectedRequest)', replacement: '-2 * estimateBytes(rejectedRequest)',
    tests: ['webhooks/incoming/rejected-requests.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/recent-requests.ts',
    text: 'request !== undefined && isSameMemory(request.bytes, bytes)',
    replacement: 'request !== undefined', tests: ['webhooks/incoming/recent-requests.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: '&& !addresses.hasLiteral(exchange.clientAddress)',
    replacement: "&& exchange.clientAddress === ''",
    tests: [
      'webhooks/incoming/rejections.test.ts',
      'webhooks/incoming/receive.test.ts',
      'webhooks/incoming/verification.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: 'if (!isMethodAllowed(webhook, exchange)) {',
    replacement: 'if (webhook.methods.length === 0) {',
    tests: ['webhooks/incoming/receive.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: "webhook.answer === 'result' && traffic.running", replacement: 'traffic.running',
    tests: ['webhooks/incoming/keeping.test.ts', 'webhooks/incoming/receive.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: 'if (thrown instanceof AppError) throw rejectUnstored(exchange, webhook, thrown);',
    replacement: '',
    tests: ['webhooks/incoming/faults.test.ts', 'webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: "if (verdict.verified?.secret === 'previous') previousSecretUses.record(webhook, atMs);",
    replacement: '', tests: ['webhooks/rotation.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: "return kind === 'multipart' && hasTooManyParts",
    replacement: "return kind === 'multipart' && !hasTooManyParts",
    tests: ['webhooks/incoming/multipart.test.ts'],
  },
  {
    file: 'webhooks/senders/request/parse-multipart.ts', text: 'if (!isClosed || parts.length',
    replacement: 'if (parts.length', tests: ['webhooks/senders/parse-multipart.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts', text: 'return hasTooManyFields(body) ?',
    replacement: 'return !hasTooManyFields(body) ?',
    tests: ['webhooks/incoming/unparsed.test.ts', 'webhooks/incoming/receive.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/verify-request.ts',
    text: 'return problem ?? buildChallengeResponse', replacement: 'return buildChallengeResponse',
    tests: ['webhooks/incoming/handshakes.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/verify-request.ts',
    text: 'return isUnsignedAllowed ? UNSIGNED_ADMISSION',
    replacement: 'return true ? UNSIGNED_ADMISSION',
    tests: ['webhooks/incoming/receive.test.ts', 'webhooks/incoming/verification.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/verify-request.ts',
    text: '  if (!verdict.isGenuine) return verdict;\n', replacement: '',
    tests: ['webhooks/incoming/verification.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-webhook-index.ts',
    text: 'previous !== undefined && byPath.get(previous.pathSegment) === previous',
    replacement: 'previous !== undefined',
    tests: ['webhooks/incoming/incoming-webhook-index.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-webhook-index.ts',
    text: 'previous?.traffic ?? new WebhookTraffic', replacement: 'new WebhookTraffic',
    tests: ['webhooks/incoming/rate-limit.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-webhook-index.ts',
    text: "address.replace(/\\/0+(?=\\d)/, '/')", replacement: 'address',
    tests: [
      'webhooks/incoming/members.test.ts',
      'webhooks/incoming/receive.test.ts',
      'webhooks/incoming/verification.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/receiving/webhook-response.ts',
    text: 'isChainRefused ? CHAIN_REFUSED_HEADERS : JSON_HEADERS', replacement: 'JSON_HEADERS',
    tests: ['webhooks/http/chain.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/webhook-response.ts',
    text: 'outcomes.find(({ result }) => !result.success)',
    replacement: 'outcomes.find(({ refusal }) => refusal !== null)',
    tests: ['webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/webhook-response.ts', text: 'EXPLAINED_CODES.includes(code)',
    replacement: 'true',
    tests: ['webhooks/incoming/receive.test.ts', 'webhooks/incoming/rejections.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/previous-secret-uses.ts',
    text: '    if (this.#writtenMinutes.get(identifier) === minute) return;\n', replacement: '',
    tests: ['webhooks/incoming/previous-secret-uses.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/admitted-request.ts',
    text: 'webhook.hasRoutes ? { ...sharedHeaders } : sharedHeaders', replacement: 'sharedHeaders',
    tests: ['webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/admitted-request.ts',
    text: 'parsedReader === null || hasRoutes ? readPayload',
    replacement: 'parsedReader === null ? readPayload',
    tests: ['webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/admitted-request.ts',
    text: 'isProxied ? headers[name] : undefined', replacement: 'headers[name]',
    tests: ['webhooks/actions/pass.test.ts', 'webhooks/actions/pass-through.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/incoming-action-call.ts',
    text: "this.#kind() === 'json' ? this.body : ", replacement: '',
    tests: [
      'webhooks/actions/http-forward-action.test.ts',
      'webhooks/incoming/keeping.test.ts',
      'webhooks/actions/pass.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/inbox-members.ts',
    text: "answer === 'accepted' && inbox !== undefined && inbox !== 'all'",
    replacement: "inbox === 'accepted'",
    tests: ['webhooks/incoming/members.test.ts', 'webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/incoming/inbox-members.ts',
    text: "deduplicate !== 'off' && eventIdSources !== null",
    replacement: 'eventIdSources !== null',
    tests: ['webhooks/incoming/inbox-members.test.ts'],
  },
  {
    file: 'webhooks/incoming/body-format.ts',
    text: "if (name !== '__proto__') payload[name] = value;",
    replacement: "if (name !== '') payload[name] = value;",
    tests: ['webhooks/incoming/body-format.test.ts'],
  },
  {
    file: 'webhooks/incoming/verification-member.ts', text: 'if (isPresent === isNeeded) continue;',
    replacement: 'if (isPresent || !isNeeded) continue;',
    tests: ['webhooks/incoming/verification.test.ts', 'webhooks/incoming/schemes.test.ts'],
  },
  {
    file: 'webhooks/incoming/verification-member.ts',
    text: 'if (scheme === undefined) return { preset, verifier: createRefusingVerifier(preset) };',
    replacement: 'if (scheme === undefined) return null;',
    tests: ['webhooks/incoming/verification-member.test.ts'],
  },
  {
    file: 'webhooks/incoming/webhook-routes.ts', text: 'names.indexOf(name) === index',
    replacement: 'names.includes(name)',
    tests: ['webhooks/incoming/members.test.ts', 'webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/incoming/incoming-repository.ts',
    text: '      removal.onRemoved(transaction, change.id, inputs.nowMs);\n', replacement: '',
    tests: ['webhooks/runs/webhook.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts',
    text: '    if (event !== null) return this.#claimAndRun(request, event, matchingRoutes);\n',
    replacement: '', tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts', text: '      claim.finish(null);\n',
    replacement: '',
    tests: [
      'webhooks/incoming/faults.test.ts',
      'webhooks/incoming/duplicates.test.ts',
      'webhooks/incoming/failed-events.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts',
    text: 'requestId === null && response.status === 200', replacement: 'requestId === null',
    tests: ['webhooks/incoming/failed-events.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts',
    text: "if (request.webhook.inbox !== 'all') return response;",
    replacement: "if (request.webhook.inbox !== 'off') return response;",
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts', text: 'count * body.length > SEARCHED_BYTES_MAX',
    replacement: 'count < 0',
    tests: [
      'webhooks/incoming/routes.test.ts',
      'webhooks/filters/conditions.test.ts',
      'linear.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/intake.ts', text: 'checkRoom: () => capacity.assertRoom(bytes)',
    replacement: 'checkRoom: () => {}',
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/result-runs.ts',
    text: "response.status !== 200 && webhook.inbox !== 'off'",
    replacement: 'response.status !== 200',
    tests: ['webhooks/incoming/failed-events.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/result-runs.ts',
    text: "response.status === 200 || webhook.inbox === 'off'",
    replacement: 'response.status === 200', tests: ['webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/result-runs.ts',
    text: '    store.checkWritable();\n    return capacity', replacement: '    return capacity',
    tests: ['webhooks/incoming/failed-events.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/result-runs.ts',
    text: '    traffic.running += additionalCount;\n',
    replacement: '',
    tests: ['webhooks/incoming/routes.test.ts', 'webhooks/incoming/rejections.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/result-runs.ts',
    text: "routes.filter(({ status }) => status === 'failed')",
    replacement: "routes.filter(({ status }) => status !== 'pending')",
    tests: ['webhooks/incoming/failed-events.test.ts', 'webhooks/incoming/routes.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/duplicates.ts',
    text: '    traffic.waiting += 1;\n    traffic.running -= 1;',
    replacement: '    traffic.waiting += 1;',
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/duplicates.ts',
    text: 'outcome.response.status === 200 ? null', replacement: 'true ? null',
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/duplicates.ts',
    text: 'previous.bodySha256 !== null && previous.bodySha256 !== bodySha256',
    replacement: 'false', tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/event.ts',
    text: "const body = isIdReused ? bodySha256 ?? '' : '';", replacement: "const body = '';",
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/event-memory.ts', text: 'this.#events.size > COUNT_MAX || ',
    replacement: '', tests: ['webhooks/incoming/event-memory.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/event-memory.ts',
    text: '    this.#bytes -= estimateBytes(event.dataJson);\n', replacement: '',
    tests: ['webhooks/incoming/event-memory.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stage-accepted.ts',
    text: '    if (event !== null) putEventId(transaction, event, arrival.id);\n', replacement: '',
    tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stage-accepted.ts', text: "route.status === 'failed' ? reset",
    replacement: "route.status !== 'failed' ? reset",
    tests: ['webhooks/incoming/failed-events.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stored-head.ts',
    text: "if (kind === 'signature') signatures.add(name);\n    else if", replacement: 'if',
    tests: ['webhooks/incoming/stored-head.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stored-head.ts',
    text: 'ADDRESS_NAMES.has(name) || ADDRESS.test(value)', replacement: 'ADDRESS_NAMES.has(name)',
    tests: ['webhooks/incoming/stored-head.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stored-head.ts',
    text: "algorithm === 'token' ? 'credential' : 'signature'", replacement: "'signature'",
    tests: [
      'webhooks/incoming/stored-head.test.ts',
      'webhooks/secrets.test.ts',
      'webhooks/incoming/keeping.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/stored-action-call.ts',
    text: 'headers.filter(([, value]) => value !== MASK).flat()', replacement: 'headers.flat()',
    tests: ['webhooks/incoming/stored-action-call.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/stored-action-call.ts',
    text: 'return headers.every(([, value]) => !value.includes(MASK));',
    replacement: 'return headers.length > 0;',
    tests: [
      'webhooks/incoming/stored-action-call.test.ts',
      'webhooks/incoming/recent-requests.test.ts',
      'webhooks/incoming/keeping.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/inbox-writer.ts',
    text: '      if (event !== null) putEventId(transaction, event, storedRequest.id);\n',
    replacement: '', tests: ['webhooks/incoming/duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/inbox-writer.ts',
    text: 'if (inputs !== null) systemEvents.requestFailed(transaction, inputs, storedRequest);',
    replacement: '', tests: ['webhooks/incoming/keeping.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/build-request.ts',
    text: 'isSmall ? parseData(dataJson) : findShortData(result)',
    replacement: 'parseData(dataJson)',
    tests: [
      'webhooks/incoming/keeping.test.ts',
      'webhooks/inbox/request-changes.test.ts',
      'webhooks/deliveries/large-records.test.ts',
    ],
  },
  {
    file: 'webhooks/incoming/intake/rejected-requests.ts', text: 'this.#byId.size > ALL_MAX || ',
    replacement: '', tests: ['webhooks/incoming/rejected-requests.test.ts'],
  },
  {
    file: 'webhooks/incoming/intake/recent-requests.ts',
    text: 'if (this.#byId.size > COUNT_MAX || this.#bytes > BYTES_MAX) this',
    replacement: 'if (this.#byId.size > COUNT_MAX) this',
    tests: ['webhooks/incoming/recent-requests.test.ts'],
  },
  {
    file: 'webhooks/compose-incoming.ts', text: '    if (isCallersFault) return;\n',
    replacement: '', tests: ['webhooks/http/chain.test.ts', 'webhooks/health/api.test.ts'],
  },
  {
    file: 'webhooks/webhook-label.ts', text: 'label === OTHER_WEBHOOKS_LABEL || ', replacement: '',
    tests: ['webhooks/webhook-label.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/diagnosed-request.ts',
    text: 'storedRequest.hook !== webhook.identifier', replacement: "storedRequest.hook === ''",
    tests: ['webhooks/incoming/diagnose-kept.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/diagnosed-request.ts',
    text: 'bodyBytes !== request.body.length', replacement: 'bodyBytes < 0',
    tests: ['webhooks/incoming/diagnose-kept.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/diagnosed-request.ts',
    text: 'signature?.includes(MASK) !== true', replacement: "signature !== ''",
    tests: ['webhooks/incoming/diagnose-kept.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/duplicate-check.ts', text: 'if (!hasFailed) return',
    replacement: 'if (hasFailed) return', tests: ['webhooks/incoming/diagnose-duplicates.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/run-diagnosis.ts', text: '\n    && isUnsignedAllowed',
    replacement: '', tests: ['webhooks/incoming/diagnose.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/make-sample.ts',
    text: '...unsignedParts, ...hasBody ? {} : NO_BODY, ...inputs, method',
    replacement: '...unsignedParts, ...inputs, method',
    tests: [
      'webhooks/incoming/custom-samples.test.ts',
      'webhooks/incoming/sender-examples.test.ts',
    ],
  },
];
