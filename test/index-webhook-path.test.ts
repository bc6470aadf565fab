/** Incoming webhooks at a second path, `server.webhookPath`, beside `/webhook/in`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ActionResult } from '../src/index.ts';
import type { Action, ActionClass, ActionContext, Payload } from '../src/index.ts';
import { addRecord, ask } from './e2e/ask.ts';
import { listenOnPort, openHookshelf, serveHandler } from './support/embedded.ts';
import { until } from './support/until.ts';
import { rawRequest, type RawAnswer } from './support/raw-http.ts';

/** An action that answers with what it got, and adds the path that was called to `paths`. */
function makeEcho(paths: string[]): ActionClass {
  return class Echo implements Action {
    static identifier(): string {
      return 'echo';
    }

    static label(): string {
      return 'Answers with what it got';
    }

    static validateOptions(): string[] {
      return [];
    }

    execute(payload: Payload, { query, path }: ActionContext): ActionResult {
      paths.push(path);
      return ActionResult.ok({ payload, query });
    }
  };
}

const PROXY = '192.0.2.1';
const ORIGIN = 'https://app.example';

async function open(
  context: TestContext, webhookPath = '/hooks',
): Promise<{ port: number; url: string; paths: readonly string[] }> {
  const paths: string[] = [];
  const port = await listenOnPort(await openHookshelf(context, {
    actions: [makeEcho(paths)],
    settings: {
      server: { webhookPath, trustProxy: true, corsOrigins: [ORIGIN], maxBodyBytes: 1000 },
    },
  }));
  const url = `http://127.0.0.1:${port}`;
  const actionConfiguration =
    await addRecord(`${url}/api/action-configurations`, { actionType: 'echo' });
  for (const members of [
    { pathSegment: 'open' }, { pathSegment: 'signed', secret: 'a secret of these tests' },
    { pathSegment: 'near', allowedAddresses: [PROXY] }, { pathSegment: 'off', enabled: false },
    { pathSegment: 'slow', rateLimit: 0.001 }, { pathSegment: 'kept', inbox: 'all' },
  ]) await addRecord(`${url}/api/incoming-webhooks`, { ...members, actionConfiguration });
  return { port, url, paths };
}

/** An answer without the parts that differ between any two requests. */
function describe({ status, headers, body }: RawAnswer): unknown {
  const { date: _date, 'x-request-id': _id, ...others } = headers;
  return { status, headers: others, body };
}

const PREFLIGHT = {
  Origin: ORIGIN, 'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'x-signature',
};
const CALLS: readonly (readonly [
  status: number, method: string, rest: string, headers?: Readonly<Record<string, string>>,
  body?: string,
])[] = [
  [200, 'POST', '/open', {}, '{"a":1}'],
  [200, 'POST', '/open?a=1&a=%2F', {}, '{"a":1}'],
  [200, 'POST', '/%6Fpen', {}, '{"a":1}'],
  [200, 'POST', '/open', { Host: 'evil.example', Origin: 'https://evil.example' }, '{}'],
  [200, 'POST', '/open', { Origin: ORIGIN }, '{}'],
  [200, 'POST', '/open', { Authorization: 'Bearer nobody' }, '{}'],
  [405, 'GET', '/open'], [405, 'HEAD', '/open'], [405, 'OPTIONS', '/open'],
  [204, 'OPTIONS', '/open', PREFLIGHT],
  [405, 'OPTIONS', '/open', { ...PREFLIGHT, Origin: 'https://evil.example' }],
  [413, 'POST', '/open', {}, 'a'.repeat(1001)],
  [401, 'POST', '/signed', {}, '{}'],
  [403, 'POST', '/near', {}, '{}'],
  [200, 'POST', '/near', { 'X-Forwarded-For': PROXY }, '{}'],
  [404, 'POST', '/off', {}, '{}'],
  [404, 'POST', '/none', {}, '{}'],
  [404, 'POST', '/open/', {}, '{}'],
  [404, 'POST', '/open/more', {}, '{}'],
  [404, 'POST', '/', {}, '{}'],
  [404, 'POST', '/%zz', {}, '{}'],
];

