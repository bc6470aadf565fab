/** The code that a receiver copies: run on what was really sent, and on what was not. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { buildOutgoingExamples } from '../../../src/webhooks/diagnostics/examples.ts';
import { createSignatureHeaders } from '../../../src/webhooks/outgoing/outgoing-signature.ts';
import {
  parseUnsavedWebhook, type ReadyOutgoingWebhook,
} from '../../../src/webhooks/outgoing/outgoing-webhook-index.ts';
import {
  getDialect, listSigningPresets, sendsSecret,
} from '../../../src/webhooks/outgoing/signing-member.ts';
import { startHttpTarget } from '../../support/http-target.ts';
import { inFolder } from '../../support/temporary-folder.ts';
import { startRelayFor, type Answer, type Relay } from '../relay.ts';
import { SCHEMES, SECRETS } from './signings.ts';

const PRESET_SECRETS: Readonly<Record<string, string>> = { ...SECRETS, bearer: 'token' };
/** As each webhook signs, and its secret. */
const SIGNINGS: readonly (readonly [title: string, signing: object | undefined, secret: string])[] =
  [
    ['by default', undefined, 'a s\u00e9cret'],
    ['by default, with a secret of Standard Webhooks', undefined, SECRETS['standard'] ?? ''],
    ['standard, with Ed25519', { preset: 'standard' }, SECRETS['discord'] ?? ''],
    ...listSigningPresets().map((preset) =>
      [preset, { preset }, PRESET_SECRETS[preset] ?? 'a s\u00e9cret'] as const),
    ['a token beside a time', {
      scheme: {
        algorithm: 'token', key: 'utf8', signature: { from: { header: 'X-A' }, encoding: 'utf8' },
        timestamp: { from: { header: 'X-Time' }, unit: 's', tolerance: 60 },
      },
    }, 'a-token'],
    ...SCHEMES.map(([title, scheme, secret]) => [title, { scheme }, secret] as const),
  ];
/** Presets for which there is no code, and why. */
const OBSTACLES: Readonly<Record<string, RegExp>> = { twilio: /fields of a form, sorted/ };

type Try = {
  readonly title: string; readonly code: string; readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string; readonly expected: boolean;
};

/** Each runs all tries that stand as JSON in a file, and prints an array of what came out. */
const DRIVERS = {
  node: ['node', `
    import { readFileSync, writeFileSync } from 'node:fs';
    const results = [];
    for (const [index, one] of JSON.parse(readFileSync('tries.json', 'utf8')).entries()) {
      process.env.WEBHOOK_SECRET = one.secret;
      writeFileSync('code' + index + '.mjs', one.code);
      const { isGenuine } = await import(process.cwd() + '/code' + index + '.mjs');
      results.push(isGenuine(one.headers, one.query, Buffer.from(one.body, 'base64')));
    }
    console.log(JSON.stringify(results));`] as const,
  python: ['python3', `
import base64, json, os
results = []
for one in json.load(open('tries.json', encoding='utf-8')):
    os.environ['WEBHOOK_SECRET'] = one['secret']
    names = {}
    exec(one['code'], names)
    results.append(names['is_genuine'](one['headers'], one['query'], base64.b64decode(one['body'])))
print(json.dumps(results))`] as const,
  php: ['php', `<?php
    $results = [];
    foreach (json_decode(file_get_contents('tries.json'), true) as $index => $one) {
      putenv('WEBHOOK_SECRET=' . $one['secret']);
      eval(str_replace(['<?php', 'function isGenuine'], ['', "function isGenuine$index"],
        $one['code']));
      // PHP gives the bytes of a header, and the file has them as Latin-1.
      $headers = array_map(fn ($text) => iconv('UTF-8', 'ISO-8859-1', $text),
        $one['headers']);
      $results[] = ("isGenuine$index")($headers, $one['query'], base64_decode($one['body']));
    }
    echo json_encode($results);`] as const,
};

function isMissing(program: string): string | false {
  const probe = {
    node: ['-e', ''], python3: ['-c', 'import cryptography'],
    php: ['-r', 'exit(extension_loaded("sodium") && extension_loaded("iconv") ? 0 : 1);'],
  }[program] ?? [];
  return spawnSync(program, probe).status !== 0 && `${program} with its modules is needed`;
}

