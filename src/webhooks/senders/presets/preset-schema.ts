/** A preset as the API describes it to people. */
import type { AnswerOf } from '../../../base/schema-types.ts';
import { TEXT, arraySchema, objectSchema } from '../../../resources/route-specs.ts';

const seconds = { kind: 'integer', minimum: 1, maximum: 86_400 } as const;
const members = arraySchema(TEXT);

export const presetSchema = objectSchema('VerificationPreset', {
  name: TEXT, sender: TEXT, header: [TEXT, 'Where the signature is, or the token'],
  needs: [members, 'The members of `verification` that it needs'],
  accepts: [members, 'The members of `verification` that it may have beside those'],
  covers: [arraySchema({ kind: 'string', values: ['body', 'time', 'id'] }), 'What is signed'],
  toleranceS: [seconds, 'How far a signed time may be from now; null: without a limit'],
  answerWithinS: [seconds, 'How soon the sender expects its response; null: unknown'],
  onFailure: [TEXT, 'What the sender does after a response that is no success; null: unknown'],
  pasteUrl: TEXT, pasteSecret: TEXT,
  secretFrom: [
    { kind: 'string', values: ['here', 'sender'] },
    'Who makes the secret: `here`, then the sender is given it, or the `sender`',
  ],
  signingObstacle: [TEXT, 'Why outgoing webhooks cannot sign as this sender; null: they can'],
  documentation: TEXT,
  unconfirmed: [TEXT, 'What is known from memory or a third party alone; null: nothing'],
  formResponse: [
    objectSchema('PresetFormResponse', { contentType: TEXT, body: TEXT }),
    'How its forms are answered when they are accepted; null: with JSON',
  ],
}, {
  nullable: [
    'toleranceS', 'answerWithinS', 'onFailure', 'signingObstacle', 'unconfirmed', 'formResponse',
  ],
});

export type PresetDescription = AnswerOf<typeof presetSchema>;
