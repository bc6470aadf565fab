/** The routes of a webhook as they are now, for a request that was kept. */
import { silentLogger } from '../../../base/log.ts';
import type { KnownRoutes } from '../../requests/replay.ts';
import type { KeptRequest } from '../../requests/request.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import { KeptCall } from './kept-call.ts';
import { factsOf, findMatching } from '../receiving/run-routes.ts';

export function keptRoutes(
  { routes, reading }: ReadyHook, request: KeptRequest, body: () => Buffer,
): KnownRoutes {
  return {
    names: routes.map(({ name }) => name),
    matching() {
      const run = { request, body: body(), reading, attempt: 1, holder: { log: silentLogger } };
      return findMatching(routes, factsOf(new KeptCall(run, {}))).map(({ name }) => name);
    },
  };
}