/** The requests of a webhook as a receiver gets them: `secondsAgo` they were signed. */
function signRequest(webhook: ReadyOutgoingWebhook, secondsAgo: number): Pick<Try,
  'headers' | 'query' | 'body'> {
  const atMs = Date.now() - secondsAgo * 1000;
  const body = Buffer.from('{"a":"W\u00f6rld"}');
  const request = { id: 'one', event: 'a.thing', method: 'POST', body };
  const type = { 'content-type': 'application/json' };
  const { url, headers } = webhook.getSigner === null
    ? { url: webhook.targetUrl,
      headers: createSignatureHeaders(webhook.secret ?? '', 'one', atMs, body) }
    : webhook.getSigner()({ ...request, headers: type }, atMs);
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) =>
      [name, String(value)])),
    query: Object.fromEntries(new URL(url).searchParams), body: body.toString('base64'),
  };
}

/** What is sent, and what somebody else might send. */
function listTries(title: string, code: string, webhook: ReadyOutgoingWebhook): readonly Try[] {
  const sent = { code, secret: webhook.secret ?? '', ...signRequest(webhook, 0) };
  const isToken = sendsSecret({ signing: { ...webhook.signing } });
  const { scheme } = getDialect(webhook.signing ?? { preset: 'standard' });
  const toleranceS = isToken ? null : scheme.timestamp?.tolerance ?? null;
  return [
    { ...sent, title, expected: true },
    { ...sent, title: `${title}, without its headers`, headers: {}, query: {}, expected: false },
    ...isToken ? [] : [{
      ...sent, title: `${title}, with another body`, expected: false,
      body: Buffer.from('{"a":"World"}').toString('base64'),
    }],
    ...toleranceS === null ? [] : [0.8, 1.2, -1.2].map((part) => ({
      ...sent, ...signRequest(webhook, toleranceS * part), expected: part < 1 && part > 0,
      title: `${title}, signed ${part} of its tolerance ago`,
    })),
    ...code.includes('BEGIN PUBLIC KEY') ? []
      : [{ ...sent, title: `${title}, with another secret`, secret: 'abcd', expected: false }],
  ];
}

async function findWrong(
  tries: readonly Try[], [program, script]: readonly [string, string],
): Promise<readonly string[]> {
  return inFolder(async (cwd) => {
    writeFileSync(join(cwd, 'tries.json'), JSON.stringify(tries));
    writeFileSync(join(cwd, 'driver.mjs'), script);
    const results = JSON.parse(execFileSync(program, ['driver.mjs'], { cwd, encoding: 'utf8' }));
    return tries.flatMap(({ title, expected }, index) =>
      results[index] === expected ? [] : [title]);
  });
}

for (const language of ['node', 'php', 'python'] as const) {
  const [program, script] = DRIVERS[language];
  test(`what is sent is verified in ${language}, and nothing else`, {
    skip: isMissing(program),
  }, async () => {
    const tries = SIGNINGS.flatMap(([title, signing, secret]) => {
      const webhook = parseUnsavedWebhook({
        targetUrl: 'http://127.0.0.1:9/?a=b', secret, ...signing === undefined ? {} : { signing },
      }, 'an-id');
      const { [language]: code, obstacle } = buildOutgoingExamples(webhook);
      const isExpected = OBSTACLES[title]?.test(obstacle ?? '') ?? obstacle === null;
      assert.ok(isExpected, `${title}: ${obstacle}`);
      assert.equal(code === null, obstacle !== null);
      return code === null ? [] : listTries(title, code, webhook);
    });
    assert.ok(tries.length > 200, String(tries.length));
    assert.deepEqual(await findWrong(tries, [program, script]), []);
  });
}

