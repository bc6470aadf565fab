/**
 * Makes the body of an outgoing request: an action turns the payload into other data, a template is
 * filled with that, and the format `envelope` puts the name of the event beside it.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import { encodeString } from '../../../base/json/encode.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { Logger } from '../../../base/log.ts';
import type { TraceContext } from '../../../base/trace-context.ts';
import type { JsonValue } from '../../../base/schema.ts';
import {
  ChainRefusal, encodeData, runAction, type ConfiguredActions,
} from '../../actions/run-action.ts';
import { createEmptyPayload, toPayload, type Payload } from '../../actions/action-payload.ts';
import type { BodyTemplate } from '../../members/templates/body-template.ts';
import { isEnvelope } from '../../outgoing/envelope.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import { fillTemplate } from '../../outgoing/payload-template.ts';
import { SENT_BY_HAND } from '../durable-send.ts';

export type BodyOrigin = {
  readonly hops: number;
  readonly trace?: TraceContext | null;
  readonly log: Logger;
  /** Called when a request of the action was refused because of its chain. */
  readonly onChainRefused?: () => void;
};

/** The event that a body is made for: `name` is `hookshelf.send` for what is sent by hand. */
export type SentEvent = { readonly name: string; readonly createdAt: string };

export type BodyMaker = ReturnType<typeof createBodyMaker>;

export function createBodyMaker(actions: ConfiguredActions) {
  return {
    needsMaking: ({ actionConfiguration, template, format }: ReadyOutgoingWebhook): boolean =>
      actionConfiguration !== undefined || template !== null || format === 'envelope',
    /** Throws `invalid` if the action or the template fails: nothing must go out. */
    async make(
      { actionConfiguration, template, format }: ReadyOutgoingWebhook, payloadJson: Buffer,
      event: SentEvent, origin: BodyOrigin,
    ): Promise<Buffer> {
      const actedJson = actionConfiguration === undefined ? payloadJson
        : await runConfiguredAction(actions, actionConfiguration, payloadJson, origin);
      const body = template === null ? actedJson : fillReadyTemplate(template, actedJson);
      return format === 'envelope' ? encodeEnvelope(body, event) : body;
    },
  };
}

function fillReadyTemplate(template: BodyTemplate, json: Buffer): Buffer {
  const payload = parseJsonText(json.toString('utf8')) as JsonValue;
  try {
    return Buffer.from(fillTemplate(template, payload), 'utf8');
  } catch (thrown) {
    throw new AppError('invalid', messageOf(thrown), {}, thrown);
  }
}

/** Keeps the bytes of the data, and a body that is an envelope already. */
function encodeEnvelope(json: Buffer, { name, createdAt }: SentEvent): Buffer {
  const body = parseJsonText(json.toString('utf8'));
  if (isEnvelope(body, name === SENT_BY_HAND ? null : name)) return json;
  const head = `{"type":${encodeString(name)},"timestamp":"${createdAt}","data":`;
  return Buffer.concat([Buffer.from(head), json, Buffer.from('}')]);
}

async function runConfiguredAction(
  { configurations, actions, runner }: ConfiguredActions, identifier: string, payloadJson: Buffer,
  { hops, trace = null, log, onChainRefused }: BodyOrigin,
): Promise<Buffer> {
  const configuration = configurations.find(identifier);
  const action = configuration === undefined
    ? undefined : actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    const { actionType = 'of the webhook' } = configuration ?? {};
    throw new AppError('invalid', `the action ${actionType} is not there`);
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
