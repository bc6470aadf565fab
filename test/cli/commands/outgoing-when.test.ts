import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPlace } from '../place.ts';

test('a condition is given, replaced as a whole, and taken away', () =>
  inPlace('through a server', async (place) => {
    const first = { all: [{ path: 'payload.a', op: 'gt', value: 1 }] };
    const file = join(place.folder, 'when.json');
    writeFileSync(file, JSON.stringify(first));
    const made = await place.json(['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/',
      '--trigger-event', 'a', '--when', `@${file}`, '--generate-secret']);
    assert.deepEqual(made['when'], first);
    const update = ['outgoingwebhook:update', String(made['identifier'])];
    const second = { not: { path: 'payload.gone', op: 'eq', value: null } };
    const changed = await place.json([...update, '--when', JSON.stringify(second)]);
    assert.deepEqual([changed['when'], changed['triggerEvent'], changed['hasSecret']],
      [second, 'a', true]);
    assert.deepEqual((await place.json([...update, '--unset', 'when']))['when'], undefined);
    const wrong = await place.run([...update, '--when', '{"path":"method","op":"exists"}']);
    assert.deepEqual([wrong.code, /\/when\/path: must begin with payload or/.test(wrong.stderr)],
      [1, true], wrong.stderr);
    assert.equal((await place.run([...update, '--when', '[]'])).code, 2);
  }));

test('a webhook that a 410 switched off, and one that fails, are named with the reason', () =>
  inPlace('through a server', async (place) => {
    const target = createServer((request, response) => {
      response.statusCode = request.url === '/gone' ? 410 : 400;
      response.end();
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    try {
      const address = target.address();
      assert.ok(address !== null && typeof address === 'object');
      for (const name of ['gone', 'broken']) {
        await place.json(['outgoingwebhook:create', '--name', name, '--trigger-event', 'a',
          '--retry-schedule', '0,0,0',
          '--target-url', `http://127.0.0.1:${address.port}/${name}`]);
      }
      await place.json(['event:emit', '--name', 'a', '--payload', '1']);
      let found = '';
      for (let tries = 0; tries < 100 && !/gone is off[^]*broken is/.test(found);
        tries += 1) {
        found = (await place.run(['doctor'])).stdout;
      }
      assert.match(found, /^outgoing +warning .*gone is off \(its target answered 410\)/m);
      assert.match(found, /^outgoing +warning .*broken is failing \(HTTP 400\)/m);
      const { stdout } = await place.run(['outgoingwebhook:list', '--state', 'failing']);
      assert.match(stdout, /REASON[^]*^gone .* off \(gone\) .* answered 410 /m);
      assert.match(stdout, /REASON[^]*^broken .* failing .*HTTP 400 /m);
      for (const command of [
        'outgoingwebhook:enable gone, ', 'delivery:resend --hook gone --status failed; ',
        'outgoingwebhook:acknowledge gone\n',
      ]) assert.ok(found.includes(`: ${command}`), found);
      await place.run(['outgoingwebhook:acknowledge', 'gone']);
      // What is on needs no switching on.
      const others = (await place.run(['doctor'])).stdout;
      assert.match(others, new RegExp('^outgoing +warning +broken is .*: '
        + 'delivery:resend --hook broken --status pending; .*: '
        + 'delivery:resend --hook broken --status failed$', 'm'));
      await place.run(['outgoingwebhook:disable', 'broken']);
      assert.match((await place.run(['doctor'])).stdout,
        /^outgoing +ok +no .* switched off by a failure that nobody has seen$/m);
    } finally {
      target.closeAllConnections();
      target.close();
    }
  }));
