/**
 * Makes the body of an outgoing request: an action turns the payload into other data, and a
 * template is filled with that. Each step takes JSON and returns JSON.
 */
import { formatTimestamp, type Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { Logger } from '../../base/log.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { ConfigurationIndex } from '../actions/configuration-index.ts';
import type { ActionRegistry } from '../actions/action-registry.ts';
import { ChainRefusal, encodeData, runAction, type ActionRunner } from '../actions/run-action.ts';
import { createEmptyPayload, toPayload } from '../actions/action-payload.ts';
import type { Payload } from '../actions/action-payload.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import { fillTemplate } from '../outgoing/payload-template.ts';

export interface BodyMaker {
  /** Whether the body is something other than the payload. */
  needsMaking(webhook: ReadyOutgoingWebhook): boolean;
  /** Makes the body. Throws `invalid` if the action or the template fails: nothing must go out. */
  make(webhook: ReadyOutgoingWebhook, payloadJson: Buffer, origin: BodyOrigin): Promise<Buffer>;
}

/** The context that a body is made in. */
export type BodyOrigin = {
  /** The length of the chain that led to the request. */
  readonly hops: number;
  /** The trace of the event; absent: it has none. */
  readonly trace?: TraceContext | null;
  /** The logger of the action. */
  readonly log: Logger;
  /** Called when a request that the action sent was refused because of its chain. */
  readonly onChainRefused?: () => void;
};

export function createBodyMaker(deps: {
  readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry;
  readonly runner: ActionRunner;
  readonly clock: Clock;
}): BodyMaker {
  return {
    needsMaking: ({ actionConfiguration, template }) =>
      actionConfiguration !== undefined || template !== null,
    async make(webhook, payloadJson, origin) {
      const { actionConfiguration } = webhook;
      const actedJson = actionConfiguration === undefined ? payloadJson
        : await runConfiguredAction(deps, actionConfiguration, payloadJson, origin);
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

type BodyMakerDeps = Parameters<typeof createBodyMaker>[0];

async function runConfiguredAction(
  deps: BodyMakerDeps, identifier: string, payloadJson: Buffer,
  { hops, trace = null, log, onChainRefused }: BodyOrigin,
): Promise<Buffer> {
  const configuration = deps.configurations.find(identifier);
  const action = configuration === undefined
    ? undefined : deps.actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    throw new AppError('invalid', 'the action is not there');
  }
  const call = {
    payload: () => parseActionPayload(payloadJson) ?? createEmptyPayload(),
    bytes: () => parseActionPayload(payloadJson) === null ? null : payloadJson,
    plainBody: () => payloadJson,
    context: {
      headers: {}, query: '', body: payloadJson, contentType: 'application/json', method: 'POST',
      path: '', receivedAt: formatTimestamp(deps.clock.now()), event: null, eventId: null,
      verified: null,
      request: null, attempt: 1, replay: false,
    },
    webhookId: null,
    storedRequestId: null,
    requestOrigin: null,
    secretSources: [],
    configuration: identifier,
    options: configuration.options,
    turn: null,
    timeoutMs: null,
    hops,
    trace,
    isChainRefused: false,
    log,
  };
  const result = await runAction(action, call, deps.runner);
  if (result instanceof ChainRefusal) onChainRefused?.();
  if (!result.success) {
    const detail = result.message === null ? '' : `: ${result.message}`;
    throw new AppError('invalid', `the action failed${detail}`);
  }
  const text = encodeData(result.data, call);
  if (text === null) throw new AppError('invalid', 'the action gave no JSON object or array');
  return Buffer.from(text, 'utf8');
}

// The payload of an event may be any JSON, but an action gets an object or an array.
function parseActionPayload(payloadJson: Buffer): Payload | null {
  return toPayload(parseJsonText(payloadJson.toString('utf8')));
}
