/** What a slow token leaves of an attempt, with scripted servers and a clock set by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import type { TargetResponse } from '../../../../src/webhooks/members/http-sender.ts';
import {
  AuthorizedSender, type AuthorizedResponse,
} from '../../../../src/webhooks/deliveries/sending/authorized-request.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const OAUTH2 = {
  tokenUrl: 'https://there/token', clientId: 'id', clientSecret: 'secret',
  clientAuthentication: 'basic',
} as const;
const TARGET = 'https://target/';

type Place = {
  readonly requests: readonly HttpRequest[]; send(): Promise<AuthorizedResponse>;
};

/** The nth token takes as long as the nth element; the target answers 401 as often as told. */
function open(tokenDurationsMs: readonly number[], refusals = 0): Place {
  const clock = new ManualClock();
  const requests: HttpRequest[] = [];
  const durations = [...tokenDurationsMs];
  let refusalsLeft = refusals;
  const http = {
    async request(request: HttpRequest): Promise<TargetResponse> {
      requests.push(request);
      if (request.url !== TARGET) {
        await clock.advance(durations.shift() ?? 0);
        return { statusCode: 200, headers: {}, body: Buffer.from('{"access_token":"a"}') };
      }
      refusalsLeft -= 1;
      return { statusCode: refusalsLeft < 0 ? 200 : 401, headers: {}, body: Buffer.alloc(0) };
    },
  };
  const sender = new AuthorizedSender(http, clock);
  return {
    requests,
    send: () => sender.send(OAUTH2, { method: 'POST', url: TARGET, timeoutMs: 5000 }),
  };
}

test('no target is asked when a slow token leaves no time; the next attempt uses it', async () => {
  const { send, requests } = open([4900]);
  await assert.rejects(send(), (thrown) => thrown instanceof AppError
    && thrown.code === 'unavailable' && /the access token came too late/.test(thrown.message));
  assert.deepEqual(requests.map(({ url }) => url), [OAUTH2.tokenUrl]);
  assert.equal((await send()).statusCode, 200);
  assert.equal(requests.length, 2);
});

test('a target has what a token leaves of the time limit', async () => {
  const { send, requests } = open([4000]);
  assert.equal((await send()).statusCode, 200);
  assert.equal(requests.at(-1)?.timeoutMs, 1000);
});

test('a 401 is the answer when a new token comes too late', async () => {
  const { send, requests } = open([0, 4900], 1);
  const { statusCode, tokenError } = await send();
  assert.equal(statusCode, 401);
  assert.match(tokenError ?? '', /^no new token: the access token came too late/);
  assert.equal(requests.filter(({ url }) => url === TARGET).length, 1);
});
