import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPlace } from '../place.ts';

const OPTIONS_WITH_SECRETS: readonly string[] = [
  '{"url":"http://h.test/","headers":{"Authorization":"Bearer planted"}}',
  '{"url":"http://us:planted@h.test/"}', '{"url":"http://h.test/?api_key=planted"}',
];

test('options that hold a secret are taken from a file or standard input, not in place', () =>
  inPlace('without a server', async (place) => {
    for (const options of OPTIONS_WITH_SECRETS) {
      const create = ['actionconfig:create', '--action', 'http-forward', '--options'];
      const { code, stderr } = await place.run([...create, options]);
      assert.deepEqual([code, /^hookshelf: --options .*@<file>\n$/.test(stderr)], [2, true],
        stderr);
      assert.doesNotMatch(stderr, /planted/);
      assert.equal((await place.run([...create, '-'], { input: options })).code, 0);
    }
  }));

test('options that keep a stored secret may stand in place', () =>
  inPlace('without a server', async (place) => {
    const [input = ''] = OPTIONS_WITH_SECRETS;
    await place.run(['actionconfig:create', '--action', 'http-forward', '--identifier', 'kept',
      '--options', '-'], { input });
    const { code, stderr } = await place.run(['actionconfig:update', '--id', 'kept', '--options',
      '{"url":"http://***@h.test/","headers":{"Authorization":"***"},"exposeResponse":true}']);
    assert.deepEqual([code, /url/.test(stderr)], [1, true], stderr);
    const update = await place.run(['actionconfig:update', '--id', 'kept', '--options',
      '{"url":"http://h.test/","headers":{"Authorization":"***"}}']);
    assert.equal(update.code, 0, update.stderr);
  }));

test('a target whose query holds a secret is not taken in place either', () =>
  inPlace('without a server', async (place) => {
    const create = ['outgoingwebhook:create', '--target-url'];
    const target = 'http://h.test/?token=planted';
    const { code, stderr } = await place.run([...create, target]);
    assert.deepEqual([code, /@<file>/.test(stderr), /planted/.test(stderr)], [2, true, false]);
    assert.equal((await place.run([...create, '-'], { input: target })).code, 0);
  }));

test('a header that is given twice is refused, not dropped', () =>
  inPlace('without a server', async (place) => {
    const create = ['outgoingwebhook:create', '--target-url', 'http://h.test/'];
    for (const second of ['X-A: 2', 'x-a: 2']) {
      const { code, stderr } = await place.run(
        [...create, '--header', 'X-A: 1', '--header', second]);
      assert.deepEqual([code, /stands? twice/.test(stderr)], [2, true], stderr);
    }
  }));

test('a headers file may begin with a byte order mark', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'headers');
    for (const text of ['\ufeff{"X-A":"1"}', '\ufeffX-A: 1\r\n']) {
      writeFileSync(file, text);
      const webhook = await place.json(['outgoingwebhook:create', '--target-url',
        'http://h.test/', '--headers-file', file]);
      assert.deepEqual(webhook['headers'], { 'X-A': '***' });
    }
  }));

test('a headers file holds text values; what is no value of a header is refused', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'headers.json');
    const create = ['outgoingwebhook:create', '--target-url', 'http://h.test/', '--headers-file',
      file];
    writeFileSync(file, '{"X-A":5,"X-B":true}');
    const { headers } = await place.json(create);
    assert.deepEqual(headers, { 'X-A': '***', 'X-B': '***' });
    for (const value of ['{"a":1}', 'null', '["a"]']) {
      writeFileSync(file, `{"X-A":${value}}`);
      const { code, stderr } = await place.run(create);
      assert.deepEqual([code, /X-A.*string/.test(stderr)], [1, true], stderr);
    }
  }));
