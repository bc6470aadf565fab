import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  checkDurability, type Durability,
} from '../../../../src/store/engines/postgres/server-checks.ts';
import {
  formatAddress, parsePostgresUrl,
} from '../../../../src/store/engines/postgres/postgres-url.ts';

test('a URL is read with what stands in it, decoded', () => {
  assert.deepEqual(parsePostgresUrl('postgres://shelf%40x:p%2Fw%3A%25@db.test:6432/books'
    + '?sslmode=verify-full&sslrootcert=%2Fca.pem&durability=engine'), {
    hosts: [{ host: 'db.test', port: 6432 }], user: 'shelf@x', password: 'p/w:%',
    database: 'books', durability: 'engine', tls: { verifies: 'name', authorities: '/ca.pem' },
  });
});

test('what a URL leaves out has a default; between machines that is verified TLS', () => {
  const { password, durability, hosts, tls } =
    parsePostgresUrl('postgresql://shelf@db.test/books');
  assert.deepEqual({ password, durability, hosts }, {
    password: null, durability: null,
    hosts: [{ host: 'db.test', port: 5432 }],
  });
  assert.equal(tls?.verifies, 'name');
});

const TLS: readonly (readonly [string, string, string | null])[] = [
  ['localhost', '', null], ['127.0.0.1:99', '', null], ['[::1]', '', null],
  ['%2Frun%2Fpg', '', null], ['a.test,localhost', '', 'name'],
  ['a.test', '?sslmode=disable', null], ['a.test', '?sslmode=verify-ca', 'chain'],
  ['localhost', '?sslmode=verify-full', 'name'], ['a.test', '?sslmode=require&verify=no', 'none'],
];
for (const [host, query, expected] of TLS) {
  test(`TLS to ${host || 'a folder'}, given ${query || 'nothing'}: ${expected ?? 'none'}`, () => {
    const { tls } = parsePostgresUrl(`postgres://u@${host}/b${query}`);
    assert.equal(tls?.verifies ?? null, expected);
  });
}

test('a plus in a parameter is a plus', () => {
  const { tls } = parsePostgresUrl('postgres://u@h/b?sslrootcert=/etc/a+b.pem');
  assert.equal(tls?.authorities, '/etc/a+b.pem');
});

test('several hosts are named in order, and the name shows no credentials', () => {
  const address = parsePostgresUrl('postgres://u:planted@a.test:1,[::2]:3,c.test/b');
  assert.deepEqual(address.hosts, [
    { host: 'a.test', port: 1 }, { host: '::2', port: 3 }, { host: 'c.test', port: 5432 },
  ]);
  assert.equal(formatAddress(address), 'postgres://a.test:1,[::2]:3,c.test:5432/b');
});

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['postgres://h/b', /names no user; it is postgres:\/\/<user>@<host>/],
  ['postgres://u:planted@h', /names no database/],
  ['postgres://u:planted@h/', /names no database/],
  ['postgres://u:planted@/b', /names no host/],
  ['postgres://u:planted@h:abc/b', /a port that is no number/],
  ['postgres://u:planted@h:0/b', /has the port 0, not 1 to 65535/],
  ['postgres://u:planted@h:99999/b', /has the port 99999/],
  ['postgres://u:pla#nted@h/b', /in a user or password, write \/ as %2F/],
  ['postgres://u:planted%@h/b', /write % itself as %25/],
  ['postgres://u:planted@h/b?sslmode=require', /does not check who answers.*or add verify=no/],
  ['postgres://u:planted@h/b?sslmode=prefer', /goes on without TLS when somebody asks/],
  ['postgres://u:planted@h/b?sslmode=on', /it is verify-full, verify-ca, require or disable/],
  ['postgres://u:planted@h/b?verify=yes', /`verify`, which can only be no/],
  ['postgres://u:planted@h/b?sslmod=disable', /`sslmod` that is none of [^:]+: did you mean/],
  ['postgres://u:planted@h/b?sslmode=', /gives `sslmode` no value/],
  ['postgres://u:planted@h/b?durability=none', /durability=none; it is engine .* or primary/],
  ['postgres://u:planted@h/b?durability=engine&durability=primary', /gives `durability` twice/],
];
for (const [url, pattern] of REFUSED) {
  test(`refused, and told how to mend it: ${url.replace('planted', '…')}`, () => {
    assert.throws(() => parsePostgresUrl(url), (thrown: unknown) => {
      assert.ok(thrown instanceof AppError);
      assert.equal(thrown.code, 'usage');
      assert.match(thrown.message, pattern);
      // It may stand in a setting, or behind data:move --to.
      assert.match(thrown.message, /^the PostgreSQL URL /);
      assert.doesNotMatch(thrown.message, /planted|pla#nted/);
      return true;
    });
  });
}

const DURABILITIES: readonly (readonly [string, string, string | null])[] = [
  ['', ' ANY 1 (a, b)', "waits for its standbys (synchronous_standby_names = 'ANY 1 (a, b)')"],
  ['?durability=primary', 'a', 'waits for its standbys'],
  ['?durability=primary', ' ', 'is on the disk of one machine'],
  ['?durability=engine', 'a', 'keeps several copies'],
  ['', '', null],
];
for (const [query, standbys, expected] of DURABILITIES) {
  test(`of a server with the standbys '${standbys}', given ${query || 'nothing'}, it is said: ${
    expected ?? 'not durable'}`, () => {
    const row = {
      version: 150_000, version_text: '15', encoding: 'UTF8', fsync: 'on',
      product: 'PostgreSQL 15', standbys,
    };
    const check = (): Durability =>
      checkDurability(row, parsePostgresUrl(`postgres://u@h/b${query}`));
    if (expected === null) return assert.throws(check, { code: 'misconfigured' });
    const { description, needsStandbys } = check();
    assert.ok(description.includes(expected), description);
    assert.equal(needsStandbys, expected.startsWith('waits'));
  });
}
