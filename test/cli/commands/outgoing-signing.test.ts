import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPlace } from '../place.ts';

const SCHEME = {
  algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
  signature: { from: { header: 'X-Acme-Signature' }, encoding: 'hex' },
};

test('a signing is given, replaced as a whole, exported, applied and taken away', () =>
  inPlace('through a server', async (place) => {
    const file = join(place.folder, 'signing.json');
    writeFileSync(file, JSON.stringify({ preset: 'discord' }));
    const made = await place.json(['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/',
      '--name', 'acme', '--signing', `@${file}`, '--generate-secret']);
    assert.deepEqual(made['signing'], { preset: 'discord' });
    assert.match(String(made['secret']), /^whsk_/);
    assert.match(String(made['publicKey']), /^[0-9a-f]{64}$/);

    const update = ['outgoingwebhook:update', 'acme'];
    const changed = await place.json([...update, '--signing', JSON.stringify({ scheme: SCHEME })]);
    assert.deepEqual(changed['signing'], { scheme: SCHEME });
    assert.deepEqual([changed['hasSecret'], changed['publicKey']], [true, undefined]);

    const exported = await place.run(['config:export']);
    assert.equal(exported.code, 0, exported.stderr);
    const [webhook] = (JSON.parse(exported.stdout) as {
      outgoingWebhooks: Record<string, unknown>[];
    }).outgoingWebhooks;
    assert.deepEqual(webhook?.['signing'], { scheme: SCHEME });
    assert.deepEqual(webhook?.['secret'], { $env: 'ACME_SECRET' });
    assert.equal(webhook?.['publicKey'], undefined);
    const document = join(place.folder, 'hookshelf.json');
    writeFileSync(document, JSON.stringify({
      outgoingWebhooks: [{ ...webhook, secret: 'another', signing: { preset: 'stripe' } }],
    }));
    const applied = await place.run(['apply', '--file', document]);
    assert.equal(applied.code, 0, applied.stderr);
    const shown = await place.json(['outgoingwebhook:show', 'acme']);
    assert.deepEqual(shown['signing'], { preset: 'stripe' });

    const made64 = await place.json([...update, '--signing', '{"preset":"github"}',
      '--generate-secret']);
    assert.match(String(made64['secret']), /^[0-9a-f]{64}$/);
    const rotate = ['outgoingwebhook:rotate-secret', 'acme'];
    assert.match((await place.run(rotate)).stderr, /new secret; the old one signs no more/);
    const atOnce = await place.run([...rotate, '--overlap-hours', '0']);
    assert.match(atOnce.stderr, /new secret; it is shown this once$/m);
    assert.match(atOnce.stdout, /^[0-9a-f]{64}\n$/);
    const unset = await place.json([...update, '--unset', 'signing']);
    assert.equal(unset['signing'], undefined);
  }));

test('what cannot be signed is refused, and says what to do', () =>
  inPlace('through a server', async (place) => {
    const create = ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/'];
    for (const [words, code, says] of [
      [['--signing', '{"preset":"paypal"}', '--generate-secret'], 1, /paypal cannot be signed as/],
      [['--signing', '{"preset":"github"}'], 1, /\/secret: is needed by signing/],
      [['--signing', '["github"]'], 2, /--signing is not a JSON object/],
      [['--signing', '{"preset":"sendgrid"}', '--generate-secret'], 2, /openssl genpkey/],
      [['--signing', '{"secret":"abc"}', '--generate-secret'], 2, /holds a secret/],
    ] as const) {
      const { code: found, stderr } = await place.run([...create, ...words]);
      assert.equal(found, code, stderr);
      assert.match(stderr, says);
    }
  }));

test('who gives a secret that libraries of Standard Webhooks do not take is told', () =>
  inPlace('through a server', async (place) => {
    const create = ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/', '--name'];
    const note = /the text of the secret is the key, as it does not begin with whsec_/;
    const giveSecret = async (words: readonly string[], secret: string): Promise<string> => {
      const { code, stderr } = await place.run([...words, '--secret-file', '-'],
        { input: `${secret}\n` });
      assert.equal(code, 0, stderr);
      return stderr;
    };
    assert.match(await giveSecret([...create, 'acme'], 'my own text'), note);
    assert.match(await giveSecret(['outgoingwebhook:update', 'acme'], 'bXktdmVyeS1vd24='), note);
    const rotate = ['outgoingwebhook:rotate-secret', 'acme', '--force'];
    assert.match(await giveSecret(rotate, 'another'), note);
    assert.doesNotMatch(await giveSecret(rotate, 'whsec_bXktdmVyeS1vd24='), note);
    assert.doesNotMatch((await place.run(rotate)).stderr, note);
    assert.doesNotMatch(await giveSecret(
      [...create, 'hub', '--signing', '{"preset":"github"}'], 'my own text'), note);
  }));
