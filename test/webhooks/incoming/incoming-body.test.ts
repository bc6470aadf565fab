/** What bodies are decoded to: payloads, and bodies without their Content-Encoding. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { resolveBodyReading } from '../../../src/webhooks/incoming/body-format.ts';
import { IncomingBody } from '../../../src/webhooks/incoming/receiving/incoming-body.ts';
import { decodeBody } from '../../../src/webhooks/senders/request/plain-body.ts';
import { startHttpTarget } from '../../support/http-target.ts';
import { turnsUntil } from '../../support/turns.ts';
import type { Answer } from '../relay.ts';
import { startPayloadTaker, type PayloadTaker } from './payload-taker.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

let taker: PayloadTaker;
before(async () => {
  taker = await startPayloadTaker();
});
after(() => taker.relay.close());

const READING = resolveBodyReading({ bodyFormat: 'auto' }, null, 1 << 20);
const create = (body: Buffer, type: string, encoding?: string): IncomingBody =>
  new IncomingBody(body, { 'content-type': type, 'content-encoding': encoding }, READING);

test('a payload and its JSON are made once for all routes', () => {
  for (const [type, text] of [['application/json', '{"a":"1"}'], [FORM_TYPE, 'a=1']] as const) {
    const body = create(Buffer.from(text), type);
    const [payload, json] = [body.readPayload(), body.readJson()];
    assert.deepEqual([payload, String(json)], [{ a: '1' }, '{"a":"1"}']);
    assert.equal(body.readPayload(), payload);
    assert.equal(body.readJson(), json);
  }
});

test('JSON in UTF-8 is given as it came, and what is no JSON is not', () => {
  const elements = Array.from({ length: 20_000 }, () => '{}').join();
  for (const text of ['{"a":1}', `{"a":[${elements}]}`]) {
    for (const type of ['application/json', 'text/json', 'application/json; charset=utf-8']) {
      const body = Buffer.from(text);
      assert.equal(create(body, type).readJson(), body);
      assert.equal(create(body.subarray(0, -1), type).readJson(), null);
    }
  }
});

test('a run weighs its payload once, and for each route what that copies of the body', () => {
  const bytes = Buffer.from(JSON.stringify(['x'.repeat(10_000)]));
  const weight = 2 * bytes.length + 40;
  const body = create(bytes, 'application/json');
  assert.deepEqual([body.weighRun(0), body.weighRun(20)], [weight, weight + 40 * bytes.length]);
  const encoded = create(gzipSync(bytes), 'application/json', 'gzip');
  assert.equal(encoded.weighRun(20), weight + 41 * bytes.length, 'the plain body as well');
});

const JSON_BODY = Buffer.from('{"kind":"play","id":820982911946154508}');
const PLAYED = { kind: 'play', id: 820982911946154508 };

function post(
  pathSegment: string, body: Buffer, encoding: string, headers: Record<string, string> = {},
): Promise<Answer> {
  return taker.relay.ask('POST', `/webhook/in/${pathSegment}`, body,
    { 'Content-Encoding': encoding, ...headers });
}

const ENCODED: readonly (readonly [encoding: string, body: Buffer])[] = [
  ['gzip', gzipSync(JSON_BODY)], ['x-gzip', gzipSync(JSON_BODY)], ['GZIP', gzipSync(JSON_BODY)],
  ['deflate', deflateSync(JSON_BODY)], ['deflate', deflateRawSync(JSON_BODY)],
  ['br', brotliCompressSync(JSON_BODY)], ['identity', JSON_BODY],
  ['gzip, br', brotliCompressSync(gzipSync(JSON_BODY))],
];

test('an encoded body is decoded for payload, conditions and later runs', async () => {
  const { json: { identifier } } = await taker.relay.ask('POST', '/api/action-configurations',
    { actionType: 'takes' });
  const routes = ['one', 'two'].map((name) => ({
    name, actionConfiguration: identifier,
    when: { path: 'payload.kind', op: 'eq', value: 'play' },
  }));
  for (const answer of ['result', 'accepted']) {
    const pathSegment = await taker.makeHook({ answer, actionConfiguration: null, routes });
    for (const [encoding, body] of ENCODED) {
      taker.payloads.length = 0;
      assert.equal((await post(pathSegment, body, encoding)).status, 200, encoding);
      await turnsUntil(() => taker.payloads.length === 2);
      assert.deepEqual(taker.payloads, [PLAYED, PLAYED], `${answer} ${encoding}`);
    }
  }
});

test('an encoded body is kept and forwarded as it came, with its header', async (context) => {
  const target = await startHttpTarget();
  context.after(() => target.close());
  const body = gzipSync(JSON_BODY);
  await taker.relay.hook({ actionType: 'http-forward', options: { url: target.url, pass: true } },
    { pathSegment: 'onward', inbox: 'all' });
  assert.equal((await post('onward', body, 'gzip')).status, 200);
  const { id, unparsed } = await taker.readNewest('onward');
  const { headers, body: forwarded } = target.received.at(-1) ?? {};
  assert.deepEqual([headers?.['content-encoding'], forwarded, unparsed], ['gzip', body, undefined]);
  const { json } = await taker.relay.ask('POST', '/api/incoming-webhooks/onward/diagnose',
    { request: id });
  assert.match(JSON.stringify(json['checks']), /Content-Encoding \\"gzip\\" the body has 39 bytes/);
});

test('an encoded body is as large for a log line as what it holds', async () => {
  await taker.relay.hook({ actionType: 'log' }, { pathSegment: 'logged' });
  const json = Buffer.from(`[${Array.from({ length: 200_000 }, () => '{}').join()}]`);
  assert.equal((await post('logged', gzipSync(json), 'gzip')).status, 200);
  assert.ok(taker.relay.logLines.some((line) => line.includes(`<${json.length} bytes>`)));
});

test('a body whose encoding cannot be taken off is kept, and marked with the reason', async () => {
  const rows: readonly (readonly [encoding: string, body: Buffer, reason: RegExp])[] = [
    ['zstd', JSON_BODY, /^the Content-Encoding "zstd" is none of gzip, deflate and br$/],
    ['gzip', JSON_BODY, /^the body is not what its Content-Encoding "gzip" says/],
    ['br', gzipSync(JSON_BODY), /Content-Encoding "br"/],
    ['gzip', gzipSync(JSON_BODY).subarray(0, -9), /not all of it$/],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(JSON_BODY))), /more than 2 encodings$/],
  ];
  const pathSegment = await taker.makeHook({ bodyFormat: 'text' });
  for (const [encoding, body, reason] of rows) {
    assert.equal((await post(pathSegment, body, encoding)).status, 200, encoding);
    assert.deepEqual(taker.payloads.at(-1), []);
    const { id, unparsed, fittingBodyFormat, unparsedReason } = await taker.readNewest(pathSegment);
    assert.deepEqual([unparsed, fittingBodyFormat], [true, null], encoding);
    assert.match(String(unparsedReason), reason);
    const { text } = await taker.relay.ask(
      'POST', `/api/incoming-webhooks/${pathSegment}/diagnose`, { request: id });
    assert.match(text, /Content-Encoding/);
  }
});

test('a body in an unknown charset, or in another than declared, is marked so', async () => {
  const pathSegment = await taker.makeHook({ bodyFormat: 'auto' });
  const form = 'application/x-www-form-urlencoded; charset=';
  for (const [type, body, reason] of [
    [`${form}x-no`, 'name=Jos%E9', /^the charset "x-no" of its Content-Type is unknown$/],
    [`${form}utf-8`, 'name=Jos%E9', /^the body is not in the charset that its Content-Type decl/],
    ['application/json; charset=x-no', '{"a":1}', /^the charset "x-no"/],
  ] as const) {
    const { status } = await taker.relay.ask('POST', `/webhook/in/${pathSegment}`, body,
      { 'Content-Type': type });
    assert.equal(status, 200);
    assert.deepEqual(taker.payloads.at(-1), []);
    const { unparsed, fittingBodyFormat, unparsedReason } = await taker.readNewest(pathSegment);
    assert.deepEqual([unparsed, fittingBodyFormat], [true, null]);
    assert.match(String(unparsedReason), reason);
  }
  await taker.relay.ask('POST', `/webhook/in/${pathSegment}`, 'name=Jos%E9&t=%80',
    { 'Content-Type': `${form}windows-1252` });
  assert.deepEqual(taker.payloads.at(-1), { name: 'José', t: '€' });
});

test('JSON in a declared charset is given to an action as JSON in UTF-8', async () => {
  const pathSegment = await taker.makeHook({ bodyFormat: 'json' });
  for (const payload of [{ name: 'José' }, { name: 'José', text: 'é'.repeat(40_000) }]) {
    const text = JSON.stringify(payload);
    for (const [charset, body] of [
      ['windows-1252', Buffer.from(text, 'latin1')], ['utf-16le', Buffer.from(text, 'utf16le')],
    ] as const) {
      await taker.relay.ask('POST', `/webhook/in/${pathSegment}`, body,
        { 'Content-Type': `application/json; charset=${charset}` });
      assert.deepEqual(taker.payloads.at(-1), payload, charset);
      assert.equal((await taker.readNewest(pathSegment))['unparsed'], undefined, charset);
    }
  }
});

const brotli = (bytes: Buffer): Buffer => brotliCompressSync(bytes, {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
});

test('what would become larger than a body may be is 413, and none is made of it', async () => {
  const pathSegment = await taker.makeHook({ bodyFormat: 'auto' });
  for (const [encoding, encode] of [['gzip', gzipSync], ['br', brotli]] as const) {
    const fits = encode(Buffer.from(JSON.stringify(['a'.repeat((1 << 20) - 4)])));
    assert.equal((await post(pathSegment, fits, encoding)).status, 200);
    const over = encode(Buffer.alloc((1 << 20) + 1));
    assert.equal((await post(pathSegment, over, encoding)).status, 413);
    const bomb = encode(Buffer.alloc(16 << 20));
    const undecoded = decodeBody(encode(bomb), `${encoding}, ${encoding}`, 1 << 20);
    assert.match('reason' in undecoded ? undecoded.reason : '', /larger than 1048576 bytes/);
  }
  const fields = gzipSync(Buffer.from('a=1&'.repeat(20_000)));
  const form = await post(pathSegment, fields, 'gzip', { 'Content-Type': FORM_TYPE });
  assert.equal(form.status, 413);
});

test('a scheme says which body is signed: that which came, or the plain one', async () => {
  const secret = 'a-secret-of-a-webhook';
  const sign = (body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex');
  const body = gzipSync(JSON_BODY);
  const rows = [['{body}', body, JSON_BODY], ['{plainBody}', JSON_BODY, body]] as const;
  for (const [content, signed, other] of rows) {
    const scheme = {
      algorithm: 'hmac-sha256', key: 'utf8', content,
      signature: { from: { header: 'X-Sum' }, encoding: 'hex' }, event: { json: 'kind' },
    };
    const verification = { preset: 'custom', scheme };
    const pathSegment = await taker.makeHook({ secret, verification });
    assert.equal((await post(pathSegment, body, 'gzip', { 'X-Sum': sign(signed) })).status, 200);
    assert.deepEqual(taker.payloads.at(-1), PLAYED);
    assert.equal((await taker.readNewest(pathSegment))['event'], 'play');
    assert.equal((await post(pathSegment, body, 'gzip', { 'X-Sum': sign(other) })).status, 401);
    const { text } = await taker.relay.ask(
      'POST', `/api/incoming-webhooks/${pathSegment}/diagnose`, {
        headers: { 'X-Sum': sign(other), 'Content-Encoding': 'gzip' },
        body: body.toString('base64'),
      });
    assert.match(text, content === '{body}' ? /with \{plainBody\} in place of \{body\}/
      : /if \{body\} stood in place of \{plainBody\}/);
    const broken = await post(pathSegment, JSON_BODY, 'gzip', { 'X-Sum': sign(JSON_BODY) });
    assert.equal(broken.status, content === '{body}' ? 200 : 401);
  }
});
