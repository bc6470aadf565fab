import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLockedOut, parseAccessState } from '../../src/access/access-state.ts';
import { TOKENS, TOKENS_MAX, Tokens } from '../../src/access/tokens.ts';
import { AppError } from '../../src/base/errors.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { MemoryStore } from '../support/memory-store.ts';

const MINUTE_MS = 60_000;

type Place = { readonly tokens: Tokens; readonly store: MemoryStore; readonly clock: ManualClock };

function open(
  store = createMemoryStore([TOKENS]), clock = new ManualClock(), log: Logger = silentLogger,
): Place {
  const makeId = createIdSource(clock);
  return { tokens: new Tokens({ store, clock, makeId, log }), store, clock };
}

async function create(tokens: Tokens, more: object = {}): Promise<{ id: string; text: string }> {
  const { identifier, token } = await tokens.create({ name: 'ci', scope: 'write', ...more });
  return { id: String(identifier), text: String(token) };
}

test('a token is good for its scope, and what is stored cannot be used', async () => {
  const { tokens, store } = open();
  const { text } = await create(tokens);
  assert.deepEqual([tokens.verify(text)?.scope, tokens.verify(`${text}x`)], ['write', null]);
  const [[stored]] = [store.lines.flat().map(({ json }) => json ?? '')];
  assert.ok(stored !== undefined && !stored.includes(text));
  const { hash } = JSON.parse(stored);
  assert.equal(tokens.verify(hash), null);
});

test('events bind a token of the scope emit alone, and are names or patterns', async () => {
  const { tokens } = open();
  const { text } = await create(tokens, { scope: 'emit', events: ['order.*', 'invoice.paid'] });
  const grant = tokens.verify(text);
  assert.deepEqual([grant?.scope, grant?.events], ['emit', ['order.*', 'invoice.paid']]);
  for (const [body, pointer] of [
    [{ scope: 'write', events: ['order.*'] }, '/events'],
    [{ scope: 'emit', events: [] }, '/events'],
    [{ scope: 'emit', events: ['a,b'] }, '/events/0'],
    [{ scope: 'emit', events: ['or*'] }, '/events/0'],
  ] as const) {
    await assert.rejects(create(tokens, body), ({ details }) =>
      details.errors[0].pointer === pointer, JSON.stringify(body));
  }
});

test('a token for emitting or following alone closes the API, and opens it to nobody', async () => {
  const { tokens } = open();
  for (const scope of ['emit', 'follow']) await create(tokens, { scope });
  assert.deepEqual([tokens.hasUsableToken, tokens.hasReadingToken], [true, false]);
  assert.ok(tokens.createAnonymousVerifier().isRequired);
  await create(tokens, { scope: 'read' });
  assert.ok(tokens.hasReadingToken);
});

test('a token that replaces those of its name is made, and they end, in one transaction',
  async () => {
    const { tokens, store } = open();
    const first = await create(tokens, { scope: 'read', webhooks: ['ci'] });
    const second = await create(tokens);
    const other = await create(tokens, { name: 'web' });
    const linesBefore = store.lines.length;
    const { token } = await tokens.create({ name: 'ci', scope: 'read' }, { isReplacing: true });
    assert.equal(store.lines.length, linesBefore + 1);
    assert.deepEqual([first.text, second.text, other.text, String(token)]
      .map((text) => tokens.verify(text)?.scope), [undefined, undefined, 'write', 'read']);
  });

test('a list shows neither text nor hash', async () => {
  const { tokens } = open();
  const { text } = await create(tokens);
  const shown = JSON.stringify(tokens.list());
  assert.ok(!shown.includes(text) && !shown.includes('hash'));
});

test('a token ends when it expires, at the very millisecond', async () => {
  const { tokens, clock } = open();
  const { text } = await create(tokens, { expiresAt: '90m' });
  await clock.advance(90 * MINUTE_MS - 1);
  assert.equal(tokens.verify(text)?.scope, 'write');
  await clock.advance(1);
  assert.equal(tokens.verify(text), null);
});

