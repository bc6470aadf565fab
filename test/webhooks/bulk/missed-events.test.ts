/** Which stored events a webhook has missed, by the records there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMissedEventMatcher } from '../../../src/webhooks/bulk/backfill.ts';
import type {
  ReadyOutgoingWebhook,
} from '../../../src/webhooks/outgoing/outgoing-webhook-index.ts';

const EVENT = '019a0000-0000-7000-8000-000000000001';
const AT = '2026-11-01T00:00:00.000Z';
const EVER = () => true;
const WEBHOOK = {
  identifier: 'mine', targetUrl: 'http://localhost/', httpMethod: 'POST', enabled: false,
  triggerEvent: '*',
} as unknown as ReadyOutgoingWebhook;

/** An event, by the members between its name and its payload, which have their commas. */
function encode(members: string, name = '"order.paid"', end = '"payload":{}'): Buffer {
  return Buffer.from(
    `{"identifier":"${EVENT}","createdAt":"${AT}","name":${name},${members},${end}}`);
}

type Case = {
  readonly title: string; readonly record: Buffer; readonly isMissed: boolean;
  /** By collection and id. */
  readonly others?: Readonly<Record<string, string>>;
};

const PLAIN = '"source":"api","depth":1,"hooks":[],"deliveries":[]';
const OTHERS = '"source":"api","depth":1,"hooks":["a","b"],"deliveries":["1","2"]';

const CASES: readonly Case[] = [
  { title: 'nobody heard', record: encode(PLAIN), isMissed: true },
  { title: 'others heard', record: encode(OTHERS), isMissed: true },
  {
    title: 'it had a delivery of that is gone', isMissed: false,
    record: encode('"source":"api","depth":1,"hooks":["a","mine"],"deliveries":["1","gone"]'),
  },
  {
    title: 'it had a later delivery of that is gone', record: encode(OTHERS), isMissed: false,
    others: {
      [`event-receivers/${EVENT}`]:
        `{"identifier":"${EVENT}","deliveries":["gone"],"hooks":["mine"]}`,
    },
  },
  {
    title: 'is being fanned out to it', record: encode(PLAIN), isMissed: false,
    others: {
      [`fan-outs/${EVENT}`]:
        `{"identifier":"${EVENT}","seed":"s","createdAt":"","event":"order.paid",`
          + '"hooks":["a","mine"]}',
    },
  },
  {
    title: 'has not begun', record: encode(PLAIN), isMissed: false,
    others: { [`delayed-events/${EVENT}`]: `{"identifier":"${EVENT}","deliverAt":"${AT}"}` },
  },
  {
    title: 'was delayed and has begun', isMissed: true,
    record: encode(`"source":"api","deliverAt":"${AT}","depth":1,"hooks":[],"deliveries":[]`),
  },
  {
    title: 'was sent to another one alone', isMissed: false,
    record: encode('"source":"api","to":"a","depth":1,"hooks":["a"],"deliveries":["1"]'),
  },
  {
    title: 'is what a queued forward sends', isMissed: false,
    record: encode('"source":"action","depth":0,"url":"http://a/","hooks":[],"deliveries":["1"]',
      'null', '"payload":{"method":"POST","headers":{},"text":null}'),
  },
  { title: 'about hookshelf itself', record: encode(PLAIN, '"delivery.failed"'), isMissed: false },
];
for (const { title, record, isMissed, others = {} } of CASES) {
  test(`an event that ${title} is ${isMissed ? '' : 'not '}missed`, () => {
    const isMatch = createMissedEventMatcher(WEBHOOK, EVER);
    const find = (collection: string, id: string): Buffer | undefined => {
      const json = others[`${collection}/${id}`];
      return json === undefined ? undefined : Buffer.from(json);
    };
    assert.equal(isMatch(EVENT, record, find), isMissed);
  });
}
