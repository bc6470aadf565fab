/** An operator with customers, whose tokens are bound to their webhooks. */
import assert from 'node:assert/strict';
import type { Scope } from '../../src/access/scope.ts';
import { ask, type Reply } from '../e2e/ask.ts';
import { withAppServer, type AppServer } from './app-server.ts';
import { followStream, type Following } from './event-stream.ts';
import { startHttpTarget, type HttpTarget } from './http-target.ts';
import { makeBoundToken, makeToken } from './make-token.ts';
import { until } from './until.ts';

export const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
export const HOOKS = '/api/outgoing-webhooks';

export type Headers = Readonly<Record<string, string>>;
export type Ask = (
  method: string, path: string, body?: unknown, headers?: Headers,
) => Promise<Reply>;
export type Json = Readonly<Record<string, unknown>>;

export type World = {
  readonly server: AppServer;
  readonly target: HttpTarget;
  readonly operator: Ask;
  /** Makes a token of that scope that is bound to these webhooks, and asks with it. */
  readonly customer: (scope: Scope, ...webhooks: string[]) => Promise<Ask>;
  /** Makes such a token, and follows that stream with it. */
  readonly follow: (webhooks: readonly string[], query?: string) => Promise<Following>;
  /** The identifiers of the webhooks, by name. */
  readonly ids: Readonly<Record<string, string>>;
};

/**
 * Each webhook hears `order.*`, and its deliveries fail for good with their first attempt unless
 * `members` say otherwise.
 */
export function inWorld(
  webhooks: Readonly<Record<string, object>>, use: (world: World) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  return withAppServer(async (server) => {
    const target = await startHttpTarget();
    const askAs = (token: string): Ask => (method, path, body, headers = {}) =>
      ask(server.url + path, {
        method, headers: { authorization: `Bearer ${token}`, ...headers },
        ...body === undefined ? {} : { body },
      });
    const operator = askAs((await makeToken(server.data, 'admin')).token);
    const ids: Record<string, string> = {};
    const followings: Following[] = [];
    try {
      for (const [name, members] of Object.entries(webhooks)) {
        const made = await operator('POST', HOOKS, {
          name, targetUrl: `${target.url}/500`, triggerEvent: 'order.*', retrySchedule: [],
          ...members,
        });
        assert.equal(made.status, 201, made.text);
        ids[name] = String(parse(made)['identifier']);
      }
      await use({
        server, target, operator, ids,
        customer: async (scope, ...bound) =>
          askAs((await makeBoundToken(server.data, scope, ...bound)).token),
        async follow(bound, query = '') {
          const { token } = await makeBoundToken(server.data, 'read', ...bound);
          const following = await followStream(server, {
            path: `/api/stream${query}`, headers: { authorization: `Bearer ${token}` },
          });
          followings.push(following);
          return following;
        },
      });
    } finally {
      for (const following of followings) await following.close();
      target.close();
    }
  }, environment);
}

export function parse({ text }: Pick<Reply, 'text'>): Json {
  return JSON.parse(text);
}

export function parseList({ text }: Pick<Reply, 'text'>): readonly Json[] {
  return JSON.parse(text);
}

/** Emits an event, and resolves once no delivery is pending any more. Returns its identifier. */
export async function emit(operator: Ask, name: string, more: object = {}): Promise<string> {
  const emitted = await operator('POST', '/api/events', { name, ...more });
  assert.equal(emitted.status, 202, emitted.text);
  await settle(operator);
  return String(parse(emitted)['event']);
}

export function settle(operator: Ask): Promise<void> {
  return until('nothing is pending', async () =>
    parseList(await operator('GET', '/api/deliveries?status=pending')).length === 0);
}

/** Lists the deliveries of a webhook, oldest first. */
export async function deliveriesOf(operator: Ask, hook: string): Promise<readonly Json[]> {
  return parseList(await operator('GET', `/api/deliveries?hook=${hook}`));
}

/**
 * Asserts that the foreign `name` is answered as the missing one, in all that a caller can tell two
 * answers apart by. `request` gets the name.
 */
export async function assertSame(
  askBound: Ask, foreign: string, missing: string,
  request: (name: string) => readonly [string, string, unknown?, Headers?], status: number,
): Promise<void> {
  assert.equal(foreign.length, missing.length);
  const [ofForeign, ofMissing] = [
    await askBound(...request(foreign)), await askBound(...request(missing)),
  ];
  const told = ({ status: given, headers, text }: Reply, name: string): object => {
    const { date: _, 'x-request-id': __, ...rest } = headers;
    return { status: given, headers: rest, text: text.replaceAll(name, '<name>') };
  };
  const what = JSON.stringify(request('<name>'));
  assert.deepEqual(told(ofForeign, foreign), told(ofMissing, missing), what);
  assert.equal(ofForeign.status, status, `${what}: ${ofForeign.text}`);
}