test('an expiry that has passed, or is none, is refused', async () => {
  const { tokens } = open();
  for (const expiresAt of ['2025-12-31T23:59:59Z', 'soon', '0d', '2026-02-30T00:00:00Z', '-1d',
    '2027-01-31T24:00:00Z', '2027-01-31T12:00:00+0000', '2027-01-31T12:00Z', '2027-02-30']) {
    await assert.rejects(create(tokens, { expiresAt }), { code: 'invalid' }, expiresAt);
  }
});

test('a token is needed from the first one on, also when none is good any more', async () => {
  const { tokens } = open();
  const anonymous = tokens.createAnonymousVerifier();
  assert.deepEqual([tokens.isRequired, anonymous.isRequired], [false, false]);
  const { id, text } = await create(tokens);
  assert.deepEqual([tokens.isRequired, anonymous.isRequired], [true, true]);
  await tokens.revoke(id);
  assert.deepEqual([tokens.isRequired, anonymous.isRequired], [true, false]);
  assert.equal(tokens.verify(text), null);
});

test('a configured token closes the API as one that was made does, and stands in no list',
  async () => {
    const { tokens, store, clock } = open();
    await tokens.recordConfiguredToken();
    await tokens.recordConfiguredToken();
    assert.equal(store.lines.length, 1);
    assert.deepEqual([tokens.list(), tokens.hasUsableToken], [[], false]);
    const { identifier } = JSON.parse(store.lines[0]?.[0]?.json ?? '');
    await assert.rejects(tokens.revoke(identifier), { code: 'not_found' });
    const again = open(store, clock).tokens;
    assert.deepEqual([again.createAnonymousVerifier().isRequired, again.isRequired],
      [false, true]);
  });

test('tokens are known again after a restart, revoked ones as such', async () => {
  const { tokens, store, clock } = open();
  const good = await create(tokens);
  const gone = await create(tokens);
  await tokens.revoke(gone.id);
  const again = open(store, clock).tokens;
  assert.deepEqual([again.isRequired, again.verify(good.text)?.scope], [true, 'write']);
  assert.equal(again.verify(gone.text), null);
});

test('the last use is written once a minute, however often a token is used', async () => {
  const { tokens, store, clock } = open();
  const { text } = await create(tokens);
  const writes = async (): Promise<number> => {
    await clock.advance(0);
    return store.lines.length - 1;
  };
  for (let count = 0; count < 100; count += 1) tokens.verify(text);
  assert.equal(await writes(), 1);
  await clock.advance(MINUTE_MS - 1);
  tokens.verify(text);
  assert.equal(await writes(), 1);
  await clock.advance(1);
  tokens.verify(text);
  assert.equal(await writes(), 2);
  assert.equal(tokens.list()[0]?.['lastUsedAt'], '2026-01-01T00:01:00.000Z');
});

test('a use is allowed where its time cannot be written, and the log says so', async () => {
  const lines: string[] = [];
  const log = { ...silentLogger, warning: (message: string) => void lines.push(message) };
  const { tokens, store, clock } = open(undefined, undefined, log);
  const { text } = await create(tokens);
  store.setFailure(new AppError('storage_full', 'full'));
  assert.equal(tokens.verify(text)?.scope, 'write');
  await clock.advance(0);
  assert.deepEqual(lines, ['the last use of an API token was not recorded']);
});

test('a use and a revocation at once leave the token revoked', async () => {
  const { tokens, clock } = open();
  const { id, text } = await create(tokens);
  const revoking = tokens.revoke(id);
  tokens.verify(text);
  await revoking;
  await clock.advance(0);
  assert.equal(tokens.verify(text), null);
  assert.ok(tokens.list()[0]?.['revokedAt'] !== undefined);
});

test('at most a thousand tokens are in force: revoked and expired ones do not count', async () => {
  const { tokens, clock } = open();
  const { id } = await create(tokens);
  await create(tokens, { expiresAt: '1m' });
  for (let count = 2; count < TOKENS_MAX; count += 1) await create(tokens);
  await assert.rejects(create(tokens), { code: 'conflict' });
  await tokens.revoke(id);
  await create(tokens);
  await assert.rejects(create(tokens), { code: 'conflict' });
  await clock.advance(60_000);
  await create(tokens);
  await assert.rejects(create(tokens), { code: 'conflict' });
});

