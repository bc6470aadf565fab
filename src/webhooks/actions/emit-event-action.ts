/** The built-in action `emit-event`: the payload becomes an event that fires outgoing webhooks. */
import { withoutByteOrderMark } from '../../base/json/parse.ts';
import { ActionResult } from './action.ts';
import { findEmitProblem } from './event-name.ts';
import { findUnknownOptions } from './action-registry.ts';
import type { ActionCall, RegisteredAction } from './action-registry.ts';

/** Resolves with the deliveries' identifiers once they are on disk. */
type EmitEvent = (
  name: string, payloadJson: string, cause: Pick<ActionCall, 'hops' | 'trace'>,
) => Promise<readonly string[]>;

export const EMIT_EVENT = 'emit-event';

export function createEmitEventAction(emit: EmitEvent): RegisteredAction {
  return {
    identifier: EMIT_EVENT,
    label: 'Emit an event',
    isBuiltIn: true,
    module: null,
    options: [{ name: 'name', description: "the event's name", isRequired: true }],
    validateOptions({ name, ...others }) {
      const problems = findUnknownOptions(others, ['name']);
      const problem = findEmitProblem(name);
      return problem === null ? problems : [`name ${problem}`, ...problems];
    },
    async run(call) {
      if (call.direction === 'outgoing') {
        return ActionResult.fail('emit-event is not for an outgoing webhook');
      }
      const bytes = call.bytes();
      const payloadJson = bytes === null ? '[]' : withoutByteOrderMark(bytes).toString();
      const deliveries = await emit(String(call.options['name']), payloadJson, call);
      return ActionResult.ok({ deliveries: [...deliveries] });
    },
  };
}
