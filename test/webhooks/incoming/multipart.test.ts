/** Multipart bodies and JSON within fields, through the public endpoint. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startHttpTarget } from '../../support/http-target.ts';
import { turnsUntil } from '../../support/turns.ts';
import { startPayloadTaker, type PayloadTaker } from './payload-taker.ts';

let taker: PayloadTaker;
before(async () => {
  taker = await startPayloadTaker();
});
after(() => taker.relay.close());

async function encode(form: FormData): Promise<{ readonly type: string; readonly body: Buffer }> {
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? '';
  return { type, body: Buffer.from(await response.arrayBuffer()) };
}

function makeForm(parts: number): FormData {
  const form = new FormData();
  for (let index = 0; index < parts; index += 1) form.append('a', String(index));
  return form;
}

async function post(
  pathSegment: string, { type, body }: { readonly type: string; readonly body: Buffer },
): Promise<{ readonly status: number; readonly text: string }> {
  return taker.relay.ask('POST', `/webhook/in/${pathSegment}`, body, { 'Content-Type': type });
}

for (const bodyFormat of ['multipart', 'auto']) {
  test(`with ${bodyFormat} an action gets fields, files, JSON, also replayed`, async () => {
    const pathSegment = await taker.makeHook({ bodyFormat, jsonFields: ['payload', 'none'] });
    const form = new FormData();
    form.append('payload', '{"event":"media.play","Account":{"id":1}}');
    form.append('none', 'plain');
    form.append('thumb', new Blob([Buffer.from([0xff, 0xd8, 0])], { type: 'image/jpeg' }), 't.jpg');
    const wanted = {
      payload: { event: 'media.play', Account: { id: 1 } }, none: 'plain',
      thumb: { filename: 't.jpg', contentType: 'image/jpeg', base64: '/9gA' },
    };
    assert.equal((await post(pathSegment, await encode(form))).status, 200);
    assert.deepEqual(taker.payloads.at(-1), wanted);
    const request = await taker.readNewest(pathSegment);
    assert.ok(!('unparsed' in request));
    taker.payloads.length = 0;
    const replay = `/api/requests/${String(request['id'])}/replay`;
    assert.equal((await taker.relay.ask('POST', replay, { as: 'new' })).status, 202);
    await turnsUntil(() => taker.payloads.length > 0);
    assert.deepEqual(taker.payloads, [wanted]);
  });
}

test('JSON of a field goes on, however deep it is nested', async (context) => {
  const target = await startHttpTarget();
  context.after(() => target.close());
  const { status: made } = await taker.relay.hook(
    { actionType: 'http-forward', options: { url: target.url } },
    { pathSegment: 'deep', bodyFormat: 'form', jsonFields: ['payload'] });
  assert.equal(made, 201);
  const json = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const { status, text } = await taker.relay.ask('POST', '/webhook/in/deep',
    Buffer.from(`payload=${json}`), { 'Content-Type': 'application/x-www-form-urlencoded' });
  assert.equal(status, 200, text);
  assert.equal(target.received.at(-1)?.body.toString(), `{"payload":${json}}`);
});

test('more than 100 parts are 413, before a signature is asked for', async () => {
  const pathSegment = await taker.makeHook({ bodyFormat: 'auto', secret: 'a-secret-of-a-webhook' });
  assert.equal((await post(pathSegment, await encode(makeForm(101)))).status, 413);
  assert.equal((await post(pathSegment, await encode(makeForm(100)))).status, 401);
});

test('a body that is cut runs the action with [], and is marked', async () => {
  const pathSegment = await taker.makeHook({ bodyFormat: 'multipart' });
  const { type, body } = await encode(makeForm(2));
  const cutBody = body.subarray(0, -5);
  assert.equal((await post(pathSegment, { type, body: cutBody })).status, 200);
  assert.deepEqual(taker.payloads.at(-1), []);
  const { id, unparsed, fittingBodyFormat } = await taker.readNewest(pathSegment);
  assert.deepEqual([unparsed, fittingBodyFormat], [true, 'text']);
  const { json } = await taker.relay.ask('POST', `/api/incoming-webhooks/${pathSegment}/diagnose`,
    { request: id });
  assert.match(JSON.stringify(json['checks']), /no whole multipart form/);
});

test('a multipart body that was to be JSON is marked with the format that would fit', async () => {
  const pathSegment = await taker.makeHook({});
  assert.equal((await post(pathSegment, await encode(makeForm(1)))).status, 200);
  const { unparsed, fittingBodyFormat } = await taker.readNewest(pathSegment);
  assert.deepEqual([unparsed, fittingBodyFormat], [true, 'multipart']);
});

test('routes see the JSON of fields, and a scheme the fields of a multipart body', async () => {
  const secret = 'a-secret-of-a-webhook';
  const scheme = {
    algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}',
    signature: { from: { form: 'signature' }, encoding: 'hex' },
    timestamp: { from: { form: 'timestamp' }, unit: 's' }, event: { form: 'kind' },
  };
  const { json: { identifier } } = await taker.relay.ask('POST', '/api/action-configurations',
    { actionType: 'takes' });
  const pathSegment = await taker.makeHook({
    secret, verification: { preset: 'custom', scheme }, jsonFields: ['payload'],
    actionConfiguration: null, routes: [{
      name: 'play', actionConfiguration: identifier,
      when: { path: 'payload.payload.kind', op: 'eq', value: 'play' },
    }],
  });
  const form = new FormData();
  form.append('timestamp', '1700000000');
  form.append('signature', createHmac('sha256', secret).update('1700000000').digest('hex'));
  form.append('kind', 'mail');
  form.append('payload', '{"kind":"play"}');
  assert.equal((await post(pathSegment, await encode(form))).status, 200);
  const { event, status } = await taker.readNewest(pathSegment);
  assert.deepEqual([event, status], ['mail', 'done']);
  form.set('signature', '00'.repeat(32));
  assert.equal((await post(pathSegment, await encode(form))).status, 401);
});

const REFUSED: readonly (readonly [hook: object, detail: RegExp])[] = [
  [{ jsonFields: ['a'] }, /needs the bodyFormat form, multipart, auto/],
  [{ jsonFields: ['a'], bodyFormat: 'json' }, /needs the bodyFormat/],
  [{ jsonFields: ['a'], bodyFormat: 'text' }, /needs the bodyFormat/],
  [{
    jsonFields: ['a'], secret: 'planted', verification: { preset: 'custom', scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}', payload: 'json',
      signature: { from: { header: 'x-s' }, encoding: 'hex' },
    } },
  }, /needs the bodyFormat/],
  [{ jsonFields: [], bodyFormat: 'form' }, /must name a field/],
  [{ jsonFields: ['a', 'a'], bodyFormat: 'form' }, /./],
  [{ jsonFields: [''], bodyFormat: 'form' }, /must not be empty/],
];
for (const [hook, detail] of REFUSED) {
  test(`${JSON.stringify(hook)} is refused`, async () => {
    const { status, text } = await taker.relay.hook({ actionType: 'takes' },
      { pathSegment: 'refused', ...hook });
    assert.equal(status, 422);
    assert.match(text, /\/jsonFields/);
    assert.match(text, detail);
  });
}
