/** Faults of outgoing webhooks. */
import type { PlantedFault } from './fault.ts';

export const OUTGOING_FAULTS: readonly PlantedFault[] = [
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
    text: 'escape(formatPlaceholderValue(readValue(piece)))',
    replacement: 'formatPlaceholderValue(readValue(piece))',
    tests: ['webhooks/templates/body-template.test.ts'],
  },
  {
    file: 'webhooks/sending/cloud-event.ts',
    text: '[[name, encodeHeaderValue(value)] as const]', replacement: '[[name, value] as const]',
    tests: ['webhooks/sending/cloud-events.test.ts'],
  },
];
