/** Where answers lead: `Location` and `Link`, with `server.baseUri` and without. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { listenOnPort, openHookshelf } from './support/embedded.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const HOOK = { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.opened' };

type Place = { readonly port: number } | { readonly socketPath: string };

async function open(context: TestContext, server: object): Promise<{ tcp: Place; control: Place }> {
  const data = createTemporaryFolder();
  const port = await listenOnPort(await openHookshelf(context, { data, settings: { server } }));
  return { tcp: { port }, control: { socketPath: join(data, 'control.sock') } };
}

function headersOf(place: Place, path: string, body?: object): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    request({
      ...place, path, agent: false, method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
    }, (response) => resolve(response.resume().headers))
      .on('error', reject).end(body === undefined ? '' : JSON.stringify(body));
  });
}

/** Adds two of each, and gives what `Location` and `Link` begin with. */
async function linksOf(place: Place): Promise<readonly (string | undefined)[]> {
  const links: (string | undefined)[] = [];
  for (const [path, body] of [
    ['/api/books', { title: 'Emma' }], ['/api/outgoing-webhooks', HOOK],
  ] as const) {
    await headersOf(place, path, body);
    const added = await headersOf(place, path, body);
    const listed = await headersOf(place, `${path}?limit=1`);
    links.push(added.location, String(listed['link']));
  }
  await headersOf(place, '/api/events', { name: 'shop.opened' });
  links.push(String((await headersOf(place, '/api/deliveries?limit=1'))['link']));
  return links.map((link) => link?.replace(/(\/api\/[a-z-]+[/?]).*$/, '$1'));
}

const expected = (base: string): readonly string[] => [
  `${base}/api/books/`, `<${base}/api/books?`,
  `${base}/api/outgoing-webhooks/`, `<${base}/api/outgoing-webhooks?`, `<${base}/api/deliveries?`,
];

test('links in answers are paths, and absolute below server.baseUri where it is set',
  async (context) => {
    const plain = await open(context, {});
    assert.deepEqual(await linksOf(plain.tcp), expected(''));
    // As behind a proxy that takes the folder off.
    const proxied = await open(context, { baseUri: 'https://books.example/shelf/' });
    assert.deepEqual(await linksOf(proxied.tcp), expected('https://books.example/shelf'));
    assert.deepEqual(await linksOf(proxied.control), expected(''), 'commands come another way');
  });
