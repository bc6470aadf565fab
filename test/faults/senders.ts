/** Faults of senders: how requests are verified, signed and diagnosed. */
import type { PlantedFault } from './fault.ts';

export const SENDER_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/senders/x-signature.ts',
    text: 'loadCrypto().timingSafeEqual(claimedDigest, computeHmac(key, [body]))',
    replacement: 'true', tests: ['webhooks/senders/x-signature.test.ts'],
  },
  {
    file: 'webhooks/senders/hmac.ts', text: 'secret.length <= block.length ? secret',
    replacement: 'secret.length < 0 ? secret', tests: ['webhooks/senders/hmac.test.ts'],
  },
  {
    file: 'webhooks/senders/hmac.ts',
    text: 'innerMessage.write(piece, length)',
    replacement: "innerMessage.write(piece, length, 'latin1')",
    tests: ['webhooks/senders/hmac.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts', text: 'Math.abs(ageMs) > toleranceMs',
    replacement: 'ageMs > toleranceMs', tests: ['webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts', text: 'nowMs < key.validUntilMs && isMatch',
    replacement: 'isMatch',
    tests: ['webhooks/incoming/verification.test.ts', 'webhooks/rotation.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts',
    text: "'header' in source && reader.countHeaderLines(source) > 1",
    replacement: "'header' in source && false", tests: ['webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts',
    text: 'return value < SECONDS_BELOW ? value * 1000',
    replacement: 'return value > 0 ? value * 1000',
    tests: [
      'webhooks/senders/attacks.test.ts', 'webhooks/senders/vectors.test.ts',
      'webhooks/incoming/schemes.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/verification/read-signatures.ts',
    text: 'time: timeCount === 1 ? time : null', replacement: 'time',
    tests: ['webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/encoding.ts',
    text: 'paddingAt % 4 !== 1 && text.length % 4 === 0', replacement: 'true',
    tests: ['webhooks/senders/encoding.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verification-key.ts',
    text: 'if (!isKeyForAlgorithm(algorithm, key)) return `is no key for ${algorithm}`;',
    replacement: '',
    tests: ['webhooks/senders/attacks.test.ts', 'webhooks/incoming/verification.test.ts'],
  },
  {
    file: 'webhooks/senders/request/parse-form.ts', text: 'byte === PLUS ? SPACE : byte',
    replacement: 'byte', tests: ['webhooks/senders/parse-form.test.ts'],
  },
  {
    file: 'webhooks/senders/request/request-reader.ts',
    text: 'Math.abs(value) <= Number.MAX_SAFE_INTEGER', replacement: 'Math.abs(value) >= 0',
    tests: [
      'webhooks/senders/attacks.test.ts', 'webhooks/incoming/duplicates.test.ts',
      'webhooks/incoming/schemes.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/request/sort-form.ts', text: '[...new Set(fields.get(name))].sort()',
    replacement: '[...fields.get(name) ?? []].sort()',
    tests: ['webhooks/senders/parse-form.test.ts', 'webhooks/senders/vectors.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/challenge.ts',
    text: 'isSameText(token, expectedToken) ? null', replacement: "token !== '' ? null",
    tests: ['webhooks/incoming/handshakes.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/challenge.ts',
    text: "(challenge.verify === 'signature') === (kind === 'signed')",
    replacement: "kind === 'unsigned'",
    tests: ['webhooks/incoming/handshakes.test.ts', 'webhooks/senders/vectors.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/challenge.ts', text: 'JSON.stringify(value))',
    replacement: 'value)',
    tests: ['webhooks/incoming/handshakes.test.ts', 'webhooks/senders/vectors.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/read-signatures.ts',
    text: 'splitAtMost(value, split, SIGNATURES_MAX)', replacement: 'value.split(split)',
    tests: ['webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/read-signatures.ts',
    text: 'reader.countHeaderLines(source) > 1', replacement: 'false',
    tests: ['webhooks/senders/presets.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/read-signatures.ts',
    text: 'bytes !== null && hasExpectedLength(bytes, key.algorithm)',
    replacement: 'bytes !== null',
    tests: ['webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verification-key.ts', text: "text.includes('PRIVATE KEY')",
    replacement: "text === ''",
    tests: ['webhooks/senders/verification-key.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verification-key.ts',
    text: 'raw?.length !== ED25519_BYTES', replacement: 'raw === null || raw === undefined',
    tests: [
      'webhooks/incoming/verification.test.ts',
      'webhooks/senders/attacks.test.ts',
      'webhooks/senders/vectors.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/verification/signed-content.ts', text: 'String(crc32(values.body))',
    replacement: 'String(crc32(values.body) | 0)',
    tests: ['webhooks/senders/signed-content.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts',
    text: '  if (problem !== null && !hasValidPreviousKey(verifier, nowMs)) return problem;\n',
    replacement: '',
    tests: ['webhooks/incoming/verification.test.ts', 'webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts',
    text: 'if (signaturePrefix !== prefix) continue;',
    replacement: "if (signaturePrefix === '') continue;",
    tests: [
      'webhooks/senders/attacks.test.ts',
      'webhooks/senders/vectors.test.ts',
      'webhooks/incoming/schemes.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/verification/verify.ts', text: '&& digests.every(',
    replacement: '&& digests.some(', tests: ['webhooks/senders/presets.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts', text: 'quirk.check?.(reader) ?? null',
    replacement: 'null',
    tests: ['webhooks/senders/attacks.test.ts', 'webhooks/senders/vectors.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verify.ts', text: "id === ''", replacement: "id === '?'",
    tests: ['webhooks/senders/presets.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/encoding.ts', text: "bytes.toString('latin1') === read ? ",
    replacement: 'true ? ',
    tests: ['webhooks/senders/encoding.test.ts'],
  },
  {
    file: 'webhooks/senders/presets/quirks.ts', text: 'return reader.form() === null ? ',
    replacement: 'return reader.form() === undefined ? ',
    tests: ['webhooks/senders/quirks.test.ts'],
  },
  {
    file: 'webhooks/senders/presets/quirks.ts', text: 'json === null ? reader.request.body',
    replacement: "json === '' ? reader.request.body", tests: ['webhooks/senders/vectors.test.ts'],
  },
  {
    file: 'webhooks/senders/request/request-reader.ts',
    text: 'values.length === ELEMENTS_MAX) {\n    values.push(undefined);',
    replacement: 'values.length === ELEMENTS_MAX) {',
    tests: ['webhooks/senders/attacks.test.ts', 'webhooks/incoming/schemes.test.ts'],
  },
  {
    file: 'webhooks/senders/request/request-reader.ts',
    text: 'text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text', replacement: 'text',
    tests: ['webhooks/senders/request-reader.test.ts'],
  },
  {
    file: 'webhooks/senders/request/hide-signature.ts',
    text: 'hiddenNames.has(name) ? MASK : value', replacement: 'value',
    tests: [
      'webhooks/log-lines.test.ts',
      'webhooks/incoming/schemes.test.ts',
      'webhooks/secrets.test.ts',
      'webhooks/actions/log-action.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/request/hide-signature.ts',
    text: "redactedPayload === payload && 'text' in payload",
    replacement: 'redactedPayload === null',
    tests: [
      'webhooks/incoming/schemes.test.ts',
      'webhooks/secrets.test.ts',
      'webhooks/actions/log-action.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/request/hide-signature.ts', text: 'hiddenNames.length === 0 ? query',
    replacement: 'hiddenNames.length >= 0 ? query',
    tests: [
      'webhooks/incoming/schemes.test.ts',
      'webhooks/secrets.test.ts',
      'webhooks/actions/log-action.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/request/parse-form.ts',
    text: 'if (pairs > FORM_FIELDS_MAX) return null;', replacement: '',
    tests: ['webhooks/senders/parse-form.test.ts', 'webhooks/senders/attacks.test.ts'],
  },
  {
    file: 'webhooks/senders/request/sort-form.ts', text: 'isTie ? isBefore(form',
    replacement: 'isTie ? !isBefore(form', tests: ['webhooks/senders/parse-form.test.ts'],
  },
  {
    file: 'webhooks/senders/scheme/scheme-schema.ts',
    text: 'usedNames.filter((name, index) => usedNames.indexOf(name) !== index)',
    replacement: 'usedNames.filter((name, index) => index < 0)',
    tests: ['webhooks/incoming/schemes.test.ts'],
  },
  {
    file: 'webhooks/senders/scheme/scheme-schema.ts',
    text: 'if (!Array.isArray(challenge) || isAskedFor) return [];',
    replacement: 'if (!Array.isArray(challenge) || !isAskedFor) return [];',
    tests: ['webhooks/incoming/schemes.test.ts'],
  },
  {
    file: 'webhooks/senders/scheme/coverage.ts', text: "if (algorithm === 'token') return",
    replacement: "if (algorithm === 'ed25519') return",
    tests: ['webhooks/senders/coverage.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/sign-request.ts',
    text: "'json' in source ? JSON.stringify(value).slice(1, -1) : value", replacement: 'value',
    tests: ['webhooks/incoming/custom-samples.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/sign-request.ts',
    text: "else if (secret === 'current') return key;", replacement: '',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/http/rotate-secret.ts', text: ' && canOverlap(webhook);', replacement: ';',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/sign-request.ts',
    text: "secret === 'previous' && !canHoldSeveral(scheme)", replacement: "secret === 'previous'",
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/sign-request.ts',
    text: 'atMs < validUntilMs', replacement: 'atMs > 0',
    tests: ['webhooks/senders/sign-request.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/signing-key.ts',
    text: 'statedKey.length > 0 &&', replacement: 'statedKey.length > PAIR_BYTES &&',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/outgoing/signing-member.ts',
    text: "return algorithm === 'token';", replacement: 'return false;',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/outgoing/webhook-signer.ts',
    text: 'hiddenNames.includes(name) ? MASK : value', replacement: 'value',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/verification-key.ts',
    text: "if (form === 'whsec' && secret.startsWith('whsk_')) return PRIVATE_KEY;",
    replacement: '', tests: ['webhooks/senders/verification-key.test.ts'],
  },
  {
    file: 'webhooks/incoming/diagnostics/make-handshake.ts',
    text: "isSigned: verify === 'signature'",
    replacement: 'isSigned: false',
    tests: [
      'webhooks/incoming/handshakes.test.ts',
      'webhooks/incoming/custom-samples.test.ts',
      'webhooks/incoming/sender-examples.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/signing/shell-example.ts',
    text: 'piped === \'header\' && name === \'signature\' ? \'@-\' : `"${line}"`',
    replacement: '`"${line}"`',
    tests: ['webhooks/senders/shell-example.test.ts'],
  },
  {
    file: 'webhooks/senders/signing/shell-example.ts',
    text: "piece === '' ? '' : shellQuote(piece)", replacement: 'piece',
    tests: [
      'webhooks/incoming/sender-examples.test.ts',
      'webhooks/incoming/custom-samples.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/scheme/placement.ts',
    text: 'if (inBody.length > 0 && !hasRequestBody(method)) {',
    replacement: 'if (inBody.length > 9) {',
    tests: [
      'webhooks/incoming/custom-samples.test.ts',
      'webhooks/incoming/sender-examples.test.ts',
    ],
  },
  {
    file: 'webhooks/senders/diagnosis/diagnose.ts',
    text: "  if (algorithm === 'token') return 'as it should be';\n", replacement: '',
    tests: ['webhooks/senders/diagnose.test.ts'],
  },
  {
    file: 'webhooks/senders/diagnosis/diagnose.ts',
    text: 'value.slice(start, start + SHOWN_CHARACTERS)', replacement: 'value.slice(start)',
    tests: ['webhooks/incoming/diagnose.test.ts'],
  },
  {
    file: 'webhooks/senders/diagnosis/diagnose.ts',
    text: "if (status === 'failed') report.fail('duplicate', finding);\n  else", replacement: '',
    tests: ['webhooks/incoming/diagnose-duplicates.test.ts'],
  },
  {
    file: 'webhooks/senders/verification/challenge.ts',
    text: '|| origins.includes(origin.toLowerCase())', replacement: '|| origin.length > 1',
    tests: ['webhooks/incoming/cloudevents.test.ts'],
  },
  {
    file: 'webhooks/senders/request/cloud-event.ts',
    text: "return typeof value !== 'string' || value === '';",
    replacement: 'return value === null;',
    tests: ['webhooks/senders/cloud-event.test.ts'],
  },
  {
    file: 'webhooks/incoming/receiving/receive.ts',
    text: '    checkContent(deps, exchange, webhook, { body, reader });\n', replacement: '',
    tests: ['webhooks/incoming/cloudevents.test.ts'],
  },
  {
    file: 'webhooks/senders/diagnosis/diagnosis-report.ts',
    text: "this.#failedCheck === null ? 'failed' : 'hint'", replacement: "'failed'",
    tests: ['webhooks/incoming/diagnose.test.ts'],
  },
  {
    file: 'webhooks/senders/diagnosis/near-misses.ts',
    text: 'failure.request.body.length > BODY_BYTES_MAX',
    replacement: 'failure.request.body.length < 0', tests: ['webhooks/senders/diagnose.test.ts'],
  },
];
