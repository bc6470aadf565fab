import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretName } from '../../../src/base/log.ts';
import type { JsonObject, ObjectSchema, Schema } from '../../../src/base/schema.ts';
import { describeObject } from '../../../src/base/schema-types.ts';
import { RECORD_KINDS } from '../../../src/webhooks/configuration/record-kinds.ts';
import {
  explainNewOrigin, replaceSecrets, keepSecrets, maskSecrets, showRecord,
} from '../../../src/webhooks/members/mask-secrets.ts';

/** No row says what is secret, as in free JSON. */
const FREE: ObjectSchema = { kind: 'object', members: {} };

function restoreSecrets(
  body: JsonObject, stored: JsonObject | null, target: string | null = null,
): JsonObject {
  const movedDetail = target === null ? null
    : explainNewOrigin(body[target], stored?.[target]);
  return keepSecrets(FREE, body, stored, 'replace', () => movedDetail);
}

const STORED = {
  url: 'https://user:p@ss@example.org/a?b=c',
  headers: { Authorization: 'Bearer x', 'X-A': '1' },
  password: 12345,
  token: { value: 'abc', scopes: ['x', 'y'], isOld: false, none: null },
  apiKeys: ['k1', 'k2'],
  nested: [{ clientSecret: 's', label: 'shown' }],
  pin: 5, pages: 7, hasSecret: true, plain: 'http://example.org/@me',
};

const SHOWN = {
  url: 'https://***@example.org/a?b=c',
  headers: { Authorization: '***', 'X-A': '***' },
  password: '***',
  token: { value: '***', scopes: ['***', '***'], isOld: false, none: null },
  apiKeys: ['***', '***'],
  nested: [{ clientSecret: '***', label: 'shown' }],
  pin: '***', pages: 7, hasSecret: true, plain: 'http://example.org/@me',
};

test('whatever stands under a secret-like name is hidden, of any type and depth', () => {
  assert.deepEqual(maskSecrets(FREE, STORED), SHOWN);
});

const ROWS: ObjectSchema = describeObject({
  kind: 'object',
  members: {
    code: { schema: { kind: 'string' }, isSecret: true },
    tokenUrl: { schema: { kind: 'string' } },
    map: { schema: { kind: 'json', isObject: true, bytesMax: 100, depthMax: 4 }, isSecret: true },
    open: { schema: FREE, isPublic: true },
    pair: {
      schema: {
        kind: 'object',
        members: {
          key: { schema: { kind: 'string' }, isSecret: true, isWriteOnly: true },
          part: { schema: { kind: 'string' }, isWriteOnly: true },
        },
      },
    },
    list: { schema: { kind: 'array', maxItems: 9, items: FREE } },
  },
});
const BY_ROWS = {
  code: 'c', tokenUrl: 'http://u:p@h/', map: { a: ['b', 1, null, true] },
  open: { secret: 's', headers: { a: 'b' }, url: 'http://u:p@h/' }, pair: { key: 'k', part: 'p' },
  list: [{ secret: 's', label: 'l' }], unknownToken: 't',
};

test('what is secret, and what is public, the rows say; names count where there are none', () => {
  const masked = {
    ...BY_ROWS, code: '***', tokenUrl: 'http://***@h/', map: { a: ['***', '***', null, true] },
    pair: { key: '***', part: 'p' }, list: [{ secret: '***', label: 'l' }], unknownToken: '***',
  };
  assert.deepEqual(maskSecrets(ROWS, BY_ROWS), masked);
  assert.deepEqual(showRecord(ROWS, BY_ROWS), { ...masked, pair: {} });
  const places: string[] = [];
  replaceSecrets(ROWS, BY_ROWS, (shown, steps) => {
    places.push(steps.join('.'));
    return shown;
  });
  assert.deepEqual(places, ['code', 'tokenUrl', 'map.a.1', 'map.a.2', 'pair.key', 'list.1.secret',
    'unknownToken']);
});

test('a replacement keeps the write-only members that it leaves out, and no other', () => {
  const body = { tokenUrl: 'http://h/', pair: {} };
  assert.deepEqual(keepSecrets(ROWS, body, BY_ROWS, 'replace'), { ...body, pair: BY_ROWS.pair });
  for (const cause of ['add', 'patch', 'apply'] as const) {
    assert.deepEqual(keepSecrets(ROWS, body, BY_ROWS, cause), body);
  }
  assert.deepEqual(keepSecrets(ROWS, { pair: { key: null } }, BY_ROWS, 'replace'),
    { pair: { key: null, part: 'p' } });
});

/** Members whose names alone sound secret, by their places. */
const HARMLESS = ['oauth2.tokenUrl', 'previousSecret', 'secretAwaitedUntil', 'hasSecret'];

