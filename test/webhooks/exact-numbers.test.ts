/** Numbers keep their digits on their way from a sender to what is answered, sent and found. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, startServer, type ScriptedServer } from '../support/servers.ts';
import { turnsUntil } from '../support/turns.ts';
import { createActionClass } from './context.ts';
import { startRelay, startRelayFor, type Answer, type Relay } from './relay.ts';

const ID = '820982911946154508';
/** The double of both is the one of ID. */
const ROUNDED = '820982911946154500';
const OTHER = '820982911946154545';
const PAYLOAD = `{"id":${ID},"price":10.00,"huge":1e400,"list":[1,${ID}],"zero":-0,"size":5}`;

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay();
  relay.webhooks.start();
});
after(async () => {
  await relay.close();
  await target.close();
});

/** Makes what `json` is, which is text, as an object of ours would lose the digits. */
async function create(path: string, json: string): Promise<Answer> {
  const made = await relay.ask('POST', path, json);
  assert.equal(made.status, 201, made.text);
  return made;
}

let hookCount = 0;

/** A webhook; resolves with the path segment of it and its configuration. */
async function addHook(members: string): Promise<string> {
  hookCount += 1;
  const name = `hook-${hookCount}`;
  await create('/api/action-configurations', `{"identifier":"${name}","actionType":"log"}`);
  await create('/api/incoming-webhooks',
    `{"pathSegment":"${name}",${members.replaceAll('<it>', `"actionConfiguration":"${name}"`)}}`);
  return name;
}

async function addTarget(path: string, members: string): Promise<string> {
  const { json } = await create('/api/outgoing-webhooks',
    `{"targetUrl":"${target.url(path)}","triggerEvent":"${path.slice(1)}",${members}}`);
  return String(json['identifier']);
}

async function bodyAt(path: string): Promise<string> {
  const find = (): (typeof target.received)[number] | undefined =>
    target.received.find(({ head }) => head.includes(` ${path} `));
  await turnsUntil(() => find() !== undefined);
  return String(find()?.body);
}

test('a template sends them, in JSON and in other types', async () => {
  const values = '{{ id }} {{ price }} {{ huge }} {{ list }} {{ zero }}';
  await addTarget('/json',
    `"payloadTemplate":"{\\"id\\":\\"{{ id }}\\",\\"all\\":\\"{{ list }}\\"}"`);
  await addTarget('/xml', `"contentType":"application/xml","payloadTemplate":"<a>${values}</a>"`);
  for (const name of ['json', 'xml']) {
    const emitted = `{"name":"${name}","payload":${PAYLOAD.replace('"huge":1e400,', '')}}`;
    assert.equal((await relay.ask('POST', '/api/events', emitted)).status, 202);
  }
  assert.equal(await bodyAt('/json'), `{"id":${ID},"all":[1,${ID}]}`);
  assert.equal(await bodyAt('/xml'), `<a>${ID} 10.00  [1,${ID}] -0</a>`);
});

test('an answer shows them', async () => {
  for (const [contentType, body, expected] of [
    ['application/json', '{\\"id\\":\\"{{ payload.id }}\\"}', `{"id":${ID}}`],
    ['application/xml', '<a>{{ payload.price }} {{ payload.huge }} {{ payload.id }}</a>',
      `<a>10.00 1e400 ${ID}</a>`],
  ]) {
    const name = await addHook(
      `<it>,"response":{"accepted":{"status":200,"headers":{"Content-Type":"${contentType}"},`
      + `"body":"${body}"}}`);
    assert.equal((await relay.ask('POST', `/webhook/in/${name}`, PAYLOAD)).text, expected);
  }
});

test('the line of the action log has them', async () => {
  const name = await addHook('<it>');
  const from = relay.logLines.length;
  await relay.ask('POST', `/webhook/in/${name}`, PAYLOAD);
  assert.ok(relay.logLines.slice(from).some((line) => line.includes(`"id":${ID}`)
    && line.includes('"price":10.00') && line.includes('"huge":1e400')), relay.logLines.at(-1));
});

type Case = readonly [op: string, value: string, path: string, holds: boolean];

const CONDITIONS: readonly Case[] = [
  ['eq', ID, 'id', true], ['eq', ROUNDED, 'id', false], ['eq', OTHER, 'id', false],
  ['eq', `${ID}.0`, 'id', true], ['eq', '10', 'price', true], ['eq', '0', 'zero', true],
  ['gt', ID, 'huge', true], ['eq', '5.0', 'size', true], ['eq', `"${ID}"`, 'id', false],
  ['ne', ID, 'id', false], ['ne', OTHER, 'id', true],
  ['in', `[${OTHER},${ID}]`, 'id', true], ['in', `[${OTHER},${ROUNDED}]`, 'id', false],
  ['in', '[10,"x"]', 'price', true],
  ['contains', ID, 'list', true], ['contains', OTHER, 'list', false],
  ['contains', '1.0', 'list', true],
  ['lt', OTHER, 'id', true], ['gt', ROUNDED, 'id', true], ['gt', ID, 'id', false],
  ['gte', ID, 'id', true], ['lte', ID, 'id', true], ['gt', '9', 'price', true],
  ['gt', '1.5e300', 'huge', true], ['lt', '5.5', 'size', true],
];

