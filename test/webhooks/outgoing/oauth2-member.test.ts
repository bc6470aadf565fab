/** The member `oauth2` over the API: what is asked for, shown, kept and asked for anew. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRelay, type Answer, type Relay } from '../relay.ts';

const PATH = '/api/outgoing-webhooks';
const SECRET = 'planted client secret';
const OAUTH2 = {
  tokenUrl: 'https://login.example/token?tenant=1&key_token=planted-parameter', clientId: 'id',
  clientSecret: SECRET, scope: 'a b',
};
const SHOWN = {
  tokenUrl: 'https://login.example/token?tenant=1&key_token=***', clientId: 'id', scope: 'a b',
  clientAuthentication: 'basic',
};
const TARGET = 'https://there.example/in';

let relay: Relay;
before(async () => {
  relay = await startRelay();
});
after(async () => {
  await relay.close();
});

async function add(members: object = {}): Promise<string> {
  const { status, json, text } =
    await relay.ask('POST', PATH, { targetUrl: TARGET, oauth2: OAUTH2, ...members });
  assert.equal(status, 201, text);
  assert.ok(!text.includes('planted'), text);
  return `${PATH}/${String(json['identifier'])}`;
}

function storedOauth2(path: string): unknown {
  const id = path.split('/').at(-1) ?? '';
  const bytes = relay.store.collection('outgoing-webhooks').findBytes(id);
  return JSON.parse(String(bytes)).oauth2;
}

function pointersOf({ status, json, text }: Answer): readonly string[] {
  assert.equal(status, 422, text);
  assert.ok(!text.includes('planted'), text);
  return (json['errors'] as readonly { readonly pointer: string }[]).map(({ pointer }) => pointer);
}

test('credentials are shown without the secret, and kept by what is sent back', async () => {
  const path = await add();
  const shown = await relay.ask('GET', path);
  assert.deepEqual(shown.json['oauth2'], SHOWN);
  const list = await relay.ask('GET', PATH);
  assert.ok(!list.text.includes('planted'), list.text);
  const stored = { ...OAUTH2, clientAuthentication: 'basic' };
  for (const [method, body] of [
    ['PUT', shown.json], ['PUT', { targetUrl: TARGET, oauth2: { ...SHOWN, clientSecret: '***' } }],
    ['PATCH', { description: 'x' }], ['PATCH', { oauth2: { scope: 'a b' } }],
    ['PATCH', { targetUrl: 'https://there.example/else' }],
    ['PATCH', { oauth2: { tokenUrl: OAUTH2.tokenUrl } }],
  ] as const) {
    const answered = await relay.ask(method, path, body);
    assert.equal(answered.status, 200, answered.text);
    assert.deepEqual(storedOauth2(path), stored);
  }
});

test('a token URL or target elsewhere asks for the secret anew', async () => {
  const path = await add({ headers: { 'X-Key': 'planted' } });
  const elsewhere = 'https://elsewhere.example/token';
  const moves = [
    ['PATCH', { oauth2: { tokenUrl: elsewhere } }],
    ['PUT', { targetUrl: TARGET, oauth2: { tokenUrl: elsewhere, clientId: 'id' } }],
    ['PATCH', { targetUrl: 'https://elsewhere.example/', headers: null }],
    ['PUT', { targetUrl: 'https://there.example:444/in', oauth2: {
      tokenUrl: SHOWN.tokenUrl.replace('***', 'x'), clientId: 'id',
    } }],
  ] as const;
  for (const [method, body] of moves) {
    const pointers = pointersOf(await relay.ask(method, path, body));
    assert.ok(pointers.includes('/oauth2/clientSecret'), String(pointers));
    assert.ok(pointers.every((pointer) => pointer.startsWith('/oauth2/')), String(pointers));
  }
  assert.deepEqual(pointersOf(await relay.ask('PATCH', path, {
    targetUrl: 'https://elsewhere.example/',
  })), ['/headers/X-Key', '/oauth2/tokenUrl', '/oauth2/clientSecret']);
  const moved = await relay.ask('PATCH', path,
    { oauth2: { tokenUrl: elsewhere, clientSecret: 'another' } });
  assert.equal(moved.status, 200, moved.text);
  // The headers do not go to the token URL.
  const bytes = relay.store.collection('outgoing-webhooks').findBytes(path.split('/').at(-1) ?? '');
  assert.deepEqual(JSON.parse(String(bytes)).headers, { 'X-Key': 'planted' });
});

test('credentials go with null, and with a replacement that has none', async () => {
  for (const [method, body] of [
    ['PATCH', { oauth2: null }], ['PUT', { targetUrl: TARGET }],
  ] as const) {
    const path = await add();
    const { status, json } = await relay.ask(method, path, body);
    assert.deepEqual([status, json['oauth2']], [200, undefined]);
  }
});

const REFUSALS: readonly [string, object, readonly string[]][] = [
  ['no secret', { oauth2: { ...OAUTH2, clientSecret: undefined } }, ['/oauth2/clientSecret']],
  ['null for the secret', { oauth2: { ...OAUTH2, clientSecret: null } }, ['/oauth2/clientSecret']],
  ['the ellipsis of an example for the secret', { oauth2: { ...OAUTH2, clientSecret: '…' } },
    ['/oauth2/clientSecret']],
  ['a secret that is a mask', { oauth2: { ...OAUTH2, clientSecret: '***' } },
    ['/oauth2/clientSecret']],
  ['a token URL of another kind', { oauth2: { ...OAUTH2, tokenUrl: 'ftp://x/' } },
    ['/oauth2/tokenUrl']],
  ['a token URL with a password', { oauth2: { ...OAUTH2, tokenUrl: 'https://u:planted@x/' } },
    ['/oauth2/tokenUrl']],
  ['an unknown way', { oauth2: { ...OAUTH2, clientAuthentication: 'jwt' } },
    ['/oauth2/clientAuthentication']],
  ['a header of its own', { headers: { authorization: 'Basic planted' } }, ['/oauth2']],
  ['a password in the target', { targetUrl: 'https://u:planted@there.example/' }, ['/oauth2']],
  ['a line break in an id', { oauth2: { ...OAUTH2, clientId: 'a\nb' } }, ['/oauth2/clientId']],
];
for (const [title, members, pointers] of REFUSALS) {
  test(`${title} is refused`, async () => {
    const answered =
      await relay.ask('POST', PATH, { targetUrl: TARGET, oauth2: OAUTH2, ...members });
    assert.deepEqual(pointersOf(answered), pointers);
  });
}
