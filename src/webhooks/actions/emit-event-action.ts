/** The built-in action `emit-event`: the payload becomes an event that fires outgoing webhooks. */
import { EVENT_NAME_LENGTH_MAX } from '../../base/event-name.ts';
import { withoutByteOrderMark } from '../../base/json/parse.ts';
import { ActionResult } from './action.ts';
import { findEmitProblem } from './event-name.ts';
import { findUnknownOptions, type ActionCall, type RegisteredAction } from './action-registry.ts';

/** Resolves once the deliveries are on disk. `readPayload` is called if a webhook may hear it. */
type EmitEvent = (
  name: string, readPayload: () => string, cause: Pick<ActionCall, 'hops' | 'trace'>,
) => Promise<readonly string[]>;

export const EMIT_EVENT = 'emit-event';

export function createEmitEventAction(emit: EmitEvent): RegisteredAction {
  const texts: Texts = new WeakMap();
  return {
    identifier: EMIT_EVENT,
    label: 'Emit an event',
    isBuiltIn: true,
    module: null,
    options: {
      name: {
        schema: { kind: 'string', maxLength: EVENT_NAME_LENGTH_MAX }, isRequired: true,
        label: 'Event',
        description: 'The name of the event, such as `order.created`',
      },
    },
    validateOptions({ name, ...others }) {
      const problems = findUnknownOptions(others, ['name']);
      const problem = findEmitProblem(name);
      return problem === null ? problems : [`name ${problem}`, ...problems];
    },
    async run(call) {
      if (call.webhookId === null) {
        return ActionResult.fail('emit-event is not for an outgoing webhook');
      }
      const bytes = call.payloadJson();
      const readPayload = (): string => bytes === null ? '[]' : readText(texts, bytes);
      const deliveries = await emit(String(call.options['name']), readPayload, call);
      return ActionResult.ok({ deliveries: [...deliveries] });
    },
  };
}

/** The text of each body in memory: all routes of a request emit the same text. */
type Texts = WeakMap<Buffer, string>;

function readText(texts: Texts, bytes: Buffer): string {
  const text = texts.get(bytes) ?? withoutByteOrderMark(bytes).toString();
  texts.set(bytes, text);
  return text;
}
