import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import {
  createLogger, createRedactingLogger, hideSecretText, isSecretName, redactText, silentLogger,
} from '../../src/base/log.ts';
import { redact } from '../support/redact.ts';
import type { LogLevel } from '../../src/base/log.ts';

function capture(level: LogLevel, format: 'json' | 'pretty') {
  const lines: string[] = [];
  const logger = createLogger({ level, format, write: (line) => lines.push(line), now: () => 0 });
  return { lines, logger };
}

test('a line is one JSON object with time, level and message first', () => {
  const { lines, logger } = capture('info', 'json');
  logger.info('hello', { port: 8000 });
  assert.deepEqual(lines, [
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"hello","port":8000}\n',
  ]);
});

test('lines below the level are not written', () => {
  const { lines, logger } = capture('warning', 'json');
  logger.debug('a');
  logger.info('b');
  logger.warning('c');
  logger.error('d');
  assert.deepEqual(lines.map((line) => JSON.parse(line).level), ['warning', 'error']);
});

test('a message cannot forge a second line or move a terminal', () => {
  const { lines, logger } = capture('info', 'pretty');
  logger.info('one\ntwo \u001b[31mred');
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.trimEnd().includes('\n'), false);
  assert.equal(lines[0]?.includes('\u001b'), false);
});

test('secrets are named by the contract', () => {
  const secret = [
    'authorization', 'Proxy-Authorization', 'cookie', 'X-Signature', 'webhook-signature',
    'x-hub-signature', 'X-Hub-Signature-256', 'x-api-key', 'password', 'secret', 'clientSecret',
    'token', 'clientState', 'apiToken', 'apiKey', 'api_key', 'set-cookie', 'stripe-signature',
    'Linear-Signature', 'x-slack-signature', 'x-shopify-hmac-sha256', 'x-signature-ed25519',
    'X-Amz-Signature', 'HMAC', 'x-hmacsha256', 'bodyHmac', 'sig', 'SIG', 'urlSig', 'x_sig',
    'sig256', 'pwd', 'userPwd', 'dbpwd', 'pin', 'PIN', 'cardPin', 'PINCode', 'pin-1',
    'X-Gitlab-Token', 'authtoken', 'access_token', 'clientsecret', 'passwd', 'Pass-Word',
    'passphrase', 'privateKey', 'private-key', 'X-Amz-Credential', 'x-auth-token', 'cookies',
    'WWW-Authorization', 'xapikey',
  ];
  for (const name of secret) assert.ok(isSecretName(name), name);
  for (const name of [
    'title', 'content-type', 'keywords', 'webhook-id', 'signal',
    'author', 'authors', 'authorName', 'keyword', 'monkey', 'key', 'shipping', 'pinned', 'opinion',
    'spin', 'pins', 'design', 'assign', 'signed', 'withMac', 'mouthMachine', 'compass', 'session',
    'x-request-id', 'accept-encoding', 'numberOfPages', '', '签名', '__proto__', 'constructor',
  ]) {
    assert.ok(!isSecretName(name), name);
  }
});

test('credentials in a URL are found to their last @, and its secret-like parameters', () => {
  const cases = [
    ['http://u:p@ss@host/a', 'http://***@host/a'],
    ['see https://u:p@h:1/?x=1&token=abc&y=2#z.', 'see https://***@h:1/?x=1&token=***&y=2#z.'],
    ['http:///u:p@host/', 'http:///***@host/'],
    ['api_key=abc&a=1', 'api_key=***&a=1'],
    ['http://h/?api%5Fkey=abc&%74oken=abc&%zz=1', 'http://h/?api%5Fkey=***&%74oken=***&%zz=1'],
    ['http://h/?a=1;token=a;b&c=d', 'http://h/?a=1;token=***&c=d'],
    ['http://h/#access_token=abc&x=1', 'http://h/#access_token=***&x=1'],
    ['http://h/?to=http://i/?token=abc', 'http://h/?to=http://i/?token=***'],
    [`http://h/?${'x'.repeat(100)}token=abc`, `http://h/?${'x'.repeat(100)}token=***`],
    ['/?sig=a&pwd=b&pin=1&X-Amz-Signature=c&design=d', '/?sig=***&pwd=***&pin=***'
      + '&X-Amz-Signature=***&design=d'],
    ['?token=&auth[token]=abc', '?token=&auth[token]=***'],
    ['{"url":"http://h/?token=abc","b":1}', '{"url":"http://h/?token=***","b":1}'],
    ['{"a":"http://h","mail":"x@y"}', '{"a":"http://h","mail":"x@y"}'],
    ['http://h/@x?a=b', 'http://h/@x?a=b'],
  ];
  for (const [text = '', shown] of cases) assert.equal(redactText(text), shown);
});

