/** Without an action or template what goes out is what was given, byte for byte. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, startServer, type ScriptedServer } from '../../support/servers.ts';
import { startRelay, type Answer, type Relay } from '../relay.ts';
import { Simulation } from './sending/simulation.ts';

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay();
  relay.webhooks.start();
  await relay.hook({ actionType: 'emit-event', options: { name: 'heard' } });
});
after(async () => {
  await relay.close();
  await target.close();
});

const PAYLOADS = [
  '12345678901234567890', '1.0', '1e2', '-0', 'null', '"\\u0041\\/é"', 'true', '[ ]',
  '{"n":9007199254740993,"x":1.10,"twice":1,"twice":2,"10":1,"9":2}',
  '{ "a" : [ 1.0 ,\t2E+1 ] }', '{\n  "a": 1,\r\n  "b": "\\n"\n}', '{"payload":{"payload":1.0}}',
  `{"marks":"],\\"payload\\":1","__proto__":{"x":1.0},"deep":${'['.repeat(60)}${']'.repeat(60)}}`,
];

async function addHook(members: object): Promise<string> {
  const { status, json, text } = await relay.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: target.url(), ...members,
  });
  assert.equal(status, 201, text);
  return `/api/outgoing-webhooks/${String(json['identifier'])}`;
}

async function sentBy(asked: Promise<Answer>): Promise<string | undefined> {
  const count = target.received.length;
  const { status, text } = await asked;
  assert.ok(status < 300, text);
  for (let turn = 0; turn < 10_000 && target.received.length === count; turn += 1) {
    await new Promise(setImmediate);
  }
  return target.received.at(-1)?.body.toString();
}

test('the payload of an event and of a one-off send keeps its bytes', async () => {
  const hook = await addHook({ triggerEvent: 'raw' });
  const bodies = (payload: string): string[] => [
    `{"name":"raw","payload":${payload}}`, ` {"payload" :  ${payload} , "name":"raw"}\n`,
    `\ufeff{"payload":0,"p\\u0061yload":${payload},"name":"raw"}`,
  ];
  for (const payload of PAYLOADS) {
    for (const body of bodies(payload)) {
      assert.equal(await sentBy(relay.ask('POST', '/api/events', body)), payload);
    }
    const sent = relay.ask('POST', `${hook}/send`, `{"payload":${payload}}`);
    assert.equal(await sentBy(sent), payload);
  }
  assert.equal(await sentBy(relay.ask('POST', '/api/events', '{"name":"raw"}')), '{}');
  assert.equal(await sentBy(relay.ask('POST', `${hook}/send`, '{}')), '{}');
  assert.equal(await sentBy(relay.ask('POST', `${hook}/send`)), '{}');
  await relay.ask('DELETE', hook);
});

test('emit-event passes on the received bytes of an object or array, else []', async () => {
  const hook = await addHook({ triggerEvent: 'heard' });
  for (const payload of PAYLOADS) {
    const isPassed = /^[[{]/.test(payload);
    for (const body of [payload, `${payload}\n`]) {
      const sent = await sentBy(relay.ask('POST', '/webhook/in/hook', body));
      assert.equal(sent, isPassed ? body : '[]');
    }
  }
  assert.equal(await sentBy(relay.ask('POST', '/webhook/in/hook', '\ufeff{"a":1.0}')), '{"a":1.0}');
  await relay.ask('DELETE', hook);
});

test('a forwarding action sends the bytes of the event, and a template fills them', async () => {
  const made = await relay.ask('POST', '/api/action-configurations', {
    actionType: 'http-forward', options: { url: target.url('/forwarded') },
  });
  const acted = await addHook({
    triggerEvent: 'acted', actionConfiguration: made.json['identifier'],
  });
  await relay.ask('POST', '/api/events', '{"name":"acted","payload":{\n"a":1.0}}');
  const bodies = (): unknown[] => target.received.slice(-2).map(({ body }) => body.toString());
  for (let turn = 0; turn < 10_000 && bodies()[0] !== '{\n"a":1.0}'; turn += 1) {
    await new Promise(setImmediate);
  }
  assert.deepEqual(bodies(), ['{\n"a":1.0}', '{"statusCode":200}']);
  await relay.ask('DELETE', acted);
  await addHook({ triggerEvent: 'filled', payloadTemplate: '{"b":"{{ a }}"}' });
  const filled = relay.ask('POST', '/api/events', '{"name":"filled","payload":{\n"a":1.0}}');
  assert.equal(await sentBy(filled), '{"b":1.0}');
});

test('the bytes outlast a crash, and are the same in every attempt', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', {}, { kind: 'refuse' });
  const payloads = ['{"a":\n1.0}', '{"a":\r1.0}', '1e2'];
  for (const payload of payloads) {
    await simulation.run(simulation.webhooks.events.emitJson(
      'thing.happened', payload, { source: 'api', hops: 0 }));
  }
  // Until the results are on disk as well.
  await simulation.clock.advance(0);
  await simulation.crash();
  await simulation.clock.advance(6000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), [...payloads, ...payloads]);
});