const WHSEC = SECRETS['standard'] ?? '';
const CALLS = {
  node: 'new Webhook(secret).verify(body, headers)',
  python: 'Webhook(secret).verify(body, headers)',
};
/** How the code names libraries that verify the same; null: there is none that does. */
const LIBRARIES: readonly (readonly [
  title: string, signing: object | undefined, secret: string,
  names: Readonly<Record<'node' | 'php' | 'python', string>> | null,
])[] = [
  ['by default', undefined, WHSEC, {
    node: `npm install standardwebhooks): ${CALLS.node}`,
    php: 'composer require standard-webhooks/standard-webhooks): '
      + '(new \\StandardWebhooks\\Webhook($secret))->verify($body, $headers)',
    python: `pip install standardwebhooks): ${CALLS.python}`,
  }],
  ['as svix', { preset: 'svix' }, WHSEC, {
    node: `npm install svix): ${CALLS.node}`,
    php: 'composer require svix/svix): (new \\Svix\\Webhook($secret))->verify($body, $headers)',
    python: `pip install svix): ${CALLS.python}`,
  }],
  ['by a secret whose text is the key', undefined, 'a secret', null],
  ['with Ed25519', { preset: 'standard' }, SECRETS['discord'] ?? '', null],
  ['as github', { preset: 'github' }, WHSEC, null],
];
for (const [title, signing, secret, names] of LIBRARIES) {
  const library = names === null ? 'no library' : 'the library';
  test(`the code names ${library} for what is signed ${title}`, () => {
    const examples = buildOutgoingExamples(parseUnsavedWebhook({
      targetUrl: 'http://127.0.0.1:9/', secret, ...signing === undefined ? {} : { signing },
    }, 'an-id'));
    for (const language of ['node', 'php', 'python'] as const) {
      const text = (examples[language] ?? '').replaceAll(/\n(#|\/\/) /g, ' ');
      if (names === null) assert.doesNotMatch(text, / install | require /);
      else assert.ok(text.includes(names[language]), text);
    }
  });
}

async function create(relay: Relay, members: object): Promise<Answer & { readonly path: string }> {
  const made = await relay.ask('POST', '/api/outgoing-webhooks', members);
  assert.equal(made.status, 201, made.text);
  return { ...made, path: `/api/outgoing-webhooks/${String(made.json['identifier'])}` };
}

async function start(context: TestContext): Promise<{
  readonly relay: Relay; readonly target: Awaited<ReturnType<typeof startHttpTarget>>;
}> {
  const relay = await startRelayFor(context);
  const target = await startHttpTarget();
  context.after(() => target.close());
  return { relay, target };
}

test('after a rotation both secrets verify, if requests hold both signatures', async (context) => {
  const { relay, target } = await start(context);
  for (const preset of ['standard', 'stripe']) {
    const { path } = await create(relay, {
      targetUrl: target.url, secret: 'old', signing: { preset },
    });
    await relay.ask('POST', `${path}/rotate-secret`, { secret: 'new' });
    await relay.ask('POST', `${path}/send`, { payload: {} });
    const { json } = await relay.ask('GET', `${path}/examples`);
    const request = target.received.at(-1);
    assert.ok(request !== undefined);
    const tries = ['old', 'new', 'other'].map((secret) => ({
      title: secret, code: String(json['node']), secret, query: {}, expected: secret !== 'other',
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) =>
        [name, String(value)])),
      body: request.body.toString('base64'),
    }));
    assert.deepEqual(await findWrong(tries, DRIVERS.node), []);
  }
});

test('examples hold no secret, and say why there are none', async (context) => {
  const { relay } = await start(context);
  const planted = 'planted-secret';
  const { path } = await create(relay, {
    targetUrl: `http://me:${planted}@127.0.0.1:9/?token=${planted}`, secret: planted,
    headers: { 'X-Key': planted },
  });
  const { json, text } = await relay.ask('GET', `${path}/examples`);
  assert.doesNotMatch(text, /planted/);
  assert.equal(json['preset'], 'standard');
  assert.match(String(json['curl']), /webhook-signature: v1,\$signature/);
  await relay.ask('PATCH', path, { secret: null });
  const { json: unsigned } = await relay.ask('GET', `${path}/examples`);
  assert.deepEqual([unsigned['node'], unsigned['curl'], unsigned['preset']], [null, null, null]);
  assert.match(String(unsigned['obstacle']), /not signed: it has no secret/);
  const keyed = await create(relay, {
    targetUrl: 'http://127.0.0.1:9/', secret: SECRETS['discord'], signing: { preset: 'discord' },
  });
  const masked = await create(relay, {
    targetUrl: 'http://127.0.0.1:9/?token=planted', secret: 'a', signing: { preset: 'square' },
  });
  const { json: addressed } = await relay.ask('GET', `${masked.path}/examples`);
  for (const name of ['obstacle', 'curlObstacle']) {
    assert.equal(addressed[name], 'the signature covers its address, which holds a secret');
  }
  const { json: asymmetric } = await relay.ask('GET', `${keyed.path}/examples`);
  assert.equal(asymmetric['curl'], null);
  assert.match(String(asymmetric['curlObstacle']), /private key/);
  assert.ok(!JSON.stringify(asymmetric).includes(SECRETS['discord'] ?? '?'));
  assert.equal((await relay.ask('GET', '/api/outgoing-webhooks/nope/examples')).status, 404);
});