for (const webhookPath of ['/hooks', '/old/hooks.v1', '/webhook', '/webhook/in/old']) {
  test(`below ${webhookPath} each request has the answer that it has below /webhook/in`,
    async (context) => {
      const { port } = await open(context, webhookPath);
      for (const [status, method, rest, headers = {}, body] of CALLS) {
        const name = `${method} ${rest} ${JSON.stringify(headers)}`;
        const call = (path: string): Promise<RawAnswer> =>
          rawRequest({ port }, method, path + rest, headers, body);
        const first = await call('/webhook/in');
        assert.equal(first.status, status, name);
        assert.deepEqual(describe(await call(webhookPath)), describe(first), name);
      }
    });
}

test('both addresses of a webhook share its limit', async (context) => {
  const { url } = await open(context);
  const call = async (path: string): Promise<number> =>
    (await ask(`${url}${path}/slow`, { method: 'POST', body: {} })).status;
  assert.deepEqual([await call('/hooks'), await call('/webhook/in')], [200, 429]);
});

test('a request is kept with the path that was called, and runs again with it', async (context) => {
  const { url, paths } = await open(context);
  for (const name of ['kept', 'signed']) {
    await ask(`${url}/hooks/${name}?a=1`, { method: 'POST', body: {} });
  }
  const find = async (status: string): Promise<Record<string, unknown>> =>
    JSON.parse((await ask(`${url}/api/requests?status=${status}`)).text)[0];
  const { id, path } = await find('done');
  assert.deepEqual([path, (await find('rejected'))['path']], ['/hooks/kept', '/hooks/signed']);
  await ask(`${url}/api/requests/${id}/replay`, { method: 'POST' });
  await until('it has run again', () => paths.length === 2);
  assert.deepEqual(paths, ['/hooks/kept', '/hooks/kept']);
});

test('the OpenAPI document and the shown addresses keep the first path', async (context) => {
  const { url } = await open(context);
  assert.doesNotMatch((await ask(`${url}/openapi.json`)).text, /"\/hooks/);
  const { text } = await ask(`${url}/api/incoming-webhooks/open/examples`);
  assert.match(JSON.parse(text).url, /\/webhook\/in\/open$/);
});

test('metrics tell the two paths apart', async (context) => {
  const { url } = await open(context);
  await ask(`${url}/hooks/open`, { method: 'POST', body: {} });
  const { text } = await ask(`${url}/metrics`);
  assert.ok(text.includes('_total{route="/hooks/{pathSegment}",method="POST",status="200"} 1\n'));
});

test('within another program the path is below where that mounts it', async (context) => {
  const shelf = await openHookshelf(context, {
    settings: { server: { webhookPath: '/hooks' } },
  });
  const { url } = await serveHandler(context, (request, response) => {
    request.url = (request.url ?? '').replace(/^\/relay/, '');
    shelf.handler(request, response);
  });
  const { status, text } = await ask(`${url}/relay/hooks/none`, { method: 'POST', body: {} });
  assert.deepEqual([status, JSON.parse(text).message], [404, 'Webhook not found or disabled']);
});

test('a path that begins as one of ours does is refused at the start', async (context) => {
  for (const webhookPath of ['/api', '/api/hooks', '/console', '/healthz', '/control/x', '/docs']) {
    await assert.rejects(openHookshelf(context, { settings: { server: { webhookPath } } }), {
      code: 'usage', message: /^server\.webhookPath must not begin with \/\w+, as paths of hook/,
    });
  }
});

test('without the setting there is nothing at another path', async (context) => {
  const port = await listenOnPort(await openHookshelf(context));
  const { status, body } = await rawRequest({ port }, 'POST', '/hooks/open', {}, '{}');
  assert.deepEqual([status, JSON.parse(body).detail], [404, 'there is nothing at /hooks/open']);
});
