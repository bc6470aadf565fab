/** The page at /console, and what the API gives to it, from a real server. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createHookshelf } from '../../src/index.ts';
import { makeToken } from '../support/make-token.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

const DIST = resolve(import.meta.dirname, '../../dist');
const PAGE = readFileSync(join(DIST, 'console/page.html'));
const SCRIPT_NAMES = /data-scripts="([^"]+)"/.exec(PAGE.toString())?.[1]?.split(' ') ?? [];
const SCRIPTS = SCRIPT_NAMES.map((name) => readFileSync(join(DIST, 'console', name)));
/** Each file of the console has at most so many bytes before compression. */
const FILE_BYTES_MAX = 90_000;
const FILES = [
  { path: '/console', file: PAGE, mediaType: 'text/html; charset=utf-8' },
  ...SCRIPT_NAMES.map((name, index) => ({
    path: `/console/${name}`, file: SCRIPTS[index] ?? Buffer.of(),
    mediaType: 'text/javascript; charset=utf-8',
  })),
];

async function withServer(
  use: (server: Running, data: string) => Promise<void>,
  { arguments: more = [], environment = {} }: {
    readonly arguments?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  await inFolder(async (folder) => {
    const data = join(folder, 'data');
    const server = await startServer(['--data', data, ...more], { environment });
    try {
      await use(server, data);
    } finally {
      await server.stop();
    }
  });
}

const decode: Readonly<Record<string, (body: Buffer) => Buffer>> =
  { br: brotliDecompressSync, gzip: gunzipSync };

test('page and scripts are small, and come in each encoding, once', () =>
  withServer(async ({ url }) => {
    for (const file of FILES) await assertServed(url, file);
  }));

async function assertServed(
  url: string, { path, file, mediaType }: (typeof FILES)[number],
): Promise<void> {
  assert.ok(file.length <= FILE_BYTES_MAX, `${path}: ${file.length} bytes`);
  const tags = new Set<string>();
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'], ['br;q=0, gzip', 'gzip'], ['gzip', 'gzip'],
    ['deflate', undefined], ['gzip;q=0.0, br; q=0', undefined], ['', undefined],
  ] as const) {
    const headers = { 'accept-encoding': accepted };
    const answer = await ask(url + path, { headers });
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, mediaType]);
    assert.equal(answer.headers['content-encoding'], encoding, accepted);
    assert.equal(answer.headers['vary'], 'Accept-Encoding');
    const body = (decode[encoding ?? ''] ?? ((plain) => plain))(answer.bytes);
    assert.ok(body.equals(file), accepted);
    if (encoding !== undefined) assert.ok(answer.bytes.length < FILE_BYTES_MAX * 2 / 5);
    const etag = answer.headers.etag ?? '';
    tags.add(etag);
    for (const given of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again =
        await ask(url + path, { headers: { ...headers, 'if-none-match': given } });
      assert.deepEqual([again.status, again.bytes.length, again.headers.etag], [304, 0, etag]);
    }
    const head = await ask(url + path, { method: 'HEAD', headers });
    assert.deepEqual([head.status, head.bytes.length, head.headers['content-length']],
      [200, 0, String(answer.bytes.length)]);
  }
  assert.equal(tags.size, 3);
}

test('a script of another name is of another release', () => withServer(async ({ url }) => {
  for (const name of ['books-0.js', 'page.html', '']) {
    const { status, text } = await ask(`${url}/console/${name}`);
    assert.equal(status, 404, name);
    if (name !== '') assert.match(JSON.parse(text).detail, /another release .* load it anew/);
  }
}));

test('a browser that goes to the path of a screen is led to the screen', () =>
  withServer(async ({ url }) => {
    const { status, headers } = await ask(`${url}/console/books`, {
      headers: { accept: 'text/html,*/*;q=0.8' },
    });
    assert.equal(status, 302);
    assert.equal(new URL(String(headers.location), `${url}/console/books`).href,
      `${url}/console#/books`);
  }));

test('its policy names its style and all scripts, and lets nothing else in', () =>
  withServer(async ({ url }) => {
    const { headers, text } = await ask(`${url}/console`);
    const policy = String(headers['content-security-policy']);
    // The theme before the first paint, the first script, and those that run in the page later.
    for (const [name, tag, count, more] of [
      ['style-src', 'style', 1, []], ['script-src', 'script', 2, SCRIPTS],
    ] as const) {
      const found = [...text.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))]
        .map(([, content = '']) => content);
      assert.equal(found.length, count);
      const hashes = [...found, ...more].map((content) =>
        `'sha256-${createHash('sha256').update(content).digest('base64')}'`);
      assert.ok(policy.includes(`${name} ${hashes.join(' ')};`), `${name}: ${policy}`);
    }
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.match(policy, /connect-src 'self'/);
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const bare = text.replace(/(?<=<(?:style|script)[^>]*>)[^]*?(?=<\/(?:style|script)>)/g, '');
    assert.doesNotMatch(bare, /\b(?:src|srcset|href|action)="(?!#|favicon\.ico")|\bon\w+=/);
    assert.ok(bare.length < 1000);
  }));

