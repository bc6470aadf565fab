import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../io.ts';
import { ALONE, WAYS, inPlace } from '../place.ts';

const SECRET = 'planted-secret-of-a-sender';
const BODY = '{"a": 1}\r\n';

const hex = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');

for (const way of WAYS) {
  test(`a sender is named, changed and diagnosed, ${way}`, () => inPlace(way, async (place) => {
    const file = (name: string, text: string): string => {
      const path = join(place.folder, name);
      writeFileSync(path, text);
      return path;
    };
    const run = async (code: number, ...words: readonly string[]): Promise<string> => {
      const done = await place.run(words);
      assert.equal(done.code, code, `${words.join(' ')}: ${done.stdout}${done.stderr}`);
      assert.ok(!`${done.stdout}${done.stderr}`.includes('planted'));
      return done.stdout === '' ? done.stderr : done.stdout;
    };
    await run(0, 'actionconfig:create', '--action', 'log', '--identifier', 'log');
    const { stdout: presets } = await runCommand(['completion:words', '--', ...place.location,
      'incomingwebhook:create', '--preset', 'microsoft']);
    assert.match(presets, /^microsoft-graph\t$/m);
    const secret = file('secret', SECRET);
    await run(0, 'incomingwebhook:create', '--path-segment', 'pay', '--action-config', 'log',
      '--preset', 'square', '--verification', '{"url":"https://a.example/in"}',
      '--secret-file', secret, '--allowed-address', '127.0.0.1', '--allowed-address', '::1',
      '--body-format', 'json');
    const made = JSON.parse(await run(0, 'incomingwebhook:show', 'pay', '--json'));
    assert.deepEqual([made.verification, made.allowedAddresses, made.bodyFormat],
      [{ preset: 'square', url: 'https://a.example/in' }, ['127.0.0.1', '::1'], 'json']);
    await run(0, 'incomingwebhook:update', 'pay', '--allowed-address', '192.0.2.1',
      '--body-format', 'multipart', '--json-fields', 'payload, b', '--json-fields', 'c');
    const parted = JSON.parse(await run(0, 'incomingwebhook:show', 'pay', '--json'));
    assert.deepEqual([parted.bodyFormat, parted.jsonFields], ['multipart', ['payload', 'b', 'c']]);
    await run(0, 'incomingwebhook:update', 'pay', '--body-format', 'json', '--unset',
      'json-fields');
    const tested = await place.run(['incomingwebhook:test', 'pay']);
    const isFar = way === 'over the network';
    assert.equal(tested.code, isFar ? 1 : 0);
    assert.match(tested.stdout, isFar ? /^status +403$/m : /^status +200$/m);
    assert.match(tested.stderr, isFar ? /allowedAddresses was checked for the .*diagnose --client/
      : /allowedAddresses was not checked.*diagnose --client/);
    await run(0, 'incomingwebhook:update', 'pay', '--preset', 'github', '--unset', 'body-format',
      '--unset', 'allowed-addresses');
    const changed = JSON.parse(await run(0, 'incomingwebhook:show', 'pay', '--json'));
    assert.deepEqual(changed.verification, { preset: 'github' });
    assert.ok(!('allowedAddresses' in changed) && !('bodyFormat' in changed));

    const create = ['incomingwebhook:create', '--action-config', 'log', '--secret-file', secret];
    for (const [option, from] of [['header', { header: 'X-Token' }], ['query', { query: 'key' }],
    ] as const) {
      await run(0, ...create, '--path-segment', option, `--token-${option}`,
        ...Object.values(from));
      const { verification } = JSON.parse(await run(0, 'incomingwebhook:show', option, '--json'));
      assert.deepEqual(verification, { preset: 'custom', scheme: {
        algorithm: 'token', key: 'utf8', content: '', signature: { from, encoding: 'utf8' },
      } });
      await run(0, 'incomingwebhook:test', option);
    }
    for (const other of [
      ['--preset', 'github'], ['--verification', '{}'], ['--token-query', 'b'],
    ]) {
      assert.match(await run(2, ...create, '--path-segment', 'x', '--token-header', 'a', ...other),
        new RegExp(`--token-header says all of it: leave out ${other[0]}`));
    }

    const body = file('body', BODY);
    const right = file('right', `POST /webhook/in/pay HTTP/1.1\r\nHost: a\r\n`
      + `X-Hub-Signature-256: sha256=${hex(BODY)}\r\n`);
    const wrong = file('wrong', `X-Hub-Signature-256: sha256=${hex(BODY.trimEnd())}\n`);
    const diagnose = ['incomingwebhook:diagnose', 'pay', '--body-file', body, '--headers-file'];
    assert.match(await run(0, ...diagnose, right), /^would be accepted$/m);
    assert.match(await run(1, ...diagnose, wrong),
      /^near_miss +hint +would match if the body did not end in a line break/m);
    const told = JSON.parse(await run(1, ...diagnose, wrong, '--json'));
    assert.deepEqual(Object.keys(told), ['accepted', 'failedCheck', 'checks']);
    assert.equal(told.failedCheck, 'mismatch');
    assert.match(await run(1, 'incomingwebhook:diagnose', 'pay', '--request', 'some-id'),
      /there is no request "some-id"/);
    assert.match(await run(2, 'incomingwebhook:diagnose', 'pay'), /--request|--headers-file/);
    assert.match(await run(0, 'incomingwebhook:test', 'pay', '--event', 'push'),
      /^status +200$[^]*^body\.success +true$/m);
    const plain = await place.run(['incomingwebhook:test', 'pay', '--payload', '{"a":1}']);
    assert.equal(plain.code, 0);
    assert.ok(!plain.stderr.includes('allowedAddresses'));
    assert.match(await run(1, 'incomingwebhook:test', 'pay', '--handshake'), /no handshake/);
    await run(0, 'incomingwebhook:create', '--path-segment', 'grid', '--action-config', 'log',
      '--preset', 'cloudevents', '--secret-file', secret,
      '--verification', '{"origins":["a.example"]}');
    assert.match(await run(0, 'incomingwebhook:test', 'grid', '--handshake'), /^status +200$/m);
    await run(0, 'incomingwebhook:test', 'grid', '--event', 'com.example.b');
    await run(0, 'incomingwebhook:update', 'pay', '--inbox', 'all', '--deduplicate', 'json:a');
    await run(0, 'incomingwebhook:test', 'pay', '--payload', '{"a":"one"}');
    assert.match(await run(1, 'incomingwebhook:diagnose', 'pay', '--headers-file',
      file('again', `X-Hub-Signature-256: sha256=${hex('{"a":"one"}')}\n`), '--body-file',
      file('one', '{"a":"one"}')), /^would be answered as a duplicate, and not run$/m);
    const largeId = '{"a":820982911946154508}';
    await run(0, 'incomingwebhook:test', 'pay', '--payload', largeId);
    assert.match(await run(1, 'incomingwebhook:diagnose', 'pay', '--headers-file',
      file('number', `X-Hub-Signature-256: sha256=${hex(largeId)}\n`), '--body-file',
      file('digits', largeId)), /^would be answered as a duplicate, and not run$/m);
    assert.match(await run(0, 'incomingwebhook:show', 'pay'),
      /^setup\.pasteUrl +repository[^]*openssl dgst -sha256[^]*X-Hub-Signature-256/m);
    const rotate = ['incomingwebhook:rotate-secret', 'pay'];
    assert.match(await run(0, ...rotate, '--secret-file', file('new', 'planted-new')),
      /has a new secret; the old one counts until/);
    assert.match(await run(1, ...rotate), /still counts/);
    assert.match(await run(0, ...rotate, '--force', '--overlap-hours', '0'),
      /^[0-9a-f]{64}\n$/);
    await run(2, ...rotate, '--overlap-hours', 'two');
    await run(0, 'incomingwebhook:update', 'pay', '--preset', 'discord', '--secret-file',
      file('key', 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'));
    assert.match(await run(1, 'incomingwebhook:test', 'pay'), /only the sender can sign/);
    assert.match(await run(0, 'incomingwebhook:show', 'pay'), /^only the sender can sign/m);
    for (const option of [['--preset', 'stripe'], ['--verification', '{"toleranceS": 9}']]) {
      const both = await run(2, 'incomingwebhook:update', 'pay', ...option,
        '--unset', 'verification');
      assert.match(both, /--unset verification contradicts what another option sets it to/);
    }
    const update = ['incomingwebhook:update', 'pay', '--preset'];
    await run(0, ...update, 'github', '--allowed-methods', 'HEAD');
    assert.match(await run(0, 'incomingwebhook:show', 'pay'), /^curl .* --head/m);
    assert.match(await run(1, 'incomingwebhook:test', 'pay'), /cannot be tested .* HEAD request/);
    await run(0, ...update, 'mailgun', '--allowed-methods', 'GET');
    assert.match(await run(1, 'incomingwebhook:test', 'pay'), /cannot be tested: a GET request/);
    assert.match(await run(0, 'incomingwebhook:show', 'pay'),
      /^a GET request has no body, .* there is no call to copy$/m);
    await run(0, ...update, 'github');
    assert.match(await run(0, 'incomingwebhook:test', 'pay'), /^status +200$/m);
    await run(0, 'incomingwebhook:update', 'pay', '--unset', 'allowed-methods');
    await run(0, 'incomingwebhook:update', 'pay', '--preset', 'github', '--unset', 'secret');
    const sentence = /incoming webhook pay has no secret, which the preset github needs/;
    assert.match((await place.run(['incomingwebhook:list'])).stderr, sentence);
    const createWithout = async (preset: string): Promise<string> => (await place.run(
      ['incomingwebhook:create', '--path-segment', preset, '--action-config', 'log', '--preset',
        preset])).stderr;
    assert.match(await createWithout('github'),
      /github has no secret.*: hookshelf incomingwebhook:update github --generate-secret$/m);
    assert.match(await createWithout('stripe'), /update stripe --secret-file <path>$/m);
    const named = await place.run(['incomingwebhook:update', 'github', '--name', 'github']);
    assert.deepEqual([named.code, /no secret/.test(named.stderr)], [0, false]);
    const doctor = (await place.run(['doctor', '--json'])).stdout;
    const isServed = !doctor.includes('looked at while a server runs');
    assert.equal(sentence.test(doctor), isServed, doctor);
    const awaitSecret = ['incomingwebhook:await-secret', 'pay'];
    assert.match(await run(1, ...awaitSecret), /brings no secret with its handshake/);
    await run(0, 'incomingwebhook:update', 'pay', '--preset', 'asana');
    assert.match((await place.run(['incomingwebhook:list'])).stderr,
      /brings it: hookshelf incomingwebhook:await-secret pay/);
    assert.match(await run(0, ...awaitSecret),
      /^until \d{4}\S+Z a handshake may bring the secret of incoming webhook \S+: \S+\/in\/pay$/m);
    assert.match(await run(1, 'incomingwebhook:test', 'pay', '--handshake'), /only the sender can/);
    await run(0, 'incomingwebhook:update', 'pay', '--preset', 'stripe');
    await run(0, 'incomingwebhook:update', 'pay', '--verification', '{"toleranceS":60}');
    const { verification } = JSON.parse(await run(0, 'incomingwebhook:show', 'pay', '--json'));
    assert.deepEqual(verification, { preset: 'stripe', toleranceS: 60 });
    await run(0, 'incomingwebhook:update', 'pay', '--unset', 'verification');
    assert.match(await run(1, 'incomingwebhook:update', 'pay', '--preset', 'githup'),
      /did you mean.*github/i);
    await run(2, 'incomingwebhook:update', 'pay', '--preset', 'meta',
      '--verification', '{"verifyToken":"planted"}');
  }));
}

test('makes a secret in the shape that the preset wants', () => inPlace(ALONE, async (place) => {
  const run = async (words: readonly string[]): Promise<Awaited<ReturnType<typeof place.run>>> =>
    place.run([...words, '--generate-secret']);
  await place.run(['actionconfig:create', '--action', 'log', '--identifier', 'log']);
  const create = ['incomingwebhook:create', '--action-config', 'log', '--path-segment'];
  const scheme = (algorithm: string, key: string): string => JSON.stringify({ scheme: {
    algorithm, key, content: '{body}', signature: { from: { header: 'X-A' }, encoding: 'hex' },
  } });
  const shapes: readonly (readonly [RegExp, readonly string[]])[] = [
    [/once\): [0-9a-f]{64}$/m, []],
    [/once\): [0-9a-f]{64}$/m, ['--preset', 'github']],
    [/once\): whsec_[A-Za-z0-9+/]{43}=$/m, ['--preset', 'standard']],
    [/once\): whsec_[A-Za-z0-9+/]{43}=$/m, ['--preset', 'gitlab']],
    [/once\): hookshelf:[0-9a-f]{64}$/m, ['--preset', 'basic']],
    [/once\): [A-Za-z0-9+/]{43}=$/m,
      ['--preset', 'custom', '--verification', scheme('hmac-sha256', 'base64')]],
  ];
  for (const [index, [shape, words]] of shapes.entries()) {
    const made = await run([...create, `hook-${index}`, ...words]);
    assert.match(made.stdout, shape, `${words.join(' ')}: ${made.stderr}`);
    if (words.length === 0) continue;
    assert.equal((await place.run(['incomingwebhook:test', `hook-${index}`])).code, 0);
  }
  const refusals: readonly (readonly [RegExp, readonly string[]])[] = [
    [/--secret-file is needed: only the sender \(Stripe\) can make it, and shows it here: \w/,
      ['--preset', 'stripe']],
    [/only the sender/, ['--preset', 'custom', '--verification', scheme('ed25519', 'hex')]],
    [/^hookshelf: \/verification\/preset: "githup" is not a known preset.*github/,
      ['--preset', 'githup']],
  ];
  for (const [reason, words] of refusals) {
    const refused = await run([...create, 'refused', ...words]);
    assert.notEqual(refused.code, 0);
    assert.equal(refused.stdout, '');
    assert.match(refused.stderr, reason);
    assert.match((await run(['incomingwebhook:update', 'hook-0', ...words])).stderr, reason);
  }
  const kept = await run(['incomingwebhook:update', 'hook-2']);
  assert.match(kept.stdout, /once\): whsec_/, 'the shape of the preset that is stored');
  const unset = await run(['incomingwebhook:update', 'hook-2', '--unset', 'verification']);
  assert.match(unset.stdout, /once\): [0-9a-f]{64}$/m);
}));

test('lists the presets without a data directory', () => inPlace(ALONE, async (place) => {
  const presets = await place.json<Record<string, unknown>[]>(['incomingwebhook:presets']);
  const stripe = presets.find(({ name }) => name === 'stripe');
  assert.deepEqual([stripe?.['header'], stripe?.['covers'], stripe?.['toleranceS']],
    ['Stripe-Signature', ['body', 'time', 'id'], 300]);
  assert.match(String(stripe?.['unconfirmed']), /20 s/);
  const mailgun = presets.find(({ name }) => name === 'mailgun');
  assert.deepEqual(mailgun?.['covers'], ['time', 'id']);
}));