/** At most 20 routes stand in a webhook. */
const HALF = 13;

test('conditions are kept, and hold, by all digits', async () => {
  for (const conditions of [CONDITIONS.slice(0, HALF), CONDITIONS.slice(HALF)]) {
    const whens = conditions.map(([op, value, path]) =>
      `{"path":"payload.${path}","op":"${op}","value":${value}}`);
    const routes = whens.map((when, index) => `{"name":"r${index}","when":${when},<it>}`);
    const name = await addHook(`"routes":[${routes.join()}]`);
    const { text } = await relay.ask('GET', '/api/incoming-webhooks');
    for (const when of whens) assert.ok(text.includes(when), when);
    const { json } = await relay.ask('POST', `/webhook/in/${name}`, PAYLOAD);
    const { routes: run } = json['data'] as { readonly routes: object };
    for (const [index, [op, value, path, holds]] of conditions.entries()) {
      assert.equal(Object.hasOwn(run, `r${index}`), holds, `${path} ${op} ${value}`);
    }
  }
});

test('what a condition looks for, and what came, are shown', async () => {
  const name = await addHook(`"routes":[{"name":"a",<it>,`
    + `"when":{"path":"payload.id","op":"eq","value":${OTHER}}}]`);
  const hooks = await relay.ask('GET', '/api/incoming-webhooks');
  const [, id = ''] = new RegExp(`"identifier":"([^"]+)"[^{}]*"pathSegment":"${name}"`)
    .exec(hooks.text) ?? [];
  const { text } = await relay.ask('POST', `/api/incoming-webhooks/${id}/match`,
    `{"payload":${PAYLOAD.replace('"huge":1e400,', '')}}`);
  assert.match(text, new RegExp(`${ID}, wanted: eq ${OTHER}`));
});

test('an outgoing webhook hears, and a search finds, what has all digits', async () => {
  await addTarget('/heard', `"when":{"path":"payload.id","op":"eq","value":${ID}}`);
  for (const id of [OTHER, ROUNDED, ID]) {
    const emitted = await relay.ask('POST', '/api/events',
      `{"name":"heard","payload":{"id":${id},"price":10.00}}`);
    assert.equal(emitted.status, 202, emitted.text);
  }
  assert.equal(await bodyAt('/heard'), `{"id":${ID},"price":10.00}`);
  for (const [query, count] of [
    [`payload.id=${ID}`, 1], [`payload.id=${OTHER}`, 0], [`payload.id>${ID}`, 0],
    [`payload.id>=${ID}`, 1], [`payload.id<${OTHER}`, 1], ['payload.price=10', 1],
    [`{"path":"payload.id","op":"in","value":[1,${ID}]}`, 1],
  ] as const) {
    const { text } = await relay.ask('GET',
      `/api/deliveries?event=heard&where=${encodeURIComponent(query)}`);
    assert.equal((JSON.parse(text) as unknown[]).length, count, `${query}: ${text}`);
  }
});

test('the action emit-event passes them on', async () => {
  await create('/api/action-configurations',
    '{"identifier":"emit","actionType":"emit-event","options":{"name":"emitted"}}');
  await create('/api/incoming-webhooks', '{"pathSegment":"emit","actionConfiguration":"emit"}');
  await addTarget('/emitted', '"enabled":true');
  await relay.ask('POST', '/webhook/in/emit', PAYLOAD);
  assert.equal(await bodyAt('/emitted'), PAYLOAD);
});

const Own = createActionClass('own', (
  payload: { id: unknown }, { body }: { body: Buffer }, options: { n: unknown },
) => ({ success: true, data: [payload.id, options.n, body.toString()].map(String) }));

test('an action of one\'s own gets doubles, and the text that came', async (context) => {
  const own = await startRelayFor(context, { actions: [Own] });
  for (const [path, body] of [
    ['action-configurations', `{"identifier":"own","actionType":"own","options":{"n":${ID}}}`],
    ['incoming-webhooks', '{"pathSegment":"own","actionConfiguration":"own"}'],
  ]) {
    assert.equal((await own.ask('POST', `/api/${path}`, body)).status, 201);
  }
  const { text } = await own.ask('GET', '/api/action-configurations');
  assert.ok(text.includes(`"options":{"n":${ID}}`), text);
  const { json } = await own.ask('POST', '/webhook/in/own', `{"id":${ID}}`);
  assert.deepEqual(json['data'], [ROUNDED, ROUNDED, `{"id":${ID}}`]);
});

test('an event whose number is too large for a double is refused', async () => {
  const { status } = await relay.ask('POST', '/api/events', '{"name":"a","payload":[1e400]}');
  assert.equal(status, 422);
});