test('secrets are found within escapes: in a URL in a query, and in JSON that is a string', () => {
  const json = (value: unknown): string => JSON.stringify(value);
  const cases = [
    ['next=https%3A%2F%2Fu%3Ap%40h%2Fa', 'next=https%3A%2F%2F***%40h%2Fa'],
    [`a=1&next=${encodeURIComponent('https://h/?token=abc&x=1')}&b=2`,
      'a=1&next=https%3A%2F%2Fh%2F%3Ftoken%3D***%26x%3D1&b=2'],
    [encodeURIComponent(encodeURIComponent('http://u:p@h')), 'http%253A%252F%252F***%2540h'],
    ['?token=a%26b&c', '?token=***&c'],
    ['{"password":"p","a":1}', '{"password":"***","a":1}'],
    ['{"password" : 7, "a":1}', '{"password" : ***, "a":1}'],
    ['{"token":{"a":["p","}"]},"b":"c"}', '{"token":***,"b":"c"}'],
    ['{"hasSecret":true,"secret":null,"token":""}', '{"hasSecret":true,"secret":null,"token":""}'],
    ['{"password":"p', '{"password":"***'],
    ['{"\\u0070assword":"p"}', '{"\\u0070assword":"***"}'],
    ['"https:\\/\\/u:p@h\\/"', '"https:\\/\\/***@h\\/"'],
    [json({ a: json({ password: 'p"q', b: 1 }) }), json({ a: json({ password: '***', b: 1 }) })],
    [json({ a: json({ b: json({ pin: 'p' }) }) }), json({ a: json({ b: json({ pin: '***' }) }) })],
    [`payload=${encodeURIComponent('{"token":"p","n":1}')}`,
      'payload=%7B%22token%22%3A%22***%22%2C%22n%22%3A1%7D'],
    ['{"keyword":"k","note":"100% \\"sure\\" in C:\\\\new"}',
      '{"keyword":"k","note":"100% \\"sure\\" in C:\\\\new"}'],
    ['%zz?é%C3%A9&token=%C3%A9', '%zz?é%C3%A9&token=***'],
  ];
  for (const [text = '', shown] of cases) assert.equal(redactText(text), shown);
});

for (const piece of [
  'a.', 'a+', '://', ':/', '&a', '?a=', '&token=', ';', '/%74=', '@', '%2525', '\\\\', '\\"',
  '"a":', '"token":{', '"token":"', '"token":1,', '%22token%22%3A',
]) {
  test(`redaction of a long run of "${piece}" takes no time to speak of`, () => {
    const text = piece.repeat(1_000_000 / piece.length);
    const before = process.cpuUsage();
    redactText(text);
    // Linear is some tens of milliseconds; quadratic, minutes. Of our own, whoever else is busy.
    assert.ok(process.cpuUsage(before).user < 10_000_000);
  });
}

test('redaction hides secrets at any depth and keeps the rest', () => {
  const shown = redact({
    headers: { authorization: 'Bearer abc', accept: '*/*' },
    list: [{ password: 'p' }],
    hasSecret: true,
    target: 'http://user:pass@example.org/x',
  });
  assert.deepEqual(shown, {
    headers: { authorization: '***', accept: '*/*' },
    list: [{ password: '***' }],
    hasSecret: true,
    target: 'http://***@example.org/x',
  });
});

test('an error is shown with its code and cause, without URL credentials', () => {
  const cause = new Error('connect to https://u:hunter2@proxy:1 failed');
  const text = JSON.stringify(redact({ error: new AppError('internal', 'no', {}, cause) }));
  assert.ok(text.includes('"code":"internal"'));
  assert.ok(text.includes('https://***@proxy:1'));
  assert.ok(!text.includes('hunter2'));
});

test('text without credentials passes as it is', () => {
  for (const text of ['see http://example.org/a@b', 'mail me@example.org', 'a://b/c?d=@e']) {
    assert.equal(redactText(text), text);
  }
});

test("a program's own logger is told no secret", () => {
  const told: unknown[] = [];
  const tell = (message: string, fields?: unknown): void => void told.push([message, fields]);
  const logger = createRedactingLogger({ debug: tell, info: tell, warning: tell, error: tell });
  logger.warning('to http://u:planted@h/', { token: 'planted', nested: { password: 'planted' } });
  assert.deepEqual(told, [['to http://***@h/', { token: '***', nested: { password: '***' } }]]);
});

test('cuts very deep nesting short', () => {
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
  const shown = JSON.stringify(redact(deep));
  assert.match(shown, /^\[{10,30}"…"\]{10,30}$/);
});

test('a logger says whether lines at debug go nowhere', () => {
  const at = (level: 'debug' | 'info') => createLogger({
    level, format: 'json', write() {}, now: () => 0,
  });
  const keep = { level: 'debug' as const, now: () => 0, keep() {} };
  const cases = [
    [at('debug'), true], [at('info'), false], [silentLogger, false],
    [createRedactingLogger(at('debug')), true], [createRedactingLogger(at('info')), false],
    [createRedactingLogger(silentLogger, keep), true],
  ] as const;
  for (const [index, [logger, expected]] of cases.entries()) {
    assert.equal(logger.isWritten?.('debug'), expected, String(index));
  }
});

test('a known secret is found in a text, also within escapes', () => {
  const secret = 'a+b/c=="d';
  const cases = [
    [secret, '***'], [`x${secret}${secret}y`, 'x******y'], ['a+b/c', 'a+b/c'],
    [JSON.stringify({ echo: secret }), '{"echo":"***"}'],
    [JSON.stringify(secret).replaceAll('/', '\\/').replaceAll('=', '\\u003d'), '"***"'],
    [`?token=${encodeURIComponent(secret)}&x=1`, '?token=***&x=1'],
    [JSON.stringify({ url: `/?q=${encodeURIComponent(JSON.stringify(secret))}` }),
      '{"url":"/?q=%22***%22"}'],
  ];
  for (const [text = '', shown] of cases) assert.equal(hideSecretText(text, secret), shown);
});