function listOpenSecrets(
  { members }: ObjectSchema, above: readonly Schema[] = [], steps: readonly string[] = [],
): readonly string[] {
  return Object.entries(members).flatMap(([name, { schema, isSecret, isPublic }]) => {
    const place = [...steps, name].join('.');
    if (isSecret === true || isPublic === true || above.includes(schema)) return [];
    const inner = schema.kind === 'array' ? schema.items : schema;
    const within = inner.kind === 'object'
      ? listOpenSecrets(inner, [...above, schema], [...steps, name]) : [];
    return isSecretName(name) && !HARMLESS.includes(place) ? [place, ...within] : within;
  });
}

test('no member of ours has a secret-like name, and is shown', () => {
  for (const { schema } of RECORD_KINDS) assert.deepEqual(listOpenSecrets(schema), []);
});

test('what was shown, sent back, is what is stored', () => {
  assert.deepEqual(restoreSecrets(SHOWN, STORED), STORED);
});

test('a masked user and password, written apart, are the stored credentials as well', () => {
  assert.deepEqual(restoreSecrets({ url: 'https://***:***@example.org/new' }, STORED),
    { url: 'https://user:p@ss@example.org/new' });
});

const QUERY = 'http://h/a?x=%20&token=a%2Fb;c&y&API%5Fkey=k&token=second&empty_token=#secret=f';
const SHOWN_QUERY = 'http://h/a?x=%20&token=***&y&API%5Fkey=***&token=***&empty_token=#secret=***';

test('secret-like parameters of a URL are hidden, and nothing else of it changes', () => {
  assert.deepEqual(maskSecrets(FREE, { url: QUERY, list: [QUERY] }), { url: SHOWN_QUERY,
    list: [SHOWN_QUERY] });
  const both = 'https://u:p@h/?password=q';
  assert.deepEqual(maskSecrets(FREE, { url: both }), { url: 'https://***@h/?password=***' });
  assert.deepEqual(restoreSecrets({ url: 'https://***@i/?b=c&password=***' }, { url: both }),
    { url: 'https://u:p@i/?b=c&password=q' });
  for (const url of ['http://h/?tok=1', 'mail?token=1', '?token=1', 'http://token=1/']) {
    assert.deepEqual(maskSecrets(FREE, { url }), { url });
  }
});

test('a URL may begin with white space, as what reads it takes that off', () => {
  const stored = { url: ' \n\thttps://u:p@h/?token=t', headers: { A: 'kept' } };
  const shown = { url: ' \n\thttps://***@h/?token=***', headers: { A: '***' } };
  assert.deepEqual(maskSecrets(FREE, stored), shown);
  assert.deepEqual(restoreSecrets(shown, stored, 'url'), stored);
  assert.throws(() => restoreSecrets({ ...shown, url: ' https://elsewhere/' }, stored, 'url'),
    /given anew/);
});

test('hidden parameters sent back are the stored ones of that name, in their order', () => {
  const stored = { url: QUERY };
  const cases = [
    [SHOWN_QUERY, QUERY],
    ['http://i/?API_key=***', 'http://i/?API_key=k'],
    ['http://i/?token=***&token=***&x=***', 'http://i/?token=a%2Fb;c&token=second&x=***'],
    ['http://i/?token=%2A%2A%2A&token=new', 'http://i/?token=a%2Fb;c&token=new'],
  ];
  for (const [given = '', kept] of cases) {
    assert.deepEqual(restoreSecrets({ url: given }, stored), { url: kept });
  }
  for (const url of ['http://h/?Token=***', 'http://h/?token=***&token=***&token=***']) {
    assert.throws(() => restoreSecrets({ url }, stored), { code: 'invalid' }, url);
    assert.throws(() => restoreSecrets({ url }, null), { code: 'invalid' }, url);
  }
});

test('a part is replaced and the rest is kept', () => {
  const changed = { ...SHOWN, token: { value: 'new', scopes: ['***'] }, password: '***' };
  assert.deepEqual(restoreSecrets(changed, STORED),
    { ...STORED, token: { value: 'new', scopes: ['x'] } });
});

test('*** that nothing is stored for is refused with its place', () => {
  assert.throws(() => restoreSecrets({ headers: { New: '***' }, apiKeys: ['***', '***', '***'] },
    STORED), {
    code: 'invalid',
    details: {
      errors: ['/headers/New', '/apiKeys/2'].map((pointer) =>
        ({ pointer, detail: 'has no stored value that *** could keep' })),
    },
  });
});

test('*** keeps nothing once a target has another origin', () => {
  const stored = { url: 'https://u:p@h/a?token=t', headers: { A: 'kept', Referer: 'https://r/' } };
  const headers = { A: '***', Referer: 'https://elsewhere/' };
  for (const url of ['https://h/other', 'https://***@h:443/?token=***', 'https://H/']) {
    const kept = restoreSecrets({ url, headers }, stored, 'url');
    assert.deepEqual(kept['headers'], { ...headers, A: 'kept' });
  }
  for (const url of ['http://h/a', 'https://i/', 'https://h:444/', 'https://***@i/?token=***']) {
    assert.throws(() => restoreSecrets({ url, headers }, stored, 'url'),
      /\/.*: must be given anew/, url);
  }
});
