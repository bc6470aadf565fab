/**
 * Secrets are planted wherever one can stand, and every route, command and failure is driven with
 * all logging on: nothing that comes out anywhere holds one of them.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { closedPort } from '../support/servers.ts';
import { ask, type Question, type Reply } from './ask.ts';
import { Heard } from './heard.ts';
import { processTitles } from './process-titles.ts';
import { hookshelf, startServer } from './processes.ts';
import { FlappingTarget } from './relay-target.ts';

/** In every planted value, and nowhere else. */
const MARK = `pl4nted${process.pid}`;
const API_TOKEN = `${MARK}-api-token`;
const SECRET = `${MARK} incoming & outgoing sécret`;
const SECRET_MEMBERS = {
  password: `${MARK}-1`, apiKey: `${MARK}-2`,
  nested: [{ client_secret: `${MARK}-3`, Token: { value: `${MARK}-4` } }],
  pin: 5, link: `https://user:${MARK}@5@example.org/`,
};
const SECRET_HEADERS = {
  authorization: `Bearer ${MARK}-7`, cookie: `session=${MARK}-8`, 'x-api-key': `${MARK}-9`,
  'x-hub-signature-256': `sha256=${MARK}`, 'x-gitlab-token': `${MARK}-10`,
};
const BAD_BODIES: readonly string[] = [
  `{"secret":"${MARK}`, `{"secret":${MARK}}`, `"${MARK}"`, `["${MARK}"]`,
  JSON.stringify({ targetUrl: `http://x:${MARK}@`, secret: [MARK], headers: { Host: MARK } }),
  JSON.stringify({ targetUrl: `http:///x:${MARK}@h`, secret: { a: MARK } }),
  JSON.stringify({ targetUrl: 'http://x/', oauth2: {
    tokenUrl: `http://x:${MARK}@h/`, clientId: 'id', clientSecret: MARK,
  } }),
  JSON.stringify({ targetUrl: 'http://x/', oauth2: { tokenUrl: 'x', clientSecret: [MARK] } }),
  JSON.stringify({ targetUrl: 'http://x/', clientCertificate: {
    certificate: `-----BEGIN CERTIFICATE-----\n${MARK}\n-----END CERTIFICATE-----`,
    privateKey: `-----BEGIN PRIVATE KEY-----\n${MARK}\n-----END PRIVATE KEY-----`,
  } }),
  JSON.stringify({ pathSegment: 'x', actionConfiguration: 'none', secret: MARK }),
  JSON.stringify({ actionType: 'nope', options: { token: MARK } }),
  JSON.stringify({ actionType: 'http-forward', options: { url: `ftp://u:${MARK}@h` } }),
  JSON.stringify({ name: 'a, b', payload: SECRET_MEMBERS }),
];

const LOUD = `export default class {
  static identifier() { return 'loud'; }
  static label() { return 'Throws and logs what it is given'; }
  execute(payload, context, options, { log }) {
    log.error('loud', { payload, context, options });
    throw Object.assign(new Error('at ' + options.url), { options, cause: new Error(options.url) });
  }
}`;

class House {
  readonly heard = new Heard([MARK, encodeURIComponent(SECRET),
    Buffer.from(`user:${MARK}`).toString('base64').slice(0, -4)]);
  url = '';
  readonly #data: string;
  readonly environment: Readonly<Record<string, string>>;

  constructor(data: string, environment: Readonly<Record<string, string>>) {
    this.#data = data;
    this.environment = environment;
  }

  async ask(path: string, question: Question = {}): Promise<Reply> {
    const authorization = { authorization: `Bearer ${API_TOKEN}` };
    const reply = await ask(this.url + path, {
      ...question, headers: { ...authorization, ...question.headers },
    });
    const origin = `${question.method ?? 'GET'} ${path}`;
    this.heard.add(origin, reply.text, JSON.stringify(reply.headers));
    return reply;
  }

  async make(path: string, body: unknown): Promise<string> {
    const reply = await this.ask(path, { method: 'POST', body });
    assert.equal(reply.status, 201, reply.text);
    return JSON.parse(reply.text).identifier;
  }

  /** Runs a command that is expected to end with `code`. */
  async run(code: number, words: readonly string[], input = ''): Promise<void> {
    const ended = await hookshelf([...words, '--data', this.#data], {
      input, environment: this.environment,
    });
    this.heard.add(words.join(' '), ended.stdout, ended.stderr);
    assert.equal(ended.code, code, `${words.join(' ')}: ${ended.stderr}`);
  }

  async runAll(code: number, commands: readonly (readonly string[])[]): Promise<void> {
    for (let index = 0; index < commands.length; index += 4) {
      await Promise.all(commands.slice(index, index + 4).map((words) => this.run(code, words)));
    }
  }
}

type Planted = { readonly outgoing: readonly string[]; readonly deadHost: string };

