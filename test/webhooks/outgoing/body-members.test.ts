/** The type and the format of bodies: what is refused when saved, and what is sent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer, answer, type ScriptedServer } from '../../support/servers.ts';
import { assertRefused, startRelay, type Answer, type Relay } from '../relay.ts';

const PATH = '/api/outgoing-webhooks';
const XML = '<order id="{{ id }}"><note>{{ payload.note }}</note></order>';

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay();
});
after(async () => {
  await relay.close();
  await target.close();
});

const create = (members: object): Promise<Answer> =>
  relay.ask('POST', PATH, { targetUrl: target.url('/hook'), ...members });

async function send(members: object, payload: unknown): Promise<{ head: string; body: string }> {
  const created = await create(members);
  assert.equal(created.status, 201, created.text);
  const sent = await relay.ask('POST', `${PATH}/${String(created.json['identifier'])}/send`,
    { payload });
  assert.equal(sent.json['success'], true, sent.text);
  const { head = '', body = Buffer.alloc(0) } = target.received.at(-1) ?? {};
  return { head, body: body.toString('utf8') };
}

const REFUSED: readonly [string, object, string, RegExp][] = [
  ['a type without a template', { contentType: 'text/xml' }, '/contentType', /payloadTemplate/],
  ['what is no type', { contentType: 'xml', payloadTemplate: 'a' }, '/contentType', /media type/],
  ['a line break in a type', { contentType: 'text/xml\r\nX-A: b', payloadTemplate: 'a' },
    '/contentType', /media type/],
  ['another charset', { contentType: 'text/xml; charset=latin1', payloadTemplate: 'a' },
    '/contentType', /charset utf-8/],
  ['an empty text', { contentType: 'text/plain', payloadTemplate: '' },
    '/payloadTemplate', /is empty/],
  ['an open placeholder', { contentType: 'text/xml', payloadTemplate: '<a>\n{{ b' },
    '/payloadTemplate', /not closed.*line 2, column 1/],
  ['a text for JSON', { contentType: 'application/vnd.api+json', payloadTemplate: XML },
    '/payloadTemplate', /^not valid JSON at line 1, column 1/],
  ['a text without a type', { payloadTemplate: XML }, '/payloadTemplate', /needs a contentType/],
  ['a header beside the type', {
    contentType: 'text/plain', payloadTemplate: 'a', headers: { 'content-Type': 'text/xml' },
  }, '/headers/content-Type', /give one of the two/],
  ['an unknown format', { format: 'cloudevent' }, '/format', /standard, envelope, cloudevents/],
  ['an envelope of a text', { format: 'envelope', contentType: 'text/plain', payloadTemplate: 'a' },
    '/format', /is JSON: leave out the contentType/],
  ['a header of the format', { format: 'cloudevents', headers: { 'CE-Id': '1' } },
    '/headers/CE-Id', /format cloudevents/],
];

for (const [name, members, pointer, detail] of REFUSED) {
  test(`${name} is refused at ${pointer}`, async () => {
    assertRefused(await create(members), pointer, detail);
  });
}

test('a text of XML is sent under its type, in UTF-8, with its values escaped', async () => {
  const { head, body } = await send({ contentType: 'text/xml', payloadTemplate: XML },
    { id: '"1"', note: '</note><é>\u0000' });
  assert.match(head, /^content-type: text\/xml\r?$/im);
  assert.equal(body, '<order id="&quot;1&quot;"><note>&lt;/note&gt;&lt;é&gt;\ufffd</note></order>');
});

test('a form is sent with its values encoded', async () => {
  const { head, body } = await send({
    contentType: 'application/x-www-form-urlencoded', payloadTemplate: 'text={{ a }}&all={{ b }}',
  }, { a: 'x&y=z é', b: [1] });
  assert.match(head, /^content-type: application\/x-www-form-urlencoded\r?$/im);
  assert.deepEqual([...new URLSearchParams(body)], [['text', 'x&y=z é'], ['all', '[1]']]);
});

test('a JSON type needs no template, and has one of JSON', async () => {
  const type = 'application/vnd.api+json';
  const plain = await send({ contentType: type }, { a: 1 });
  assert.match(plain.head, /^content-type: application\/vnd\.api\+json\r?$/im);
  assert.equal(plain.body, '{"a":1}');
  const shaped = await send({ contentType: type, payloadTemplate: '{"b": "{{ a }}"}' }, { a: 1 });
  assert.equal(shaped.body, '{"b": 1}');
});

test('a signature is that of the text', async () => {
  const { head, body } = await send(
    { contentType: 'text/plain', payloadTemplate: 'pong {{ n }}', secret: 'a' }, { n: 'é' });
  assert.equal(body, 'pong é');
  const { createHmac } = await import('node:crypto');
  const mac = createHmac('sha256', 'a').update(body).digest('hex');
  assert.match(head, new RegExp(`^x-signature: sha256=${mac}\r?$`, 'im'));
});

test('the type goes with its template only where the template fits another', async () => {
  const created = await create({ contentType: 'text/xml', payloadTemplate: XML });
  const path = `${PATH}/${String(created.json['identifier'])}`;
  const patch = (body: object): Promise<Answer> =>
    relay.ask('PATCH', path, body, { 'Content-Type': 'application/merge-patch+json' });
  assert.equal((await patch({ contentType: null })).status, 422);
  assert.equal((await patch({ payloadTemplate: null })).status, 422);
  assert.equal((await patch({ contentType: null, payloadTemplate: null })).status, 200);
});
