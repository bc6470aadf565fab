/**
 * A secret of each preset is planted, a previous one and a verify token. Whatever the API, the
 * commands, the log and the metrics say of right, wrong and broken requests: none comes out.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CUSTOM_SENDERS } from '../support/senders/custom.ts';
import type { Key, Sender, Sent } from '../support/senders/signer.ts';
import { SENDERS } from '../support/senders/table.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { send } from '../webhooks/relay.ts';
import { Heard } from './heard.ts';
import { processTitles } from './process-titles.ts';
import { hookshelf, startServer } from './processes.ts';

const MARK = `pl4nted${process.pid}`;
const LOUD = { HOOKSHELF_LOG_LEVEL: 'debug', HOOKSHELF_LOG_ACCESS: 'all' };

type Planted = {
  readonly sender: Sender; readonly path: string; readonly id: string;
  readonly keys: readonly Key[]; readonly verification: object;
};

class House {
  readonly heard = new Heard([MARK, Buffer.from(MARK).toString('base64').slice(0, -3),
    Buffer.from(`user ${MARK}`).toString('base64').slice(0, -4)]);
  readonly data: string;
  readonly port: number;

  constructor(data: string, port: number) {
    this.data = data;
    this.port = port;
  }

  async ask(
    method: string, path: string, body?: unknown, headers: Sent['headers'] = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await send(this.port, method, path, body, headers);
    this.heard.add(`${method} ${path}`, answer.text, JSON.stringify(answer.headers));
    return answer;
  }

  async run(...words: readonly string[]): Promise<number | null> {
    const ended = await hookshelf([...words, '--data', this.data], { environment: LOUD });
    this.heard.add(words.join(' '), ended.stdout, ended.stderr);
    return ended.code;
  }
}

test('no secret of a sender comes out anywhere', () => inFolder(async (data) => {
  const server = await startServer(['--data', data], { environment: LOUD });
  const house = new House(data, Number(new URL(server.url).port));
  try {
    await house.ask('POST', '/api/action-configurations',
      { identifier: 'sink', actionType: 'log', options: { level: 'debug' } });
    const planted: Planted[] = [];
    for (const [index, sender] of [...SENDERS, ...CUSTOM_SENDERS].entries()) {
      planted.push(await plant(house, sender, index));
    }
    for (const one of planted) await call(house, one);
    for (const one of planted) await change(house, one);
    // Commands ask the same routes, so one sender of each kind of key is enough for them.
    const kinds = new Map(planted.map((one) => [one.sender.makeKey, one]));
    for (const one of kinds.values()) await command(house, one);
    for (const path of ['/metrics', '/openapi.json', '/api/verification-presets',
      '/api/incoming-webhooks', '/docs']) {
      await house.ask('GET', path);
    }
    await house.run('incomingwebhook:list', '--json');
    await house.run('incomingwebhook:presets', '--json');
    await house.run('doctor');
    const titles = processTitles();
    assert.ok(titles.includes(data));
    house.heard.add('processes', titles);
  } finally {
    const { stdout, stderr } = await server.stop();
    house.heard.add('serve', stdout, stderr);
    assert.match(stderr, /"check":"mismatch"/);
    assert.ok(stderr.split('\n').length > 300, 'too little was logged to prove anything');
  }
  house.heard.check();
}));

async function plant(house: House, sender: Sender, index: number): Promise<Planted> {
  const keys = ['old', 'new'].map((age) => sender.makeKey(`${MARK}-${age}-${index}`));
  for (const { secret } of keys) forbid(house, secret);
  const { preset, ...settings } = sender.verification;
  const token = 'verifyToken' in settings ? { verifyToken: `${MARK}-token` } : {};
  const verification = { preset, ...settings, ...token };
  const path = `s${index}`;
  const { status, text } = await house.ask('POST', '/api/incoming-webhooks', {
    pathSegment: path, actionConfiguration: 'sink', secret: keys[0]?.secret, verification,
  });
  assert.equal(status, 201, text);
  return { sender, path, id: JSON.parse(text).identifier, keys, verification };
}

/** The secret, and of a long one its middle. */
function forbid(house: House, secret: string): void {
  const [longest = ''] = secret.split(/\s|_/).sort((left, right) => right.length - left.length);
  if (longest.length >= 32) house.heard.forbidden.add(longest.slice(8, 40));
}