test('no secret comes out of any route, command, log, metric or process title', () =>
  inFolder(async (data) => {
    const target = new FlappingTarget();
    await target.open();
    const deadHost = `127.0.0.1:${await closedPort()}`;
    const house = new House(data, {
      HOOKSHELF_API_TOKEN: API_TOKEN, HOOKSHELF_LOG_LEVEL: 'debug', HOOKSHELF_LOG_ACCESS: 'all',
      HOOKSHELF_HTTP_PROXY: `http://user:${MARK}-proxy@${deadHost}`,
      HOOKSHELF_HTTP_NO_PROXY: '127.0.0.1', HOOKSHELF_HTTP_RETRY_DELAY_MS: '1',
      HOOKSHELF_OUTGOING_RETRY_SCHEDULE: '[0.01]',
    });
    mkdirSync(join(data, 'actions'), { mode: 0o700 });
    writeFileSync(join(data, 'actions', 'loud.mjs'), LOUD, { mode: 0o600 });
    const server = await startServer(['--data', data], { environment: house.environment });
    try {
      house.url = server.url;
      const planted = await plant(house, target.url, deadHost);
      await callHooks(house);
      await target.turn('failing');
      await callHooks(house);
      await sendAndFail(house, planted);
      await readEverything(house);
      await commandEverything(house, planted);
      const titles = processTitles();
      assert.ok(titles.includes(data), 'our own server is among the processes');
      house.heard.add('processes', titles);
    } finally {
      const { stdout, stderr } = await server.stop();
      house.heard.add('serve', stdout, stderr);
      await target.close();
      assert.match(stderr, /"level":"debug"/);
      assert.ok(stderr.split('\n').length > 100, 'too little was logged to prove anything');
    }
    await house.runAll(0, [['outgoingwebhook:list', '--json'], ['data:verify']]);
    await house.run(1, ['doctor']);
    assert.ok(readdirSync(data).some((name) =>
      name.startsWith('journal') && readFileSync(join(data, name), 'utf8').includes(MARK)));
    house.heard.check();
  }));

/** Configurations and hooks with a secret in every place that takes one. */
async function plant(house: House, targetUrl: string, deadHost: string): Promise<Planted> {
  const headers = { 'X-Plain': `${MARK}-header`, Authorization: `Bearer ${MARK}-header` };
  const withUser = (host: string): string => `http://user:${MARK}@2@${host}/?api_key=x`;
  const local = new URL(targetUrl).host;
  const forwards = {
    up: { url: withUser(local), headers }, dead: { url: withUser(deadHost), headers },
    later: { url: withUser(deadHost), headers, mode: 'queue' },
    proxied: { url: withUser('nowhere.invalid'), headers },
  };
  for (const [identifier, options] of Object.entries(forwards)) {
    await hook(house, identifier, 'http-forward', options);
  }
  await hook(house, 'log', 'log', { level: 'debug' });
  await hook(house, 'loud', 'loud', { ...SECRET_MEMBERS, url: withUser('h') });
  const outgoing: string[] = [];
  for (const host of [local, deadHost, 'nowhere.invalid']) {
    outgoing.push(await house.make('/api/outgoing-webhooks', {
      targetUrl: withUser(host), headers, secret: SECRET, triggerEvent: 'planted.*',
      payloadTemplate: '{"all":"{{ payload }}"}',
    }));
  }
  outgoing.push(await house.make('/api/outgoing-webhooks', {
    targetUrl, secret: `whsec_${Buffer.from(MARK).toString('base64')}`, triggerEvent: 'planted.it',
    actionConfiguration: 'loud',
  }));
  house.heard.forbidden.add(Buffer.from(MARK).toString('base64').slice(0, -4));
  // What the target answers is no token, and the dead host none at all.
  for (const tokenUrl of [`${targetUrl}token?key_token=${MARK}`, `http://${deadHost}/token`]) {
    outgoing.push(await house.make('/api/outgoing-webhooks', {
      targetUrl, triggerEvent: 'planted.it',
      oauth2: { tokenUrl, clientId: 'id', clientSecret: SECRET, clientAuthentication: 'body' },
    }));
  }
  return { outgoing, deadHost };
}

async function hook(
  house: House, identifier: string, actionType: string, options: object,
): Promise<void> {
  await house.make('/api/action-configurations', { identifier, actionType, options });
  const id = await house.make('/api/incoming-webhooks', {
    pathSegment: identifier, actionConfiguration: identifier, secret: SECRET,
  });
  await house.ask(`/api/incoming-webhooks/${id}/examples`);
}

/** Signed, wrongly signed and not at all, with secrets in the body, the headers and the query. */
async function callHooks(house: House): Promise<void> {
  const bytes = JSON.stringify(SECRET_MEMBERS);
  const signature = createHmac('sha256', SECRET).update(bytes).digest('hex');
  house.heard.forbidden.add(signature);
  for (const name of ['up', 'dead', 'later', 'proxied', 'log', 'loud', 'none']) {
    for (const signed of [`sha256=${signature}`, `sha256=${MARK}`, '']) {
      const { status, text } = await house.ask(`/webhook/in/${name}?token=${MARK}&a=1`, {
        method: 'POST', body: SECRET_MEMBERS, headers: { ...SECRET_HEADERS, 'x-signature': signed },
      });
      const isPassed = signed.endsWith(signature) && name !== 'none';
      assert.equal(status === 401 || status === 404, !isPassed, `${name} ${status} ${text}`);
    }
  }
}

