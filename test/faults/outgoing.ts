/** Faults of outgoing webhooks. */
import type { PlantedFault } from './fault.ts';

export const OUTGOING_FAULTS: readonly PlantedFault[] = [
  {
    file: 'webhooks/outgoing/oauth2-member.ts',
    text: 'return collectUrls({ targetUrl, tokenUrl });',
    replacement: 'return collectUrls({ targetUrl });',
    tests: ['webhooks/outgoing/oauth2-member.test.ts'],
  },
  {
    file: 'webhooks/outgoing/outgoing-repository.ts',
    text: "checkTarget(change, '/oauth2/tokenUrl', findTokenUrl, deps.isDeniedTarget);",
    replacement: '',
    tests: ['webhooks/sending/oauth2.test.ts'],
  },
  {
    file: 'webhooks/outgoing/client-certificate-member.ts',
    text: 'if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {',
    replacement: 'if (false) {',
    tests: ['webhooks/outgoing/client-certificate-member.test.ts'],
  },
  {
    file: 'webhooks/sending/access-tokens.ts',
    text: 'slot.pendingToken ??= this.#request(oauth2, slot, timeoutMs);',
    replacement: 'slot.pendingToken = this.#request(oauth2, slot, timeoutMs);',
    tests: ['webhooks/sending/oauth2.test.ts'],
  },
  {
    file: 'webhooks/sending/access-tokens.ts',
    text: 'if (slot.token === token) slot.token = null;', replacement: 'slot.token = null;',
    tests: ['webhooks/sending/access-tokens.test.ts'],
  },
  {
    file: 'webhooks/sending/access-tokens.ts',
    text: 'if (refusal !== null && nowMs < slot.refusedUntilMs) {', replacement: 'if (false) {',
    tests: ['webhooks/sending/access-tokens.test.ts'],
  },
  {
    file: 'webhooks/http/http-sender.ts', text: 'isCut ? text.slice',
    replacement: 'false ? text.slice', tests: ['webhooks/http/hide-secrets.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-sender.ts', text: ', ...listHeaderSecrets(headers)',
    replacement: '', tests: ['webhooks/sending/send.test.ts'],
  },
  {
    file: 'webhooks/outgoing/outgoing-resource.ts',
    text: 'dropUnusedPrevious(keepPreviousSecret(restored, current))',
    replacement: 'keepPreviousSecret(restored, current)',
    tests: ['webhooks/outgoing/signing.test.ts'],
  },
  {
    file: 'webhooks/sending/webhook-sender.ts',
    text: 'accessToken === undefined ? [] : [accessToken]', replacement: '[]',
    tests: ['webhooks/sending/oauth2.test.ts'],
  },
  {
    file: 'webhooks/sending/token-request.ts',
    text: 'ERROR_CODES.find((code) => code === error) ?? null', replacement: 'String(error)',
    tests: ['webhooks/sending/oauth2.test.ts'],
  },
  {
    file: 'webhooks/sending/token-request.ts',
    text: 'if (body.length > RESPONSE_BYTES_MAX) {', replacement: 'if (false) {',
    tests: ['webhooks/sending/oauth2.test.ts'],
  },
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
    file: 'webhooks/templates/json-template.ts',
    text: 'if (json.length > lengthMax) throw', replacement: 'if (false) throw',
    tests: ['webhooks/outgoing/payload-template.test.ts'],
  },
  {
    file: 'webhooks/templates/body-template.ts',
    text: "typeof piece === 'string' ? value : escape(value)", replacement: 'value',
    tests: ['webhooks/templates/body-template.test.ts'],
  },
  {
    file: 'webhooks/sending/cloud-event.ts',
    text: '[[name, encodeHeaderValue(value)] as const]', replacement: '[[name, value] as const]',
    tests: ['webhooks/sending/cloud-events.test.ts'],
  },
];
