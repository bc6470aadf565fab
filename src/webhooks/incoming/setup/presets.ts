/** `GET /api/verification-presets`: the senders whose requests can be verified by name. */
import { late } from '../../../base/late.ts';
import type { Schema } from '../../../base/schema.ts';
import {
  arrayOf, objectOf, sendWholeList, text, wholeList,
} from '../../../resources/route-parts.ts';
import type { HttpRoute } from '../../../server/http-route.ts';

const withList = late(() => import('../../senders/presets/list.ts'));

const seconds: Schema = { kind: 'integer', minimum: 1, maximum: 86_400 };

export function presetsRoute(): HttpRoute {
  return {
    method: 'GET', path: '/api/verification-presets', access: 'read',
    operationId: 'listVerificationPresets',
    summary: 'The senders whose requests can be verified, and how to set each up',
    responses: [
      wholeList('The presets', objectOf('VerificationPreset', {
        name: text(), sender: text(), header: text(), needs: arrayOf(text()),
        covers: arrayOf({ kind: 'string', values: ['body', 'time', 'id'] }),
        toleranceS: seconds, answerWithinS: seconds, onFailure: text(), pasteUrl: text(),
        pasteSecret: text(), secretFrom: { kind: 'string', values: ['here', 'sender'] },
        documentation: text(), unconfirmed: text(),
      }, { nullable: ['toleranceS', 'answerWithinS', 'onFailure', 'unconfirmed'] })),
    ],
    handle: (exchange) =>
      withList(({ listPresets }) => sendWholeList(exchange, listPresets())),
  };
}