async function sendAndFail(house: House, { outgoing }: Planted): Promise<void> {
  for (const path of outgoing.map((id) => `/api/outgoing-webhooks/${id}`)) {
    await house.ask(`${path}/send`, { method: 'POST', body: { payload: SECRET_MEMBERS } });
    await house.ask(path, { method: 'PATCH', body: { secret: MARK, httpMethod: 'bad' } });
    await house.ask(path, { method: 'PATCH', body: { secret: `whsec_?${MARK}` } });
    await house.ask(path, { method: 'PATCH', body: { payloadTemplate: `{{ ${MARK}` } });
  }
  await house.ask('/api/events', {
    method: 'POST', body: { name: 'planted.it', payload: SECRET_MEMBERS },
  });
  for (const path of ['/api/books', '/api/events', '/api/outgoing-webhooks', '/webhook/in/none',
    '/api/incoming-webhooks', '/api/action-configurations', '/api/deliveries/x/retry']) {
    for (const text of BAD_BODIES) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${API_TOKEN}` };
      const reply = await fetchText(house.url + path, text, headers);
      house.heard.add(`POST ${path}`, reply);
    }
  }
  for (const authorization of [`Bearer ${MARK}-wrong`, `Basic ${MARK}`, MARK, '']) {
    const { status } = await house.ask('/api/books', { headers: { authorization } });
    assert.equal(status, 401);
  }
  await until('the deliveries have been tried', async () => {
    const { text } = await house.ask('/api/deliveries?status=pending');
    // A proxy's own failure uses up no attempts: that one stays pending.
    return JSON.parse(text).length <= 1;
  });
}

/** A body as it stands, sound or not. */
async function fetchText(
  url: string, body: string, headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let text = JSON.stringify(response.headers);
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Every GET route there is, with identifiers of what is there. */
async function readEverything(house: House): Promise<void> {
  const { paths } = JSON.parse((await house.ask('/openapi.json')).text);
  const first = async (path: string): Promise<string> => {
    const { status, text } = await house.ask(path);
    // The chapters of the manual are listed as text.
    if (status !== 200 || !text.startsWith('[')) return 'none';
    const [record] = JSON.parse(text);
    return record?.identifier ?? record?.id ?? 'none';
  };
  let shown = 0;
  for (const [path, methods] of Object.entries<object>(paths)) {
    // A stream has no end; a body, a payload, and signatures for who may write, are given as they
    // came.
    if (!('get' in methods) || /\/(stream|body|headers|payload)$/.test(path)) continue;
    const collection = path.replace(/\/\{.*$/, '');
    const id = path.includes('{') ? await first(collection) : '';
    const { status, text } = await house.ask(path.replace(/\{[^}]+\}/, id));
    assert.ok(status < 500, `${path}: ${text}`);
    if (status === 200) shown += 1;
    await house.ask(path.replace(/\{[^}]+\}/, id), { headers: { authorization: '' } });
  }
  assert.ok(shown > 10, `${shown} routes showed something`);
}

async function commandEverything(house: House, { outgoing }: Planted): Promise<void> {
  const [up = '', dead = ''] = outgoing;
  await house.runAll(0, [
    ['incomingwebhook:list'], ['incomingwebhook:list', '--json'], ['actionconfig:list'],
    ['incomingwebhook:show', '--id', 'log'], ['incomingwebhook:show', '--id', 'log', '--json'],
    ['actionconfig:show', '--id', 'loud'], ['actionconfig:show', '--id', 'dead', '--json'],
    ['outgoingwebhook:show', '--id', up], ['outgoingwebhook:list'],
    ['delivery:list'], ['delivery:list', '--json'], ['delivery:retry', '--failed'],
    ['delivery:reconcile', '--json'], ['settings:show'], ['settings:show', '--json'],
    ['token:list', '--json'], ['data:verify'],
  ]);
  await house.runAll(1, [
    ['outgoingwebhook:send', '--id', up], ['outgoingwebhook:send', '--id', dead, '--debug'],
    ['outgoingwebhook:update', '--id', up, '--http-method', 'bad'],
    // The proxy that is set does not answer, and the directory is taken.
    ['doctor'], ['serve', '--port', '0'],
  ]);
  await house.run(0, ['outgoingwebhook:disable', '--id', up]);
  await house.run(2,
    ['incomingwebhook:create', '--path-segment', 'x', '--action-config', 'log', '--secret', 'x']);
  const given = JSON.stringify({ url: `ftp://u:${MARK}@h`, headers: { Authorization: MARK } });
  const create = ['actionconfig:create', '--options', '-', '--action'];
  await house.run(1, [...create, 'http-forward'], given);
  await house.run(2, [...create, 'log'], `{"a": ${MARK}}`);
  const target = ['outgoingwebhook:create', '--target-url'];
  await house.run(1, [...target, '-'], `http:///u:${MARK}@h`);
  await house.run(2, [...target, 'http://h', '--headers-file', '-'], `{"X": "${MARK}`);
  await house.run(2, [...target, 'http://h', '--headers-file', '-'], `X ${MARK}`);
}