/** Right, by another secret, changed, with the secret for a signature, and not signed at all. */
async function call(house: House, { sender, path, keys, verification }: Planted): Promise<void> {
  const [key, other] = keys;
  assert.ok(key && other);
  const wanted = {
    body: Buffer.from('{"a":1}'), atS: Math.floor(Date.now() / 1000), spell: (text: string) => text,
  };
  const right = sender.send(key, {
    ...wanted,
    spell(signature) {
      if (sender.encoding !== 'text') house.heard.forbidden.add(signature.slice(0, 24));
      return signature;
    },
  });
  const post = async (sent: Partial<Sent>): Promise<number> => {
    const query = sent.query === undefined || sent.query === '' ? '' : `?${sent.query}`;
    const { status } = await house.ask('POST', `/webhook/in/${path}${query}`, sent.body ?? '{}',
      sent.headers ?? {});
    return status;
  };
  assert.equal(await post(right), 200, sender.title);
  assert.equal(await post(sender.send(other, wanted)), 401);
  assert.equal(await post({}), 401);
  const { header } = sender;
  if (header !== null) {
    const secret = key.secret.replace(/[^\x21-\x7e]/g, '');
    await post({ ...right, headers: { ...right.headers, [header]: secret } });
    await post({ ...right, headers: { ...right.headers, [header]: `sha256=${secret}` } });
  }
  for (const query of [`hub.mode=subscribe&hub.verify_token=${MARK}-token`,
    `hub.mode=subscribe&hub.verify_token=${MARK}`, 'challenge=', 'crc_token=',
    'validationToken=']) {
    await house.ask('GET', `/webhook/in/${path}?${query}`);
  }
  for (const sent of [right, sender.send(other, wanted)]) {
    const { status, text } = await house.ask('POST', `/api/incoming-webhooks/${path}/diagnose`, {
      headers: sent.headers, body: sent.body.toString('base64'), url: `https://a/?${sent.query}`,
    });
    assert.equal(status, 200, `${JSON.stringify(verification)} ${text}`);
  }
}

/** Refused changes, then a rotation after which the old secret is used once more. */
async function change(house: House, { sender, path, id, keys }: Planted): Promise<void> {
  const hook = `/api/incoming-webhooks/${id}`;
  const bad: readonly object[] = [
    { secret: { a: MARK } },
    { secret: [MARK] }, { verification: { preset: 'nope', verifyToken: MARK } },
    { verification: { preset: 'github', verifyToken: MARK } },
    { verification: { preset: 'square', url: `ftp://user:${MARK}@h` } },
    { verification: { preset: 'custom', scheme: {}, verifyToken: MARK } },
  ];
  for (const body of bad) {
    const { status, text } = await house.ask('PATCH', hook, body);
    assert.equal(status, 422, `${JSON.stringify(body)} ${text}`);
  }
  const [old, next] = keys;
  assert.ok(old && next);
  const rotated = await house.ask('POST', `${hook}/rotate-secret`, { secret: next.secret });
  assert.equal(rotated.status, 200, `${sender.title} ${rotated.text}`);
  for (const body of [{ secret: next.secret }, { secret: MARK.repeat(2000) },
    { secret: MARK, overlapHours: -1 }, { secret: '' }]) {
    const again = await house.ask('POST', `${hook}/rotate-secret`, body);
    assert.ok(again.status === 409 || again.status === 422, again.text);
  }
  const sent = sender.send(old, {
    body: Buffer.from('{"b":1}'), atS: Math.floor(Date.now() / 1000), spell: (text) => text,
  });
  const query = sent.query === '' ? '' : `?${sent.query}`;
  assert.equal((await house.ask('POST', `/webhook/in/${path}${query}`, sent.body, sent.headers))
    .status, 200, `the old secret of ${sender.title}`);
  for (const name of [hook, `${hook}/examples`]) {
    assert.equal((await house.ask('GET', name)).status, 200);
  }
}

async function command(house: House, { path, keys }: Planted): Promise<void> {
  assert.equal(await house.run('incomingwebhook:show', path), 0);
  await house.run('incomingwebhook:test', path);
  const file = join(house.data, `${path}.secret`);
  writeFileSync(file, keys[0]?.secret ?? '', { mode: 0o600 });
  await house.run('incomingwebhook:rotate-secret', path, '--secret-file', file);
  await house.run('incomingwebhook:rotate-secret', path, '--secret-file', file, '--force');
}
