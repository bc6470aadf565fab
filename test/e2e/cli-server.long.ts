/** Commands on a server elsewhere: real processes over HTTP and HTTPS, tokens of each scope. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Ended } from '../support/children.ts';
import { IS_LONG } from '../support/long.ts';
import { makeToken } from '../support/make-token.ts';
import { SCOPES } from '../support/scopes.ts';
import type { Scope } from '../support/scopes.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

type Shop = {
  readonly folder: string;
  readonly server: Running;
  run(scope: Scope | null, words: readonly string[], input?: string): Promise<Ended>;
  close(): Promise<void>;
};

const BOOKS_COUNT = 3000;
let shop: Shop;
let safeShop: Shop;

before(async () => {
  shop = await openShop('http');
  safeShop = await openShop('https');
});

// Both, whatever the other has to say.
after(() => Promise.all([shop, safeShop].map((one) => one.close())));

test('a token does what its scope allows, and what is refused says what it takes', async () => {
  const { run } = shop;
  const asks: readonly (readonly [Scope, readonly string[]])[] = [
    ['read', ['book:list']],
    ['read', ['delivery:reconcile']],
    ['read', ['actionconfig:actions', '--json']],
    ['write', ['book:add', '--input', '{"title":"Emma"}']],
    ['write', ['book:import', '--sample']],
    ['write', ['event:emit', '--name', 'a.b', '--payload', '1']],
    ['write', ['delivery:retry', '--failed']],
    ['admin', ['actionconfig:create', '--action', 'log']],
    ['admin', ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9']],
  ];
  for (const [needed, words] of asks) {
    const anybody = await run(null, words);
    assert.equal(anybody.code, 1, words.join(' '));
    assert.match(anybody.stderr, /wants a token of scope .*--token-file\n$/);
    const least = SCOPES.indexOf(needed);
    // The least that may, and the one below it.
    for (const scope of IS_LONG ? SCOPES : SCOPES.slice(Math.max(least - 1, 0), least + 1)) {
      const { code, stderr } = await run(scope, words);
      const isAllowed = SCOPES.indexOf(scope) >= least;
      const wanted = words[0] === 'event:emit' ? 'emit or write' : needed;
      if (isAllowed && words[0] !== 'book:import') assert.equal(code, 0, `${scope}: ${stderr}`);
      if (!isAllowed) {
        assert.deepEqual([code, stderr],
          [1, `hookshelf: this needs a token of scope ${wanted}, not ${scope}\n`]);
      }
    }
  }
});

test('over https, books go in and out whole, and records are named by a part', async () => {
  const { folder, run, server } = safeShop;
  assert.match(server.url, /^https:/);
  const lines = Array.from({ length: BOOKS_COUNT }, (_, index) => `{"title":"Book ${index}"}`);
  const input = `${lines.join('\n')}\nno book\n`;
  const imported = await run('write',
    ['book:import', '--file', '-', '--format', 'jsonl'], input);
  assert.equal(imported.stdout, `imported ${BOOKS_COUNT}, updated 0, unchanged 0, skipped 1\n`,
    imported.stderr);
  assert.match(imported.stderr, /^hookshelf: line 3001: /m);
  const file = join(folder, 'books.jsonl');
  const exported = await run('read', ['book:export', '--file', file]);
  assert.equal(exported.stdout, `exported ${BOOKS_COUNT} books to ${file}\n`, exported.stderr);
  const books: { readonly id: string; readonly title: string }[] =
    readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(books.map(({ title }) => title).sort(),
    lines.map((line) => JSON.parse(line).title).sort());
  const listed = await run('read', ['book:list', '--json']);
  assert.equal(JSON.parse(listed.stdout).length, BOOKS_COUNT);
  const [book] = books;
  assert.ok(book !== undefined);
  const shown = await run('read', ['book:show', book.id.slice(-14), '--json']);
  assert.equal(JSON.parse(shown.stdout).title, book.title);
});

test('an unknown certificate is refused, and the way to trust it is said', async () => {
  const { server } = safeShop;
  const { code, stderr } = await hookshelf(['book:list', '--server', server.url]);
  assert.equal(code, 1);
  assert.match(stderr, /^hookshelf: cannot reach https:[^\n]*NODE_EXTRA_CA_CERTS=<file>/);
});

test('the environment names the server and its token for every command', async () => {
  const { folder, server } = shop;
  const environment = {
    HOOKSHELF_SERVER: server.url, HOOKSHELF_TOKEN_FILE: join(folder, 'admin.token'),
  };
  const made = await hookshelf(
    ['actionconfig:create', '--action', 'log', '--identifier', 'to-log'], { environment });
  assert.equal(made.code, 0, made.stderr);
  const local = await hookshelf(['data:compact'], { environment, cwd: folder });
  assert.deepEqual([local.code, local.stdout], [2, '']);
});

async function openShop(scheme: 'http' | 'https'): Promise<Shop> {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = createCertificate();
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.key);
  const tokens: string[] = [];
  for (const scope of SCOPES) {
    const { token } = await makeToken(data, scope);
    writeFileSync(join(folder, `${scope}.token`), `${token}\n`, { mode: 0o600 });
    tokens.push(token);
  }
  const server = await startServer(['--data', data], {
    environment: scheme === 'http' ? {}
      : { HOOKSHELF_SERVER_TLS_CERT: cert, HOOKSHELF_SERVER_TLS_KEY: key },
  });
  const run = async (
    scope: Scope | null, words: readonly string[], input = '',
  ): Promise<Ended> => {
    const token = scope === null ? [] : ['--token-file', join(folder, `${scope}.token`)];
    const ended = await hookshelf([...words, '--server', server.url, ...token], {
      cwd: folder, input, environment: { NODE_EXTRA_CA_CERTS: cert },
    });
    assert.ok(!tokens.some((secret) => `${ended.stdout}${ended.stderr}`.includes(secret)));
    return ended;
  };
  const close = async (): Promise<void> => {
    const { stderr } = await server.stop();
    assert.ok(!tokens.some((secret) => stderr.includes(secret)));
  };
  return { folder, server, run, close };
}
