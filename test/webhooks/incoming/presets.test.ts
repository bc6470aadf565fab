/**
 * Presets through the path that a real request takes, against independent signers. Without a server
 * test/webhooks/senders/presets.test.ts tries each of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { someOf } from '../../support/long.ts';
import { casesOf, type Case } from '../../support/senders/cases.ts';
import { CUSTOM_SENDERS } from '../../support/senders/custom.ts';
import type { Sender } from '../../support/senders/signer.ts';
import { SENDERS } from '../../support/senders/table.ts';
import { startRelayFor, type Answer, type Headers, type Relay } from '../relay.ts';
import { createActionClass } from '../context.ts';

const Tells = createActionClass('tells', (
  _payload: unknown, { verified, body }: { verified: unknown; body: Buffer },
) => ({ success: true, data: { verified, bytes: body.length } }));

/** The time of the wall stands still: a sender may allow a few seconds for all of its cases. */
const NOW_MS = Date.now();
const CLOCK: Clock = { ...systemClock, now: () => NOW_MS };
const REFUSED = '{"success":false,"message":"Signature verification failed","data":{}}';

for (const sender of someOf([...SENDERS, ...CUSTOM_SENDERS], 8)) {
  test(`a webhook of ${sender.title} takes what its sender signed and nothing else`,
    async (context) => {
      const relay = await startRelayFor(context, { actions: [Tells], clock: CLOCK });
      const hook = await openHook(relay, sender);
      const wrong: string[] = [];
      for (const one of casesOf(sender, Math.floor(NOW_MS / 1000))) {
        await hook.give(one);
        const answer = await relay.ask('POST', pathOf(one), one.sent.body, headersOf(one));
        if (!isAsExpected(one, sender, answer)) {
          wrong.push(`${one.title}: ${one.expected}, was ${answer.status} ${answer.text}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
}

type Hook = {
  /** The secrets that the case wants. */
  give(one: Case): Promise<void>;
};

async function openHook(relay: Relay, sender: Sender): Promise<Hook> {
  const made = await relay.hook({ actionType: 'tells' }, {
    // Its requests all name the same event, and the action's data is what is looked at.
    response: {},
    deduplicate: 'off',
    secret: sender.makeKey('current').secret, verification: sender.verification,
  });
  assert.equal(made.status, 201, made.text);
  const id = String(made.json['identifier']);
  const collection = relay.store.collection('incoming-webhooks');
  const record = JSON.parse(String(collection.bytesAt(collection.walk().next()))) as object;
  const store = async (more: object): Promise<void> => {
    await relay.store.transact((transaction) =>
      transaction.put('incoming-webhooks', id, JSON.stringify({ ...record, ...more })));
  };
  return {
    give: ({ secret, previous }) => store(previous === null ? { secret } : {
      secret,
      previousSecret: {
        secret: previous.secret,
        validUntil: new Date(NOW_MS + (previous.isOver ? -1000 : 600_000)).toISOString(),
      },
    }),
  };
}

function pathOf({ sent: { query } }: Case): string {
  return `/webhook/in/hook${query === '' ? '' : `?${query}`}`;
}

/** A header that is there twice goes out twice. */
function headersOf({ sent: { rawHeaders, headers } }: Case): Headers {
  const all: Record<string, string | string[]> = { ...headers };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const first = Object.keys(headers).find((one) => one.toLowerCase() === name.toLowerCase());
    if (first !== undefined && first !== name) {
      const value = rawHeaders[index + 1] ?? '';
      all[first] = [value, value];
    }
  }
  return all;
}

function isAsExpected({ expected, sent }: Case, sender: Sender, answer: Answer): boolean {
  if (expected !== 'current' && expected !== 'previous') {
    return answer.status === 401 && answer.text === REFUSED
      && answer.headers['www-authenticate'] === undefined;
  }
  const { preset } = sender.verification;
  const data = { verified: { preset, secret: expected }, bytes: sent.body.length };
  return answer.status === 200 && JSON.stringify(answer.json['data']) === JSON.stringify(data);
}
