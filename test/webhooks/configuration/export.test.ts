import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelayFor, type Relay } from '../relay.ts';

const PATH = '/api/configuration';

/** What a sender gets is no secret, whatever its names. */
const RESPONSE = { accepted: { status: 202, headers: { 'X-Token': 'shown' }, body: 'shown' } };

/** Members that hide a value in every way that lists do, and names of every form. */
const RECORDS = {
  '/api/action-configurations': [
    { identifier: '4ward', actionType: 'http-forward', description: 'on to the shop',
      options: {
        url: 'https://user:pass@shop.example/in?token=abc&x=1', method: 'PUT',
        headers: { 'X-Api-Key': 'key-1', Accept: 'text/plain' },
      } },
    { identifier: 'log', actionType: 'log' },
  ],
  '/api/incoming-webhooks': [
    { pathSegment: 'gh', name: 'github', verification: { preset: 'github' }, secret: 'hush-1',
      inbox: 'all', answer: 'accepted', deduplicateHours: 5, response: RESPONSE,
      routes: [
        { name: 'b', actionConfiguration: 'log', order: { key: 'payload.id' } },
        { name: 'a', actionConfiguration: '4ward',
          when: { any: [{ path: 'payload.ref', op: 'eq', value: 'refs/heads/main' },
            { not: { path: 'headers.x-a', op: 'exists' } }] } },
      ] },
    { pathSegment: 'hookshelf', actionConfiguration: 'log', secret: 'hush-2', enabled: false,
      allowedAddresses: ['10.0.0.0/8'], staticHeaders: { A: 'still' }, rateLimit: 0.5,
      maxConcurrent: 2, actionTimeout: 9, maxInFlight: 1 },
    { pathSegment: 'meta', actionConfiguration: 'log', secret: 'hush-3',
      verification: { preset: 'meta', verifyToken: 'verify-me' } },
    { pathSegment: '.x~', actionConfiguration: 'log', secret: 'hush-4',
      verification: { preset: 'custom', scheme: {
        algorithm: 'token', key: 'utf8', content: '',
        signature: { from: { header: 'X-Token' }, encoding: 'utf8' },
      } } },
  ],
  '/api/outgoing-webhooks': [
    { name: 'gh', targetUrl: 'https://a.example/', secret: 'hush-5', triggerEvent: 'book.created',
      headers: { b: 'header-b', Authorization: 'Bearer header-a' }, retrySchedule: [1, 2] },
    { name: 'plain', targetUrl: 'https://plain.example/', triggerEvents: ['b.*', 'a.*'],
      retryOn: ['5xx', 429], successWhen: { path: 'status', op: 'eq', value: 200 },
      rate: { limit: 100, seconds: 60 }, disableAfterHours: 72, probe: true },
    { name: 'xml', targetUrl: 'https://plain.example/', contentType: 'text/xml',
      payloadTemplate: '<a>{{ b }}</a>', format: 'cloudevents' },
  ],
};
const SECRETS = /hush|pass@|abc|key-1|text\/plain|still|verify-me|header-[ab]/;

async function makeRecords(relay: Relay): Promise<void> {
  for (const [path, records] of Object.entries(RECORDS)) {
    for (const record of records) {
      const { status, text } = await relay.ask('POST', path, record);
      assert.equal(status, 201, text);
    }
  }
}

async function exportText(relay: Relay, query = ''): Promise<string> {
  const { status, text } = await relay.ask('GET', PATH + query);
  assert.equal(status, 200, text);
  return text;
}

/** The document with a value in place of each variable. */
function resolve(text: string): object {
  const resolved: unknown = JSON.parse(text, (_, value: unknown) => {
    const name = (value as { readonly $env?: string } | null)?.$env;
    if (name === undefined) return value;
    return name.includes('URL') ? `https://${name.toLowerCase()}:x@x.example/` : `value of ${name}`;
  });
  return resolved as object;
}

function listVariables(text: string): readonly string[] {
  return [...text.matchAll(/"\$env": "([^"]+)"/g)].map(([, name = '']) => name);
}

test('an export shows no secret, and each has a variable of its own', async (context) => {
  const relay = await startRelayFor(context);
  await makeRecords(relay);
  const text = await exportText(relay);
  assert.doesNotMatch(text, SECRETS);
  const variables = listVariables(text);
  const repeatedNames = variables.map((name) => name.replace(/_[0-9A-F]{6}$/, '_…'));
  assert.deepEqual(repeatedNames.toSorted(), [
    'GH_AUTHORIZATION', 'GH_B', 'GH_SECRET_…', 'GH_SECRET_…', 'HOOK_4WARD_HEADERS_ACCEPT',
    'HOOK_4WARD_HEADERS_X_API_KEY', 'HOOK_4WARD_URL', 'HOOK_HOOKSHELF_A', 'HOOK_HOOKSHELF_SECRET',
    'META_SECRET', 'META_VERIFY_TOKEN', 'X_SECRET',
  ]);
  assert.equal(new Set(variables).size, variables.length);
});

