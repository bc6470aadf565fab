/** Tokens of customers: each is bound to some webhooks, and a hostile holder tries the others. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../cli/io.ts';
import {
  HOOKS, UNKNOWN_ID, assertSame, inWorld, parse, parseList, type Ask,
} from '../support/customers.ts';
import { ask } from './ask.ts';
import { makeBoundToken } from '../support/make-token.ts';
import { BOUND_SCOPE_OF, BOUND_SCOPES, SCOPE_OF } from '../support/scopes.ts';

test('a bound token may call what the table says for its scope, and nothing else', () =>
  inWorld({ acme: {} }, async ({ customer }) => {
    for (const scope of BOUND_SCOPES) {
      const askBound = await customer(scope, 'acme');
      for (const [operation, needed] of SCOPE_OF) {
        const [method = '', path = ''] = operation.split(' ');
        const target = path.replace('{collection}', 'jobs').replace(/\{\w+\}/g, UNKNOWN_ID)
          + (path === '/api/stream' ? '?topics=deliveries&lastEventId=none' : '');
        const { status } = await askBound(method, target);
        const boundScope = BOUND_SCOPE_OF.get(operation);
        const mayCome = needed === 'public' || (boundScope !== undefined
          && BOUND_SCOPES.indexOf(scope) >= BOUND_SCOPES.indexOf(boundScope));
        assert.ok(mayCome ? status !== 401 && status !== 403 : status === 403,
          `${operation} as ${scope}: ${status}`);
      }
      for (const [method, path] of [
        ['GET', '/api'], ['GET', '/api/none'], ['DELETE', HOOKS], ['OPTIONS', HOOKS],
        ['GET', '/api/books?nothing=1'], ['POST', '/api/books'], ['GET', '/metrics'],
        ['PUT', `${HOOKS}/acme`], ['GET', '/%61pi/books'], ['GET', '/api//books'],
      ] as const) assert.equal((await askBound(method, path)).status, 403, `${method} ${path}`);
    }
  }));

test('a caller learns what his token is for', () => inWorld({}, async ({ operator, customer }) => {
  const access = async (askAs: Ask): Promise<unknown> =>
    parse(await askAs('GET', '/api/access'));
  assert.deepEqual(await access(operator), { scope: 'admin', name: 'admin' });
  assert.deepEqual(await access(await customer('resend', 'acme', 'acme-*')),
    { scope: 'resend', name: 'acme', webhooks: ['acme', 'acme-*'] });
}));

test('a caller learns when his token ends', () => inWorld({}, async ({ server }) => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  for (const [scope, binding] of [['read', { webhooks: ['acme'] }], ['write', {}]] as const) {
    const { code, stdout, stderr } = await runCommand(['token:create', '--name', 'acme', '--scope',
      scope, '--expires', expiresAt, '--data', server.data,
      ...'webhooks' in binding ? ['--webhook', 'acme'] : []]);
    assert.equal(code, 0, stderr);
    const { text } = await ask(`${server.url}/api/access`,
      { headers: { authorization: `Bearer ${stdout.trim()}` } });
    assert.deepEqual(JSON.parse(text), { scope, name: 'acme', expiresAt, ...binding });
  }
}));

test('the list of webhooks is that of his own, whatever it is asked', () =>
  inWorld({
    acme: {}, 'acme-eu': {}, acmeist: {}, bolt: {}, zorro: {},
  }, async ({ customer, ids }) => {
    const askAcme = await customer('read', 'acme', 'acme-*', ids['zorro'] ?? '');
    const list = async (query: string): Promise<readonly [string, string | undefined]> => {
      const { text, headers } = await askAcme('GET', HOOKS + query);
      const names = parseList({ text }).map(({ name }) => name).join();
      return [names, headers['x-total-count']?.toString()];
    };
    assert.deepEqual(await list(''), ['acme,acme-eu,zorro', '3']);
    assert.deepEqual(await list('?q=acme'), ['acme,acme-eu', '2']);
    assert.deepEqual(await list('?q=bolt'), ['', '0']);
    assert.deepEqual(await list('?sort=-name'), ['zorro,acme-eu,acme', '3']);
    assert.deepEqual(await list('?event=order.paid'), ['acme,acme-eu,zorro', '3']);
    const first = await askAcme('GET', `${HOOKS}?limit=2&sort=name`);
    const [, next = ''] = /<([^>]+)>/.exec(first.headers.link?.toString() ?? '') ?? [];
    assert.deepEqual([JSON.parse(first.text).length, first.headers['x-total-count']], [2, '3']);
    const second = await askAcme('GET', next);
    assert.deepEqual([JSON.parse(second.text).length, second.headers.link], [1, undefined]);
  }));

test('a foreign webhook is answered as one that there is not, byte for byte', () =>
  inWorld({ acme: {}, bolt: {} }, async ({ customer, operator, ids }) => {
    const askAcme = await customer('write', 'acme');
    const { etag = '' } = (await operator('GET', `${HOOKS}/bolt`)).headers;
    assert.equal((await askAcme('GET', `${HOOKS}/acme`)).status, 200);
    for (const [path, headers] of [
      ['', {}], ['', { 'if-none-match': etag }], ['', { 'if-none-match': '*' }],
      ['', { 'if-match': '"other"' }], ['/statistics', {}], ['/statistics?window=none', {}],
      ['/examples', {}],
    ] as const) {
      const request = (name: string) =>
        ['GET', `${HOOKS}/${name}${path}`, undefined, headers] as const;
      await assertSame(askAcme, 'bolt', 'none', request, 404);
      await assertSame(askAcme, ids['bolt'] ?? '', UNKNOWN_ID, request, 404);
    }
  }));

test('a name decides at each request: who is renamed or removed is out of sight at once', () =>
  inWorld({ 'acme-1': {}, bolt: {} }, async ({ customer, operator, ids }) => {
    const askAcme = await customer('read', 'acme-*');
    const names = async (): Promise<string> =>
      parseList(await askAcme('GET', HOOKS)).map(({ name }) => name).join();
    assert.equal(await names(), 'acme-1');
    await operator('PATCH', `${HOOKS}/acme-1`, { name: 'other' });
    assert.equal(await names(), '');
    assert.equal((await askAcme('GET', `${HOOKS}/${ids['acme-1']}`)).status, 404);
    await operator('PATCH', `${HOOKS}/bolt`, { name: 'acme-2' });
    assert.equal(await names(), 'acme-2');
    assert.equal((await askAcme('GET', `${HOOKS}/${ids['bolt']}`)).status, 200);
    // Without a name it is bound by its identifier alone.
    await operator('PATCH', `${HOOKS}/acme-2`, { name: null });
    assert.equal(await names(), '');
    await operator('DELETE', `${HOOKS}/${ids['bolt']}`);
    assert.equal((await askAcme('GET', `${HOOKS}/${ids['bolt']}`)).status, 404);
  }));

test('token:create says what a token is bound to, and refuses what cannot be bound', () =>
  inWorld({ acme: {}, 'acme-eu': {}, bolt: {} }, async ({ server }) => {
    const create = (...args: string[]) => runCommand(
      ['token:create', '--name', 'acme', '--data', server.data, ...args]);
    const made = await create('--scope', 'write', '--webhook', 'acme', '--webhook', 'acme-*');
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr, /it is for 2 outgoing webhooks now/);
    assert.match(made.stderr, /http\.denyAddresses lacks: loopback, private/);
    assert.match(made.stdout, /^hookshelf_[\w-]+\n$/);
    const read = await create('--scope', 'read', '--webhook', 'not-yet');
    assert.match(read.stderr, /it is for 0 outgoing webhooks now/);
    assert.doesNotMatch(read.stderr, /denyAddresses/);
    const many = Array.from({ length: 21 }, (_, index) => ['--webhook', `a${index}`]).flat();
    for (const [reason, ...args] of [
      [/--scope: resend is for/, '--scope', 'resend'],
      [/--webhook: must be absent with/, '--scope', 'admin', '--webhook', 'acme'],
      [/--webhook: must be absent with/, '--scope', 'emit', '--webhook', 'acme'],
      [/--webhook: must be absent with/, '--scope', 'follow', '--webhook', 'acme'],
      [/--webhook: must each be/, '--scope', 'read', '--webhook', '*'],
      [/--webhook: must each be/, '--scope', 'read', '--webhook', 'a*b'],
      [/--webhook: must each be/, '--scope', 'read', '--webhook', 'a**'],
      [/--webhook: must each be/, '--scope', 'read', '--webhook', 'A b'],
      [/--webhook: must be different/, '--scope', 'read', '--webhook', 'a', '--webhook', 'a'],
      [/--webhook: must have at most 20/, '--scope', 'read', ...many],
      [/--webhook: must name a webhook/, '--scope', 'read', '--webhook', ','],
      [/--webhook needs a value/, '--scope', 'read', '--webhook', ''],
    ] as const) {
      const refused = await create(...args);
      assert.equal(refused.code, 2, args.join(' '));
      assert.match(refused.stderr, reason);
    }
    const listed = await runCommand(['token:list', '--json', '--data', server.data]);
    const tokens = JSON.parse(listed.stdout);
    assert.deepEqual(tokens.map(({ scope, webhooks }: Record<string, unknown>) =>
      [scope, webhooks]), [
      ['admin', undefined], ['write', ['acme', 'acme-*']], ['read', ['not-yet']],
    ]);
    const table = await runCommand(['token:list', '--data', server.data]);
    assert.match(table.stdout, /WEBHOOKS/);
  }));

test('one command makes a token for each of many customers', () =>
  inWorld({ acme: {}, 'acme-eu': {}, bolt: {} }, async ({ server, operator }) => {
    const create = (...args: string[]) => runCommand([
      'token:create', '--scope', 'read', '--data', server.data, '--webhook', '{name}',
      '--webhook', '{name}-*', ...args,
    ]);
    const made = await create('--name', 'acme', '--name', 'bolt', '--name', 'corp', '--url');
    assert.equal(made.code, 0, made.stderr);
    const lines = made.stdout.trimEnd().split('\n').map((line) => line.split('\t'));
    assert.deepEqual(lines.map(([name]) => name), ['acme', 'bolt', 'corp']);
    for (const [, url = ''] of lines) assert.match(url, /\/console#token=hookshelf_[\w-]{43}$/);
    assert.match(made.stderr, /they are for 3 outgoing webhooks now; there is none for "corp"/);
    assert.doesNotMatch(made.stderr, /closed/);
    const json = JSON.parse((await create('--name', 'x', '--name', 'y', '--json')).stdout);
    assert.deepEqual(json.map(({ name, webhooks }: Record<string, unknown>) => [name, webhooks]),
      [['x', ['x', 'x-*']], ['y', ['y', 'y-*']]]);
    const count = parseList(await operator('GET', '/api/tokens')).length;
    for (const [names, reason] of [
      [['a', 'a'], /--name: "a" stands twice/], [['a', 'a b'], /--webhook: must each be .* "a b"/],
    ] as const) {
      const refused = await create(...names.flatMap((name) => ['--name', name]));
      assert.deepEqual([refused.code, refused.stdout], [2, '']);
      assert.match(refused.stderr, reason);
    }
    assert.equal(parseList(await operator('GET', '/api/tokens')).length, count);
  }));

test('the same bulk creation again makes no token, and one renews those that end soon', () =>
  inWorld({ acme: {}, bolt: {} }, async ({ server, operator }) => {
    const create = (names: readonly string[], ...args: string[]) => runCommand([
      'token:create', '--scope', 'read', '--data', server.data, '--webhook', '{name}',
      ...names.flatMap((name) => ['--name', name]), ...args,
    ], { now: Date.now });
    const count = async (): Promise<number> =>
      parseList(await operator('GET', '/api/tokens')).length;
    assert.equal((await create(['acme', 'bolt'], '--expires', '90d')).code, 0);
    const countBefore = await count();
    for (const names of [['acme', 'bolt'], ['corp', 'bolt']]) {
      const refused = await create(names);
      assert.deepEqual([refused.code, refused.stdout, await count()], [1, '', countBefore]);
      assert.match(refused.stderr, /no token is made, as there are .* for ("acme", )?"bolt": /);
      assert.match(refused.stderr,
        /leave these names out by --due, or replace their tokens by --replace/);
    }
    // One by one a second token is made on purpose: its holder needs it before the first ends.
    const second = await create(['acme']);
    assert.equal(second.code, 0);
    assert.match(second.stderr, /tokens in force have the same name, and stay: "acme"/);
    for (const expiry of ['29d', '365d']) {
      const renewed = await create(['corp', 'dorn'], '--expires', expiry);
      assert.equal(renewed.code, 0, renewed.stderr);
    }
  }));

test('token:create --due makes tokens of new names, and of those whose last one ends soon', () =>
  inWorld({}, async ({ server }) => {
    const create = async (names: readonly string[], ...args: string[]) => {
      const { code, stdout, stderr } = await runCommand([
        'token:create', '--scope', 'read', '--data', server.data, '--webhook', '{name}',
        ...names.flatMap((name) => ['--name', name]), ...args,
      ], { now: Date.now });
      assert.equal(code, 0, stderr);
      return { names: stdout.split('\n').map((line) => line.split('\t')[0]), stdout, stderr };
    };
    await create(['acme'], '--expires', '90d');
    await create(['bolt'], '--expires', '29d');
    const names = ['acme', 'bolt', 'corp'];
    const due = await create(names, '--due', '--expires', '365d');
    assert.deepEqual(due.names, ['bolt', 'corp', '']);
    assert.match(due.stderr, /1 of 3 names left out, as a token of that name and for the same we/);
    assert.match(due.stderr, /ooks does not end within 30 days: "acme"; --replace makes another/);
    assert.match(due.stderr, /tokens in force have the same name, and stay: "bolt"/);
    const none = await create(names, '--due');
    assert.equal(none.stdout, '');
    assert.match(none.stderr, /3 of 3 names left out.*: "acme", "bolt", "corp"; --replace makes/);
    assert.equal((await create(['acme'], '--due')).stdout, '');
    assert.deepEqual(JSON.parse((await create(names, '--due', '--json')).stdout), []);
    assert.match((await create(['dorn'], '--due')).stdout, /^dorn\thookshelf_\S+\n$/);
  }));

test('token:create says whose scope it changes, and whom --due leaves out with another', () =>
  inWorld({}, async ({ server }) => {
    const create = async (scope: string, ...args: string[]): Promise<string> => {
      const { code, stderr } = await runCommand([
        'token:create', '--scope', scope, '--data', server.data, '--webhook', '{name}', ...args,
      ], { now: Date.now });
      assert.equal(code, 0, stderr);
      return stderr;
    };
    const both = ['--name', 'acme', '--name', 'bolt'];
    assert.doesNotMatch(await create('write', '--name', 'acme', '--expires', '20d'), /another/);
    const due = await create('resend', ...both, '--due', '--expires', '365d');
    assert.match(due, /the scope is another: "acme" had write and has resend now\n/);
    assert.doesNotMatch(due, /"bolt" had/);
    const left = await create('write', ...both, '--due');
    assert.match(left, /2 of 2 names left out/);
    assert.match(left, /left out with another scope than write: "acme" \(resend\), "bolt" \(res/);
    assert.doesNotMatch(await create('resend', ...both, '--due'), /another scope/);
    assert.match(await create('write', '--name', 'bolt', '--replace'),
      /: "bolt" had resend and has write now\n/);
    assert.match(await create('resend', '--name', 'bolt', '--webhook', 'bolt.*', '--replace'),
      /: "bolt" had write and has resend now\n/);
  }));

test('token:create --due says that tokens of 30 days are made again by each run', () =>
  inWorld({}, async ({ server }) => {
    for (const [name, expires, isSaid] of [
      ['acme', '30d', true], ['bolt', '12h', true], ['corp', '365d', false],
    ] as const) {
      const { stderr } = await runCommand(['token:create', '--scope', 'read', '--data',
        server.data, '--webhook', '{name}', '--name', name, '--due', '--expires', expires,
      ], { now: Date.now });
      assert.equal(/each run with --due makes others/.test(stderr), isSaid, stderr);
    }
  }));

test('a token for other webhooks, or of the operator, takes no link from a customer', () =>
  inWorld({ acme: {}, bolt: {} }, async ({ server, operator }) => {
    const create = (...args: string[]) => runCommand(
      ['token:create', '--data', server.data, '--scope', 'read', ...args], { now: Date.now });
    await create('--name', 'bolt');
    await create('--name', 'acme', '--webhook', 'acme');
    const webhooks = ['--webhook', '{name}', '--webhook', '{name}.*'];
    const made = await create('--name', 'acme', '--name', 'bolt', ...webhooks, '--due');
    assert.deepEqual(made.stdout.split('\n').map((line) => line.split('\t')[0]),
      ['acme', 'bolt', '']);
    assert.match(made.stderr, /tokens in force have the same name, and stay: "acme", "bolt"; /);
    assert.doesNotMatch(made.stderr, /left out/);
    // The order of the webhooks makes no other binding.
    const again = await create(
      '--name', 'acme', '--name', 'bolt', ...webhooks.slice(2), ...webhooks.slice(0, 2), '--due');
    assert.deepEqual([again.code, again.stdout], [0, '']);
    assert.equal((await create('--name', 'acme', '--name', 'bolt', ...webhooks)).code, 1);
    assert.equal(parseList(await operator('GET', '/api/tokens')).length, 5);
  }));

test('a token that is for no webhook yet says what its holder sees', () =>
  inWorld({ acme: {} }, async ({ server }) => {
    const { stderr } = await runCommand(['token:create', '--data', server.data, '--scope', 'read',
      '--name', 'acme', '--webhook', 'acme.*']);
    assert.match(stderr, /for 0 outgoing webhooks now, and its holder sees nothing: none is ca/);
    assert.match(stderr, /none is called acme\.\*\n/);
  }));

test('a refused bulk creation names each name that has a token', () =>
  inWorld({}, async ({ server }) => {
    const names = Array.from({ length: 7 }, (_, index) => `--name=c${index}`);
    const command = ['token:create', '--scope', 'emit', '--data', server.data, ...names];
    assert.equal((await runCommand(command)).code, 0);
    const refused = await runCommand(command);
    assert.match(refused.stderr, /for "c0", "c1", "c2", "c3", "c4", "c5", "c6": leave/);
  }));

test('more tokens at once than there may be: none is made', () =>
  inWorld({}, async ({ server, operator }) => {
    const names = Array.from({ length: 1000 }, (_, index) => `--name=c${index}`);
    const refused = await runCommand(
      ['token:create', '--scope', 'emit', '--data', server.data, ...names]);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /as 1000 may be in force: there are 1, and 1000 would come/);
    assert.equal(parseList(await operator('GET', '/api/tokens')).length, 1);
  }));

const when = { path: 'payload.customer', op: 'eq', value: 'bolt' };

test('token:create and doctor tell which webhooks several tokens see, and what all hear', () =>
  inWorld({
    acme: {}, 'acme-labs': { when }, bolt: { when }, corp: { triggerEvent: 'corp.*' },
  }, async ({ server }) => {
    const create = async (name: string, ...webhooks: string[]): Promise<string> => {
      const { code, stderr } = await runCommand(['token:create', '--name', name, '--scope', 'write',
        '--data', server.data, ...webhooks.flatMap((webhook) => ['--webhook', webhook])]);
      assert.equal(code, 0, stderr);
      return stderr;
    };
    const look = async (): Promise<readonly unknown[]> => {
      const { stdout } = await runCommand(['doctor', '--json', '--data', server.data]);
      return parseList({ text: stdout }).filter(({ check }) => check === 'bound tokens')
        .map(({ status, detail }) => `${String(status)}: ${String(detail)}`);
    };
    assert.doesNotMatch(await create('labs', 'acme-labs'), /several/);
    assert.doesNotMatch(await create('labs', 'acme-labs'), /several/);
    assert.match(await create('acme', 'acme', 'acme-*'),
      /several tokens see the same webhooks: acme-labs \("labs", "acme"\)\n/);
    for (const name of ['bolt', 'corp', 'idle']) await create(name, name);
    const [reach, idle, shared, unconditional, ...others] = await look();
    assert.ok(String(reach).startsWith('warning: the holder of "labs", "labs", "acme", "bolt", '
      + '"corp" and 1 more sets the targets'), String(reach));
    assert.equal(idle, 'hint: no webhook is there for "idle", whose holder sees nothing');
    assert.equal(shared, 'hint: several tokens see the same webhooks: acme-labs ("labs", "acme")');
    assert.equal(unconditional, 'warning: webhooks without a condition hear what is not for their '
      + 'token alone: acme (order.*)');
    assert.deepEqual(others, []);
  }));

test('a rename tells which tokens lose a webhook by it, and which get it', () =>
  inWorld({ acme: {}, other: {} }, async ({ server, operator }) => {
    for (const name of ['acme', 'bolt']) await makeBoundToken(server.data, 'read', name);
    const renamed = await runCommand(['outgoingwebhook:update', '--identifier', 'acme', '--name',
      'bolt', '--data', server.data]);
    assert.equal(renamed.code, 0, renamed.stderr);
    assert.match(renamed.stderr, /out of sight of the bound tokens "acme"\n/);
    assert.match(renamed.stderr, /in sight of the bound tokens "bolt"\n/);
    assert.match(server.log(), /"level":"warning","message":"the name of a webhook changes/);
    assert.match(server.log(),
      /"formerName":"acme","name":"bolt","lostBy":\["acme"\],"seenBy":\["bolt"\]/);
    await operator('PATCH', '/api/outgoing-webhooks/other', { name: 'another' });
    assert.equal(server.log().split('the name of a webhook').length, 2);
  }));

test('who sees a webhook that is made, and who stays when it is deleted, is told', () =>
  inWorld({}, async ({ server, operator, customer, target }) => {
    for (const name of ['acme', 'acme-*', 'bolt']) await makeBoundToken(server.data, 'read', name);
    const run = async (command: string, ...args: string[]): Promise<string> => {
      const { code, stderr } = await runCommand([command, ...args, '--data', server.data]);
      assert.equal(code, 0, stderr);
      return stderr;
    };
    const create = (name: string): Promise<string> => run('outgoingwebhook:create', '--name', name,
      '--target-url', target.url, '--trigger-event', 'order.*');
    assert.match(await create('acme-labs'), /: it is in sight of the bound tokens "acme-\*"\n/);
    assert.match(server.log(), /"formerName":null,"name":"acme-labs","lostBy":\[\],"seenBy":\["a/);
    assert.doesNotMatch(await create('corp'), /bound tokens/);
    assert.match(await create('bolt'), new RegExp(': webhooks without a condition hear what is not '
      + 'for their token alone: bolt \\(order\\.\\*\\); .*outgoingwebhook:update --when\n'));
    const condition = ['--when', JSON.stringify(when)];
    assert.doesNotMatch(await run('outgoingwebhook:update', 'bolt', ...condition), /condition/);
    assert.doesNotMatch(server.log(), /no condition any more/);
    const unset = await run('outgoingwebhook:update', 'bolt', '--unset', 'when');
    assert.match(server.log(), /"level":"warning","message":"a webhook that tokens see has no /);
    assert.match(unset, /webhooks without a condition hear/);
    const described = await run('outgoingwebhook:update', 'bolt', '--description', 'of bolt');
    assert.doesNotMatch(described, /condition/);
    await run('outgoingwebhook:delete', '--identifier', 'bolt');
    const made = await operator('POST', HOOKS,
      { name: 'bolt', targetUrl: target.url, triggerEvent: 'order.*' });
    assert.match(String(made.headers['x-hint']),
      /^webhooks without a condition hear .*: bolt \(order\.\*\); if not all is for them/);
    const hintOf = async (patch: object): Promise<unknown> =>
      (await operator('PATCH', `${HOOKS}/bolt`, patch)).headers['x-hint'];
    assert.match(String(await hintOf({ triggerEvents: ['order.日本'], triggerEvent: null })),
      /: bolt \(order\.%E6%97%A5%E6%9C%AC\);/);
    assert.equal(await hintOf({ when }), undefined);
    assert.match(String(await hintOf({ when: null })), /bolt/);
    const own = await (await customer('resend', 'bolt'))(
      'PATCH', `${HOOKS}/bolt`, { enabled: false });
    assert.deepEqual([own.status, own.headers['x-hint']], [200, undefined]);
    await run('outgoingwebhook:delete', '--identifier', 'bolt');
    assert.match(await run('outgoingwebhook:delete', '--identifier', 'acme-labs'),
      /: the bound tokens "acme-\*" stay, also for a later webhook of such a name/);
    assert.match(server.log(), /"tokens that saw a deleted webhook stay",.*"lostBy":\["a/);
    assert.doesNotMatch(await run('outgoingwebhook:delete', '--identifier', 'corp'),
      /bound tokens/);
    await operator('POST', HOOKS, { name: 'bolt', targetUrl: target.url, triggerEvent: 'order.*' });
    assert.match(server.log(),
      /"name":"bolt","lostBy":\[\],"seenBy":\["bolt"\],"hasCondition":false/);
    const file = join(server.data, 'hooks.json');
    const apply = (...outgoingWebhooks: readonly object[]): Promise<string> => {
      writeFileSync(file, JSON.stringify({ outgoingWebhooks }));
      return run('apply', '--file', file, '--prune', '--yes');
    };
    const given = { name: 'acme', targetUrl: target.url, triggerEvent: 'order.*' };
    writeFileSync(file, JSON.stringify({ outgoingWebhooks: [given] }));
    const dryRun = await runCommand(['apply', '--file', file, '--dry-run', '--data', server.data]);
    assert.equal(dryRun.code, 3, dryRun.stderr);
    assert.match(dryRun.stderr, /webhooks without a condition hear .*: acme \(order\.\*\); if not/);
    const plan = async (...outgoingWebhooks: readonly object[]): Promise<unknown> => parse(
      await operator('PUT', '/api/configuration', { outgoingWebhooks, dryRun: true }))['hints'];
    assert.match(String(await plan(given)),
      /^webhooks without a condition hear .*: acme \(order\.\*\); if not/);
    assert.deepEqual([await plan({ ...given, when }), await plan()], [undefined, undefined]);
    const applyStderr = await apply(given);
    assert.match(applyStderr, /outgoing webhook acme: it is in sight of the bound tokens "acme"\n/);
    assert.match(applyStderr, /webhooks without a condition hear .*: acme \(order\.\*\); if not/);
    assert.match(await apply(), /outgoing webhook acme: the bound tokens "acme" stay/);
  }));

test('doctor warns of customers who reach addresses of this machine, and of no others', () =>
  inWorld({ acme: {} }, async ({ server, customer }) => {
    const look = async (): Promise<unknown> => {
      const { stdout } = await runCommand(['doctor', '--json', '--data', server.data]);
      return parseList({ text: stdout }).find(({ check }) => check === 'bound tokens')?.['status'];
    };
    for (const scope of ['read', 'resend'] as const) await customer(scope, 'acme');
    assert.equal(await look(), 'ok');
    await customer('write', 'acme');
    assert.equal(await look(), 'warning');
    const revoked = await runCommand(['token:list', '--json', '--data', server.data]);
    const id = String(parseList({ text: revoked.stdout }).at(-1)?.['identifier']);
    await runCommand(['token:revoke', id, '--data', server.data]);
    assert.equal(await look(), 'ok');
  }));

test('nothing is said of denied addresses; doctor names a token that is for no webhook', () =>
  inWorld({}, async ({ server }) => {
    const made = await runCommand(['token:create', '--name', 'acme', '--scope', 'write',
      '--webhook', 'acme', '--data', server.data]);
    assert.doesNotMatch(made.stderr, /denyAddresses/);
    const { stdout } = await runCommand(['doctor', '--json', '--data', server.data]);
    const found = parseList({ text: stdout }).find(({ check }) => check === 'bound tokens');
    assert.deepEqual([found?.['status'], found?.['detail']],
      ['hint', 'no webhook is there for "acme", whose holder sees nothing']);
  }, { HOOKSHELF_HTTP_DENY_ADDRESSES: 'link-local,metadata,loopback,private' }));
