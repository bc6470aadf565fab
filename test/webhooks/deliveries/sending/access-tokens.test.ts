/** How long a token is used, with a scripted server and a clock that is set by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import { NetworkError, deniedError } from '../../../../src/client/network-error.ts';
import type { TargetResponse } from '../../../../src/webhooks/members/http-sender.ts';
import type { Oauth2 } from '../../../../src/webhooks/outgoing/oauth2-member.ts';
import { AccessTokens } from '../../../../src/webhooks/deliveries/sending/access-tokens.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const OAUTH2: Oauth2 = {
  tokenUrl: 'https://there/token', clientId: 'id', clientSecret: 'secret',
  clientAuthentication: 'basic',
};

type Place = {
  readonly tokens: AccessTokens; readonly clock: ManualClock;
  readonly requests: readonly HttpRequest[];
};

/** `answer` gives the response to request `n`, from 1. */
function open(answer: (count: number) => TargetResponse | NetworkError): Place {
  const requests: HttpRequest[] = [];
  const clock = new ManualClock();
  const http = {
    async request(request: HttpRequest): Promise<TargetResponse> {
      requests.push(request);
      const result = answer(requests.length);
      if (result instanceof NetworkError) throw result;
      return result;
    },
  };
  return { tokens: new AccessTokens(http, clock), clock, requests };
}

function giveToken(members: object): (count: number) => TargetResponse {
  return (count) => ({
    statusCode: 200, headers: {},
    body: Buffer.from(JSON.stringify({ access_token: `token-${count}`, ...members })),
  });
}

const HOUR_MS = 3_600_000;
const LIVES: readonly [title: string, members: object, usedMs: number][] = [
  ['until 60 s before its end', { expires_in: 3600 }, 3_540_000],
  ['until 60 s before its end, which may be text', { expires_in: '3600' }, 3_540_000],
  ['for half of a life of less than 120 s', { expires_in: 100 }, 50_000],
  ['for half of a short life', { expires_in: 10 }, 5000],
  ['never a second time when it has no life', { expires_in: 0 }, 0],
  ['never a second time when its life is over', { expires_in: -5 }, 0],
];
for (const [title, members, usedMs] of LIVES) {
  test(`a token is used ${title}`, async () => {
    const { tokens, clock } = open(giveToken(members));
    assert.equal(await tokens.get(OAUTH2, undefined), 'token-1');
    if (usedMs > 0) {
      await clock.advance(usedMs - 1);
      assert.equal(await tokens.get(OAUTH2, undefined), 'token-1');
      await clock.advance(1);
    }
    assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
  });
}

for (const members of [{}, { expires_in: null }, { expires_in: 'soon' }, { expires_in: '' }]) {
  test(`a token of the life ${JSON.stringify(members)} is used until it is refused`, async () => {
    const { tokens, clock } = open(giveToken(members));
    await tokens.get(OAUTH2, undefined);
    await clock.advance(1000 * HOUR_MS);
    assert.equal(await tokens.get(OAUTH2, undefined), 'token-1');
    tokens.drop(OAUTH2, 'token-1');
    assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
  });
}

test('the refusal of an older token leaves the newer one', async () => {
  const { tokens } = open(giveToken({ expires_in: 3600 }));
  await tokens.get(OAUTH2, undefined);
  tokens.drop(OAUTH2, 'token-1');
  await tokens.get(OAUTH2, undefined);
  tokens.drop(OAUTH2, 'token-1');
  assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
});

const REFUSALS: readonly [title: string, response: TargetResponse, waitMs: number][] = [
  ['for as long as it says', {
    statusCode: 429, headers: { 'retry-after': '120' }, body: Buffer.from(''),
  }, 120_000],
  ['for 2 s when it says nothing', { statusCode: 401, headers: {}, body: Buffer.from('') }, 2000],
  ['for 2 s when it says less', {
    statusCode: 503, headers: { 'retry-after': '0' }, body: Buffer.from(''),
  }, 2000],
  ['for an hour when it says more', {
    statusCode: 503, headers: { 'retry-after': '86400' }, body: Buffer.from(''),
  }, HOUR_MS],
  ['for 2 s when its answer has no token', {
    statusCode: 200, headers: {}, body: Buffer.from('<p>'),
  }, 2000],
];
for (const [title, response, waitMs] of REFUSALS) {
  test(`a server that gives no token is not asked again ${title}`, async () => {
    const { tokens, clock, requests } = open((count) =>
      count === 1 ? response : giveToken({})(count));
    await assert.rejects(tokens.get(OAUTH2, undefined), AppError);
    await clock.advance(waitMs - 1000);
    await assert.rejects(tokens.get(OAUTH2, undefined), (thrown) =>
      thrown instanceof AppError && thrown.details.retryAfterS === 1);
    assert.equal(requests.length, 1);
    await clock.advance(1000);
    assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
  });
}

test('a server that could not be reached is asked again at once', async () => {
  const { tokens } = open((count) => count === 1 ? new NetworkError('network', 'ECONNRESET', 'cut')
    : giveToken({})(count));
  await assert.rejects(tokens.get(OAUTH2, undefined), AppError);
  assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
});

test('all who wait share a failure', async () => {
  const refusal = { statusCode: 503, headers: { 'retry-after': '7' }, body: Buffer.from('') };
  const { tokens, clock, requests } = open((count) => count === 1 ? refusal : giveToken({})(count));
  const results = await Promise.allSettled([1, 2, 3].map(() => tokens.get(OAUTH2, undefined)));
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof AppError);
    assert.equal(result.reason.details.retryAfterS, 7);
  }
  await clock.advance(7000);
  assert.equal(await tokens.get(OAUTH2, undefined), 'token-2');
  assert.equal(requests.length, 2);
});

test('webhooks with the same credentials have tokens of their own', async () => {
  const { tokens } = open(giveToken({}));
  assert.equal(await tokens.get(OAUTH2, undefined), 'token-1');
  assert.equal(await tokens.get({ ...OAUTH2 }, undefined), 'token-2');
});

test('a request for a token has a limit, is not repeated, ends at a denied address', async () => {
  const { tokens, requests } = open(deniedError);
  await assert.rejects(tokens.get(OAUTH2, 300_000),
    /^AppError: the token URL leads to an address on the list http.denyAddresses$/);
  await assert.rejects(tokens.get(OAUTH2, 1500), AppError);
  assert.deepEqual(requests.map(({ timeoutMs, retries }) => [timeoutMs, retries]),
    [[30_000, 0], [1500, 0]]);
});

test('a proxy that fails is no failure of the token server', async () => {
  const { tokens } = open(() =>
    new NetworkError('proxy', 'EPROXY', 'the proxy failed', { isProxyFailure: true }));
  await assert.rejects(tokens.get(OAUTH2, undefined), NetworkError);
});
