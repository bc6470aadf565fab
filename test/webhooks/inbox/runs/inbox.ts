/** The background runs of kept requests on a simulated clock and disk, with a scripted action. */
import { findCommitted } from '../../../../src/store/find-record.ts';
import { formatTimestamp } from '../../../../src/base/clock.ts';
import { ActionResult, type ActionContext } from '../../../../src/webhooks/actions/action.ts';
import { decodeRequest } from '../../../../src/webhooks/inbox/request-codec.ts';
import { toPublicRequest } from '../../../../src/webhooks/inbox/request-schema.ts';
import type { StoredRequest } from '../../../../src/webhooks/incoming/stored-request.ts';
import { addRequest } from '../../../../src/webhooks/inbox/request-changes.ts';
import { makeRoute, makeStoredRequest } from '../sample-request.ts';
import { Simulation, type SimulationOptions } from '../../deliveries/sending/simulation.ts';
import { createActionClass } from '../../context.ts';

/** One run of the action. */
export type Run = {
  readonly request: string;
  readonly route: string;
  readonly attempt: number;
  readonly replay: boolean;
  readonly atMs: number;
  readonly body: string;
  readonly context: ActionContext;
};

export type Act = (run: Run) => ActionResult | Promise<ActionResult>;

export const SCHEDULE_S = [5, 60];
const SUCCEED: Act = () => ActionResult.ok({ done: true });

export class InboxSimulation extends Simulation {
  readonly runs: Run[];
  readonly #script: { act: Act };
  #count = 0;

  constructor(options: SimulationOptions = {}) {
    const runs: Run[] = [];
    const script = { act: SUCCEED };
    const self: { clock: { now(): number } | null } = { clock: null };
    const Scripted = createActionClass('scripted', (
      _: unknown, context: ActionContext, actionOptions: Readonly<Record<string, unknown>>,
    ): ActionResult | Promise<ActionResult> => {
      const { request, attempt, replay, body } = context;
      const run = {
        request: request ?? '', route: String(actionOptions['route']), attempt, replay,
        atMs: self.clock?.now() ?? 0, body: body.toString(), context,
      };
      runs.push(run);
      return script.act(run);
    });
    super({
      ...options, actions: [Scripted],
      incoming: { retrySchedule: SCHEDULE_S, ...options.incoming },
    });
    self.clock = this.clock;
    this.runs = runs;
    this.#script = script;
  }

  set act(act: Act) {
    this.#script.act = act;
  }

  /** A webhook with a route a name; its identifier. */
  async addWebhook(routes: readonly string[] = ['a'], members: object = {}): Promise<string> {
    const { configurations, incoming } = this.webhooks.resources;
    this.#count += 1;
    const names = routes.map((route) => ({ route, identifier: `c${this.#count}-${route}` }));
    for (const { route, identifier } of names) {
      await this.run(configurations.add({
        identifier, actionType: 'scripted', options: { route },
      }));
    }
    const view = await this.run(incoming.add({
      pathSegment: `hook-${this.#count}`, inbox: 'all', answer: 'accepted',
      routes: names.map(({ route, identifier }) =>
        ({ name: route, actionConfiguration: identifier })), ...members,
    }));
    return String(JSON.parse(view.bytes.toString()).identifier);
  }

  /** Keeps a pending request, as the endpoint does for `answer: accepted`; its id. */
  async accept(
    hook: string, routes: readonly string[] = ['a'], body = Buffer.from('{"n":1}'),
  ): Promise<string> {
    const id = this.nextId();
    const at = formatTimestamp(this.clock.now());
    const request = makeStoredRequest({
      body, given: {
        id, hook, receivedAt: at, updatedAt: at, eventId: 'evt', event: 'it',
        deliveries: routes.map((route) => makeRoute({ route }, at)),
      },
    });
    await this.run(this.store.transact((transaction) =>
      addRequest(transaction, request, body)));
    return id;
  }

  request(id: string): StoredRequest | undefined {
    const bytes = this.store.collection('requests').find(id)?.bytes;
    return bytes === undefined ? undefined : decodeRequest(bytes, findCommitted(this.store));
  }

  /** Status of the request, and of each of its routes. */
  states(id: string): readonly string[] {
    const request = this.request(id);
    if (request === undefined) return [];
    const { routes } = toPublicRequest(request, { hookName: null, bodyStart: null });
    return [request.status, ...routes.map(({ status }) => status)];
  }

  nextId(): string {
    this.#count += 1;
    return `01890000-0000-7000-8000-${String(this.#count).padStart(12, '0')}`;
  }
}

/** Runs that end when they are told, with what they are told. */
export class Held {
  readonly #waiting: ((result: ActionResult) => void)[] = [];

  readonly act: Act = () => new Promise((resolve) => this.#waiting.push(resolve));

  get count(): number {
    return this.#waiting.length;
  }

  /** Ends the oldest. */
  end(result = ActionResult.ok()): void {
    this.#waiting.shift()?.(result);
  }
}