test('records stand in order of their names, with no member at its default and none of ours',
  async (context) => {
    const relay = await startRelayFor(context);
    await makeRecords(relay);
    const document = JSON.parse(await exportText(relay));
    assert.deepEqual(Object.keys(document),
      ['actionConfigurations', 'incomingWebhooks', 'outgoingWebhooks']);
    const paths = document.incomingWebhooks.map(
      ({ pathSegment }: { pathSegment: string }) => pathSegment);
    assert.deepEqual(paths, ['.x~', 'gh', 'hookshelf', 'meta']);
    assert.deepEqual(document.actionConfigurations[1], { identifier: 'log', actionType: 'log' });
    assert.deepEqual(document.outgoingWebhooks[1], {
      name: 'plain', targetUrl: 'https://plain.example/', triggerEvents: ['b.*', 'a.*'],
      retryOn: ['5xx', 429], successWhen: { path: 'status', op: 'eq', value: 200 },
      rate: { limit: 100, seconds: 60 }, disableAfterHours: 72, probe: true,
    });
    assert.deepEqual(document.incomingWebhooks[2], {
      pathSegment: 'hookshelf', enabled: false, secret: { $env: 'HOOK_HOOKSHELF_SECRET' },
      allowedAddresses: ['10.0.0.0/8'], staticHeaders: { A: { $env: 'HOOK_HOOKSHELF_A' } },
      actionConfiguration: 'log', rateLimit: 0.5, maxConcurrent: 2, actionTimeout: 9,
      maxInFlight: 1,
    });
  });

test('export, apply elsewhere, export: the same bytes, and an apply of it changes nothing',
  async (context) => {
    const relay = await startRelayFor(context);
    const elsewhere = await startRelayFor(context);
    await makeRecords(relay);
    const text = await exportText(relay);
    assert.equal(await exportText(relay), text);
    const { status, text: answer } = await elsewhere.ask('PUT', PATH, resolve(text));
    assert.equal(status, 200, answer);
    assert.equal(await exportText(elsewhere), text);
    const again = await elsewhere.ask('PUT', PATH, resolve(text));
    assert.deepEqual(again.json, { changes: [], unchanged: 9 });
    const back = await relay.ask('PUT', PATH, { ...resolve(text), dryRun: true });
    const changes = back.json['changes'] as readonly { readonly sign: string }[];
    // The secrets alone differ here.
    assert.deepEqual([...new Set(changes.map(({ sign }) => sign))], ['~']);
    assert.equal(back.json['unchanged'], 3);
  });

test('a record that comes or goes gives the variable of another to none', async (context) => {
  const relay = await startRelayFor(context);
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const list = async (): Promise<readonly string[]> => listVariables(await exportText(relay));
  const make = (name: string): Promise<unknown> => relay.ask('POST', '/api/outgoing-webhooks',
    { name, targetUrl: 'https://a.example/', secret });
  for (const name of ['acme.news', 'acme']) await make(name);
  assert.deepEqual(await list(), ['ACME_SECRET', 'ACME__NEWS_SECRET']);
  await make('acme-news');
  assert.deepEqual(await list(), ['ACME_SECRET', 'ACME_NEWS_SECRET', 'ACME__NEWS_SECRET']);
  await make('acme_news');
  const both = await list();
  assert.match(both.join(' '),
    /^ACME_SECRET (ACME_NEWS_SECRET_[0-9A-F]{6}) ACME__NEWS_SECRET (?!\1)ACME_NEWS_SECRET_\w{6}$/);
  await make('aaa');
  assert.deepEqual(await list(), ['AAA_SECRET', ...both]);
  await relay.ask('DELETE', '/api/outgoing-webhooks/acme-news');
  assert.deepEqual(await list(),
    ['AAA_SECRET', 'ACME_SECRET', 'ACME__NEWS_SECRET', 'ACME_NEWS_SECRET']);
});

test('an export of an empty service is a document too', async (context) => {
  const relay = await startRelayFor(context);
  assert.deepEqual(JSON.parse(await exportText(relay)),
    { actionConfigurations: [], incomingWebhooks: [], outgoingWebhooks: [] });
  assert.ok((await exportText(relay)).endsWith('}\n'));
});

test('outgoing webhooks without a name are left out, and onlyApplied leaves out what people made',
  async (context) => {
    const relay = await startRelayFor(context);
    await makeRecords(relay);
    await relay.ask('POST', '/api/outgoing-webhooks', { targetUrl: 'https://nameless.example/' });
    assert.doesNotMatch(await exportText(relay), /nameless/);
    const made = { name: 'made', targetUrl: 'https://made.example/' };
    // `plain` is adopted, as it is there.
    const [, plain] = RECORDS['/api/outgoing-webhooks'];
    await relay.ask('PUT', PATH, { outgoingWebhooks: [made, plain], set: 'any' });
    assert.deepEqual(JSON.parse(await exportText(relay, '?onlyApplied=true')),
      { actionConfigurations: [], incomingWebhooks: [], outgoingWebhooks: [made] });
    assert.match(await exportText(relay, '?onlyApplied=false'), /"gh"/);
    assert.equal((await relay.ask('GET', `${PATH}?onlyApplied=1`)).status, 400);
    assert.equal((await relay.ask('GET', `${PATH}?all=true`)).status, 400);
  });

test('a reader who has the version gets 304, until any record changes', async (context) => {
  const relay = await startRelayFor(context);
  await makeRecords(relay);
  const { headers: { etag = '' } } = await relay.ask('GET', PATH);
  const ask = async (): Promise<number> =>
    (await relay.ask('GET', PATH, undefined, { 'If-None-Match': etag })).status;
  assert.equal(await ask(), 304);
  await relay.ask('PATCH', '/api/incoming-webhooks/gh', { secret: 'hush-9' });
  assert.equal(await ask(), 200);
});
