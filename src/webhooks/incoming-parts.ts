/** What receives: the public endpoint, and the inbox of what it keeps. */
import type { ConfigurationIndex } from './actions/configuration-index.ts';
import type { ActionRegistry } from './actions/registry.ts';
import type { ActionRunner } from './actions/run-action.ts';
import type { HookIndex } from './incoming/receiving/hook-index.ts';
import { PreviousSecretUses } from './incoming/receiving/previous-uses.ts';
import type { ReceiveParts } from './incoming/receiving/receive.ts';
import type { WebhooksOptions } from './options.ts';
import { DEFAULT_ROUTE } from './requests/request.ts';
import { requestRetention } from './requests/retention.ts';
import { createRequestService, type RequestService } from './requests/service.ts';
import { requestKind } from './requests/unit-of-work.ts';
import { Retention } from './work/retention.ts';

type Incoming = {
  readonly receive: ReceiveParts;
  readonly requests: RequestService;
  start(): void;
  close(graceMs: number): Promise<void>;
};

export function composeIncoming(options: WebhooksOptions, shared: {
  readonly hooks: HookIndex; readonly configurations: ConfigurationIndex;
  readonly runner: ActionRunner; readonly actions: ActionRegistry;
}): Incoming {
  const { store, clock, logger: log, makeId, incoming, inbox } = options;
  const { hooks, configurations, runner, actions } = shared;
  const requests = createRequestService({
    store, clock, makeId,
    rejected: { all: () => [], find: () => undefined },
    routesOf: ({ hook }) => hooks.find(hook) === undefined ? null
      : { names: [DEFAULT_ROUTE], matching: () => [DEFAULT_ROUTE] },
    checkRoom: () => {},
  });
  const retention = new Retention({
    ...requestRetention(store, inbox), kind: requestKind, store, clock, log,
  });
  return {
    requests,
    receive: {
      hooks, configurations, clock, actions, limits: incoming, runner,
      previousUses: new PreviousSecretUses(store, log),
    },
    start: () => retention.start(),
    async close(_) {
      await retention.close();
      requests.close();
    },
  };
}
