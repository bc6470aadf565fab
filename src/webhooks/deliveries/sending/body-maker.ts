/**
 * Makes the body of an outgoing request: an action turns the payload into other data, and a
 * template is filled with that. Each step takes JSON and returns JSON.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { Logger } from '../../../base/log.ts';
import type { TraceContext } from '../../../base/trace-context.ts';
import type { JsonValue } from '../../../base/schema.ts';
import {
  ChainRefusal, encodeData, runAction, type ConfiguredActions,
} from '../../actions/run-action.ts';
import { createEmptyPayload, toPayload, type Payload } from '../../actions/action-payload.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import { fillTemplate } from '../../outgoing/payload-template.ts';

export type BodyOrigin = {
  readonly hops: number;
  readonly trace?: TraceContext | null;
  readonly log: Logger;
  /** Called when a request of the action was refused because of its chain. */
  readonly onChainRefused?: () => void;
};

export type BodyMaker = ReturnType<typeof createBodyMaker>;

export function createBodyMaker(actions: ConfiguredActions) {
  return {
    needsMaking: ({ actionConfiguration, template }: ReadyOutgoingWebhook): boolean =>
      actionConfiguration !== undefined || template !== null,
    /** Throws `invalid` if the action or the template fails: nothing must go out. */
    async make(
      webhook: ReadyOutgoingWebhook, payloadJson: Buffer, origin: BodyOrigin,
    ): Promise<Buffer> {
      const { actionConfiguration } = webhook;
      const actedJson = actionConfiguration === undefined ? payloadJson
        : await runConfiguredAction(actions, actionConfiguration, payloadJson, origin);
      if (webhook.template === null) return actedJson;
      const payload = parseJsonText(actedJson.toString('utf8')) as JsonValue;
      try {
        return Buffer.from(fillTemplate(webhook.template, payload), 'utf8');
      } catch (thrown) {
        throw new AppError('invalid', messageOf(thrown), {}, thrown);
      }
    },
  };
}

async function runConfiguredAction(
  { configurations, actions, runner }: ConfiguredActions, identifier: string, payloadJson: Buffer,
  { hops, trace = null, log, onChainRefused }: BodyOrigin,
): Promise<Buffer> {
  const configuration = configurations.find(identifier);
  const action = configuration === undefined
    ? undefined : actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    throw new AppError('invalid', 'the action is not there');
  }
  const call = {
    payload: () => parseActionPayload(payloadJson) ?? createEmptyPayload(),
    payloadJson: () => parseActionPayload(payloadJson) === null ? null : payloadJson,
    plainBody: () => payloadJson,
    context: {
      headers: {}, query: '', body: payloadJson, contentType: 'application/json', method: 'POST',
      path: '', receivedAt: formatTimestamp(runner.clock.now()), event: null, eventId: null,
      verified: null,
      request: null, attempt: 1, replay: false,
    },
    webhookId: null,
    storedRequestId: null,
    requestOrigin: null,
    secretSources: [],
    configurationId: identifier,
    options: configuration.options,
    wait: null,
    timeoutMs: null,
    hops,
    trace,
    isChainRefused: false,
    log,
  };
  const result = await runAction(action, call, runner);
  if (result instanceof ChainRefusal) onChainRefused?.();
  if (!result.success) {
    const detail = result.message === null ? '' : `: ${result.message}`;
    throw new AppError('invalid', `the action failed${detail}`);
  }
  const text = encodeData(result.data, call);
  if (text === null) throw new AppError('invalid', 'the action gave no JSON object or array');
  return Buffer.from(text, 'utf8');
}

// An event's payload may be any JSON, and an action gets an object or an array.
function parseActionPayload(payloadJson: Buffer): Payload | null {
  return toPayload(parseJsonText(payloadJson.toString('utf8')));
}