test('a token is bound to webhooks with a scope for that, by names that may be', async () => {
  const { tokens } = open();
  const { id, text } = await create(tokens, { scope: 'resend', webhooks: ['acme', 'acme-*'] });
  assert.deepEqual(tokens.verify(text), {
    scope: 'resend', name: 'ci', expiresAtMs: undefined,
    binding: { tokenId: id, webhooks: ['acme', 'acme-*'] },
  });
  const many = Array.from({ length: 21 }, (_, index) => `a${index}`);
  for (const [body, pointer] of [
    [{ scope: 'resend' }, '/scope'],
    ...['admin', 'emit', 'follow'].map((scope) =>
      [{ scope, webhooks: ['acme'] }, '/webhooks'] as const),
    ...[[], many, ['a', 'a'], ['*'], ['a*b'], ['a**'], ['A'], ['a b'], ['']].map((webhooks) =>
      [{ scope: 'read', webhooks }, '/webhooks'] as const),
    // Taken for absence, it would make a token of all webhooks, or of all events.
    [{ scope: 'read', webhooks: null }, '/webhooks'], [{ scope: 'emit', events: null }, '/events'],
  ] as const) {
    await assert.rejects(create(tokens, body), ({ code, details }) =>
      code === 'invalid' && details.errors[0].pointer.startsWith(pointer), JSON.stringify(body));
  }
});

test('an earlier program finds no hash of a bound token, and what it revokes stays revoked',
  async () => {
    const { tokens, store, clock } = open();
    const { id, text } = await create(tokens, { scope: 'write', webhooks: ['acme'] });
    const bytes = store.collection(TOKENS.name).findBytes(id);
    const stored = JSON.parse(String(bytes));
    assert.deepEqual([stored.scope, stored.boundScope, stored.webhooks, 'hash' in stored],
      ['read', 'write', ['acme'], false]);
    assert.deepEqual(open(store, clock).tokens.verify(text)?.scope, 'write');
    await store.transact((transaction) => {
      const revoked = { ...stored, revokedAt: stored.createdAt };
      transaction.put(TOKENS.name, id, JSON.stringify(revoked));
    });
    assert.equal(open(store, clock).tokens.verify(text), null);
  });

test('bound tokens close the API, and are none that lets an operator in', async () => {
  const { tokens } = open();
  await create(tokens, { scope: 'write', webhooks: ['acme'] });
  assert.deepEqual([tokens.hasUsableToken, tokens.hasReadingToken], [true, false]);
  assert.ok(tokens.createAnonymousVerifier().isRequired);
});

test('the state of access is read from what a server says, and from nothing else', () => {
  for (const [body, isClosed, hasUsableToken, allowsAnonymous] of [
    [{ isClosed: true, hasUsableToken: true }, true, true, false],
    [{ isClosed: true, hasUsableToken: false, allowsAnonymous: true }, true, false, true],
    [{ isClosed: 'true', hasUsableToken: 1, allowsAnonymous: 1 }, false, false, false],
    [null, false, false, false], ['', false, false, false],
  ] as const) {
    const state = parseAccessState(body);
    assert.deepEqual(state, { isClosed, hasUsableToken, allowsAnonymous });
    assert.equal(isLockedOut(state), isClosed && !hasUsableToken);
  }
});

test('the tokens that see a webhook are found without a look at all others', async () => {
  const { tokens } = open();
  const names = Array.from({ length: 900 }, (_, index) => `customer-${index}`);
  for (const name of names) {
    await create(tokens, { name, scope: 'read', webhooks: [name, `${name}.*`] });
  }
  const { id } = await create(tokens, { name: 'support', scope: 'read', webhooks: ['c*', 'u1'] });
  const start = process.cpuUsage();
  for (const name of names) {
    assert.deepEqual(tokens.listBoundNames({ identifier: 'u', name }).toSorted(),
      [name, 'support']);
  }
  // Each for each takes a second.
  assert.ok(process.cpuUsage(start).user < 500_000);
  assert.deepEqual(tokens.listBoundNames({ identifier: 'u1' }), ['support']);
  await tokens.revoke(id);
  assert.deepEqual(tokens.listBoundNames({ identifier: 'u1', name: 'customer-7.x' }),
    ['customer-7']);
});