test('the operator\'s title and colour come in under the same policy, with another tag', () =>
  withServer(async ({ url }) => {
    const { headers, text } = await ask(`${url}/console`);
    assert.match(text, /<title>Acme &amp; Sons<\/title>/);
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(text) ?? [];
    assert.match(style, /--fill:#cc0066;--on-fill:#ffffff\}\.top\{[^}]*\}$/);
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = String(headers['content-security-policy']);
    assert.ok(policy.includes(`style-src 'sha256-${hash}';`), policy);
    assert.doesNotMatch(policy, /unsafe/);
    await withServer(async (other) => {
      const { headers: otherHeaders } = await ask(`${other.url}/console`);
      assert.notEqual(otherHeaders.etag, headers.etag);
    });
  }, {
    environment: { HOOKSHELF_CONSOLE_TITLE: 'Acme & Sons', HOOKSHELF_CONSOLE_ACCENT: '#cc0066' },
  }));

/** As Chromium and Firefox send it for a page. */
const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test('a browser at the root is led to the console, a program is told what there is', () =>
  withServer(async ({ url }) => {
    for (const [accept, isPage] of [
      [BROWSER_ACCEPT, true], ['Text/HTML', true], ['application/json;q=0.5, text/html', true],
      ['*/*', false], ['application/json', false], ['text/html;q=0', false],
      ['text/html;q=0.5, application/json', false], ['text/htmlx', false], ['', false],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await ask(`${url}/`, { method, headers: { accept } });
        assert.deepEqual([status, headers.location, headers.vary],
          isPage ? [302, 'console', 'Accept'] : [200, undefined, 'Accept'], accept);
      }
    }
    assert.equal(JSON.parse((await ask(url)).text).links.console, '/console');
  }));

test('below server.baseUri a browser is led there, and to /docs where the console is off', () =>
  withServer(async ({ url }) => {
    const { status, headers } = await ask(`${url}/`, { headers: { accept: BROWSER_ACCEPT } });
    assert.deepEqual([status, headers.location], [302, 'https://books.example/shelf/docs']);
  }, { environment: {
    HOOKSHELF_SERVER_CONSOLE: 'false', HOOKSHELF_SERVER_BASE_URI: 'https://books.example/shelf',
  } }));

test('the icon is a small picture, and each page links to it', () =>
  withServer(async ({ url }) => {
    const icon = await ask(`${url}/favicon.ico`);
    assert.deepEqual([icon.status, icon.headers['content-type']], [200, 'image/svg+xml']);
    assert.ok(icon.bytes.length < 500, `${icon.bytes.length} bytes`);
    for (const path of ['/console', '/docs', '/docs/security']) {
      const { text, headers } = await ask(url + path);
      const [, link = ''] = /<link rel="icon"[^>]* href="([^"]+)">/.exec(text) ?? [];
      assert.equal(new URL(link, url + path).href, `${url}/favicon.ico`, path);
      assert.match(String(headers['content-security-policy']), /; img-src 'self';/);
    }
  }));

test('server.console: false takes it away, and the links to it', async () => {
  const linked = async (url: string): Promise<readonly boolean[]> => [
    (await ask(`${url}/`)).text.includes('/console'),
    (await ask(`${url}/docs`)).text.includes('href="/console"'),
  ];
  await withServer(async ({ url }) => assert.deepEqual(await linked(url), [true, true]));
  await withServer(async ({ url }) => {
    for (const { path } of FILES) assert.equal((await ask(url + path)).status, 404, path);
    assert.deepEqual(await linked(url), [false, false]);
  }, { environment: { HOOKSHELF_SERVER_CONSOLE: 'false' } });
});

test('each scope is told, and only an admin sees the log, the settings and the tokens', () =>
  withServer(async ({ url }, data) => {
    const scopeFor = async (token: string | null): Promise<readonly unknown[]> => {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const { status, text } = await ask(`${url}/api/access`, { headers });
      const others = [];
      for (const path of ['status', 'statistics', 'log', 'settings', 'tokens']) {
        others.push((await ask(`${url}/api/${path}`, { headers })).status);
      }
      return [status, JSON.parse(text).scope, ...others];
    };
    assert.deepEqual(await scopeFor(null), [200, 'admin', 200, 200, 200, 200, 200]);
    const wanted = {
      read: [200, 'read', 200, 200, 403, 403, 403],
      write: [200, 'write', 200, 200, 403, 403, 403],
      admin: [200, 'admin', 200, 200, 200, 200, 200],
    };
    for (const scope of ['read', 'write', 'admin'] as const) {
      const { token } = await makeToken(data, scope);
      assert.deepEqual(await scopeFor(token), wanted[scope]);
    }
    assert.deepEqual(await scopeFor(null), [401, undefined, 401, 401, 401, 401, 401]);
    // The page itself holds nothing.
    assert.equal((await ask(`${url}/console`)).status, 200);
  }));

