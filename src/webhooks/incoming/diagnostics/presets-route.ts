/** `GET /api/verification-presets` lists the senders whose requests can be verified by name. */
import { lazyImport } from '../../../base/lazy-import.ts';
import type { Schema } from '../../../base/schema.ts';
import {
  arraySchema, objectSchema, sendList, TEXT, listResponse,
} from '../../../resources/route-specs.ts';
import type { HttpRoute } from '../../../server/http-route.ts';

const loadPresetList = lazyImport(() => import('../../senders/presets/describe-presets.ts'));

const seconds: Schema = { kind: 'integer', minimum: 1, maximum: 86_400 };

export function presetsRoute(): HttpRoute {
  return {
    method: 'GET', path: '/api/verification-presets', access: 'read',
    operationId: 'listVerificationPresets',
    summary: 'The senders whose requests can be verified, and how to set each up',
    responses: [
      listResponse('The presets', objectSchema('VerificationPreset', {
        name: TEXT, sender: TEXT, header: TEXT, needs: arraySchema(TEXT),
        covers: arraySchema({ kind: 'string', values: ['body', 'time', 'id'] }),
        toleranceS: seconds, answerWithinS: seconds, onFailure: TEXT, pasteUrl: TEXT,
        pasteSecret: TEXT, secretFrom: { kind: 'string', values: ['here', 'sender'] },
        documentation: TEXT, unconfirmed: TEXT,
      }, { nullable: ['toleranceS', 'answerWithinS', 'onFailure', 'unconfirmed'] })),
    ],
    handle: (exchange) =>
      loadPresetList(({ describePresets }) => sendList(exchange, describePresets())),
  };
}
