import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRelay, type Answer, type Relay } from '../relay.ts';

const OLD = 'http://user:planted-password@old.example:8080/in?token=planted-token';
const NEW = 'http://new.example:8080/in';

let relay: Relay;
before(async () => {
  relay = await startRelay();
});
after(async () => {
  await relay.close();
});

type Kind = { path: string; body: (url: string, headers: object | null) => object };

const KINDS: readonly Kind[] = [
  {
    path: '/api/outgoing-webhooks',
    body: (targetUrl, headers) => ({ targetUrl, headers, secret: 'signing' }),
  },
  {
    path: '/api/action-configurations',
    body: (url, headers) => ({ actionType: 'http-forward', options: { url, headers } }),
  },
];

async function made({ path, body }: Kind): Promise<string> {
  const added = await relay.ask('POST', path, body(OLD, { Authorization: 'planted-header' }));
  assert.equal(added.status, 201, added.text);
  return `${path}/${String(added.json['identifier'])}`;
}

function pointersOf({ json }: Answer): string[] {
  return (json['errors'] as { pointer: string; detail: string }[]).map(({ pointer, detail }) => {
    assert.match(detail, /given anew/);
    return pointer.split('/').at(-1) ?? '';
  });
}

test('what was kept for one origin is not sent to another', async () => {
  for (const kind of KINDS) {
    const one = await made(kind);
    for (const url of [NEW, 'https://old.example:8080/in', 'http://old.example:81/in']) {
      const shown = kind.body(url, { Authorization: '***' });
      const alone = urlAlone(kind, url);
      for (const [method, body] of [['PUT', shown], ['PATCH', shown], ['PATCH', alone]] as const) {
        const refused = await relay.ask(method, one, body);
        assert.equal(refused.status, 422, refused.text);
        assert.deepEqual(pointersOf(refused), ['Authorization']);
      }
    }
    const inUrl = 'http://***@new.example:8080/?token=***';
    const masked = await relay.ask('PUT', one, kind.body(inUrl, {}));
    assert.equal(masked.status, 422);
    assert.match(pointersOf(masked).join(), /url/i);
  }
});

test('it is taken when it is given anew or removed, and kept for the same origin', async () => {
  for (const kind of KINDS) {
    for (const headers of [{ Authorization: 'new' }, { Authorization: null }, null]) {
      const moved = await relay.ask('PATCH', await made(kind), kind.body(NEW, headers));
      assert.equal(moved.status, 200, moved.text);
    }
    const one = await made(kind);
    const same = urlAlone(kind, 'http://***@old.example:8080/other?token=***');
    assert.equal((await relay.ask('PATCH', one, same)).status, 200);
    const stored = relay.store.collection(kind.path.slice('/api/'.length))
      .find(one.split('/').at(-1) ?? '')?.bytes.toString() ?? '';
    for (const kept of ['planted-password', 'planted-token', 'planted-header', '/other']) {
      assert.ok(stored.includes(kept), `${kept} in ${stored}`);
    }
    assert.equal(stored.includes('"secret":"signing"'), kind === KINDS[0]);
  }
});

function urlAlone({ body }: Kind, url: string): object {
  const text = JSON.stringify(body(url, null), (name, value: unknown) =>
    name === 'headers' || name === 'secret' ? undefined : value);
  return JSON.parse(text) as object;
}