test('settings say where they came from, and hide what is secret', () =>
  withServer(async ({ url }) => {
    const headers = { authorization: 'Bearer planted-token' };
    const { text } = await ask(`${url}/api/settings`, { headers });
    assert.ok(!text.includes('planted'));
    const settings = new Map((JSON.parse(text) as { name: string; [member: string]: unknown }[])
      .map(({ name, value, origin }) => [name, [value, origin]]));
    assert.deepEqual(settings.get('server.apiToken'), ['***', 'HOOKSHELF_API_TOKEN']);
    assert.deepEqual(settings.get('http.proxy')?.[1], 'HOOKSHELF_HTTP_PROXY');
    assert.deepEqual(settings.get('incoming.rateLimit'), [0, 'default']);
    assert.equal(settings.get('server.port')?.[1], '--port');
    const { text: log } = await ask(`${url}/api/log`, { headers });
    assert.ok(JSON.parse(log).length > 0 && !log.includes('planted'));
  }, { environment: {
    HOOKSHELF_API_TOKEN: 'planted-token', HOOKSHELF_HTTP_PROXY: 'http://u:planted@127.0.0.1:1',
  } }));

test('the state, the statistics and the log tell of what happened', () =>
  withServer(async ({ url }, data) => {
    const read = async (path: string) => JSON.parse((await ask(`${url}${path}`)).text);
    const before = await read('/api/status');
    assert.deepEqual([before.isReady, before.reason, before.store.compactedAt,
      before.store.backedUpAt], [true, null, null, null]);
    await ask(`${url}/api/books`, {
      method: 'POST', body: { title: 'Emma', authors: [{ name: 'Jane Austen' }] },
    });
    for (const command of [['data:compact'], ['data:backup', '--to', join(data, '..', 'copy')]]) {
      const { code, stderr } = await hookshelf([...command, '--data', data]);
      assert.equal(code, 0, stderr);
    }
    const after = await read('/api/status');
    assert.equal(after.store.records, before.store.records + 1);
    assert.ok(after.store.bytes > before.store.bytes);
    for (const at of [after.store.compactedAt, after.store.backedUpAt]) {
      assert.ok(at >= before.startedAt && !Number.isNaN(Date.parse(at)));
    }
    await ask(`${url}/webhook/in/none`,
      { method: 'POST', headers: { 'x-request-id': 'known' }, body: {} });
    const { requests } = await read('/api/statistics');
    assert.equal(requests.rejected.at(-1) + requests.rejected.at(-2), 1);
    const lines = await read('/api/log?requestId=known&level=warning');
    assert.equal(lines.length, 1);
    assert.match(lines[0].message, /webhook was rejected/);
    assert.deepEqual(await read(`/api/log?after=${lines[0].number}&requestId=known`), []);
  }));

test('a program that embeds us has the page, its own settings and its lines', () =>
  inFolder(async (data) => {
    const shelf = await createHookshelf({ data, settings: { incoming: { rateLimit: 7 } } });
    try {
      const { url } = await shelf.listen({ port: 0 });
      for (const { path, file } of FILES) {
        assert.equal((await ask(url + path)).text, file.toString());
      }
      const settings: { name: string; value: unknown; origin: string }[] =
        JSON.parse((await ask(`${url}/api/settings`)).text);
      const row = settings.find(({ name }) => name === 'incoming.rateLimit');
      assert.deepEqual([row?.value, row?.origin], [7, 'settings']);
      await ask(`${url}/webhook/in/none`, { method: 'POST', body: {} });
      assert.match((await ask(`${url}/api/log?level=warning`)).text, /webhook was rejected/);
    } finally {
      await shelf.close();
    }
  }));

test('without one of its files the console says what to do', () => inFolder(async (copy) => {
  const data = join(copy, 'data');
  cpSync(DIST, join(copy, 'dist'), {
    recursive: true, filter: (path) => !/\/dist\/bin/.test(path),
  });
  cpSync(resolve(import.meta.dirname, '../../package.json'), join(copy, 'package.json'));
  rmSync(join(copy, 'dist/console', SCRIPT_NAMES[0] ?? ''));
  const server = await startServer(['--data', data], {
    program: [process.execPath, join(copy, 'dist/main.js')],
  });
  try {
    for (const { path } of FILES) {
      const { status, text } = await ask(server.url + path);
      assert.equal(status, 503, path);
      assert.match(JSON.parse(text).detail, /npm run build makes it/);
    }
    assert.equal((await ask(`${server.url}/api/status`)).status, 200);
  } finally {
    await server.stop();
  }
}));
