/** A relay whose webhooks keep all requests, and whose action remembers what payloads it got. */
import assert from 'node:assert/strict';
import type { Payload } from '../../../src/index.ts';
import { startRelay, type Relay } from '../relay.ts';
import { createActionClass } from '../context.ts';

export type PayloadTaker = {
  readonly relay: Relay;
  /** What the action got, the newest last. */
  readonly payloads: Payload[];
  /** Makes a webhook that runs the action, and tells its path segment. */
  makeHook(hook: object): Promise<string>;
  /** The newest request of the webhook, as it is kept. */
  readNewest(pathSegment: string): Promise<Readonly<Record<string, unknown>>>;
};

export async function startPayloadTaker(): Promise<PayloadTaker> {
  const payloads: Payload[] = [];
  const Takes = createActionClass('takes', (payload: Payload) => {
    payloads.push(payload);
    return { success: true };
  });
  const relay = await startRelay({ actions: [Takes] });
  relay.webhooks.start();
  let count = 0;
  return {
    relay, payloads,
    async makeHook(hook) {
      count += 1;
      const pathSegment = `in-${count}`;
      const made = await relay.hook(
        { actionType: 'takes' }, { pathSegment, inbox: 'all', ...hook });
      assert.equal(made.status, 201, made.text);
      return pathSegment;
    },
    async readNewest(pathSegment) {
      const { text } = await relay.ask('GET', `/api/requests?hook=${pathSegment}&limit=1`);
      return JSON.parse(text)[0];
    },
  };
}
