import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createTurns, type Steps, type Turns } from '../../../src/base/turns.ts';
import { CHUNK_ITEMS_MAX } from '../../../src/webhooks/work/item-spec.ts';
import { startRelayFor, type Answer, type Relay } from '../relay.ts';
import { longTest } from '../../support/long.ts';

const PATH = '/api/configuration';
const IN = '/api/incoming-webhooks';
const OUT = '/api/outgoing-webhooks';
const CONFIG = '/api/action-configurations';

const DOCUMENT = {
  actionConfigurations: [{ identifier: 'deploy', actionType: 'log', options: { level: 'info' } }],
  incomingWebhooks: [{
    pathSegment: 'gh', verification: { preset: 'github' }, secret: 'hush-hush',
    routes: [{
      name: 'main', actionConfiguration: 'deploy',
      when: { path: 'payload.ref', op: 'eq', value: 'refs/heads/main' },
    }],
  }],
  outgoingWebhooks: [{
    name: 'crm', targetUrl: 'https://crm.example/hook', triggerEvents: ['book.*'], secret: 'psst',
    headers: { Authorization: 'Bearer xyzzy' },
  }],
};
const WAY_OUT = '; update it, or apply without keep, to change that';
const [WEBHOOK] = DOCUMENT.incomingWebhooks;
const [TARGET] = DOCUMENT.outgoingWebhooks;

const CREATED = [
  { sign: '+', kind: 'action configuration', name: 'deploy' },
  { sign: '+', kind: 'incoming webhook', name: 'gh' },
  { sign: '+', kind: 'outgoing webhook', name: 'crm' },
];

async function apply(relay: Relay, document: object, etag?: string): Promise<Answer> {
  return relay.ask('PUT', PATH, document, etag === undefined ? {} : { 'If-Match': etag });
}

/** Applies a document that is accepted, and returns its plan. */
async function applied(relay: Relay, document: object): Promise<Answer['json']> {
  const answer = await apply(relay, document);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Every record of the three kinds, as bytes that are stored. */
function listStored({ store }: Relay): readonly string[] {
  return ['action-configurations', 'incoming-webhooks', 'outgoing-webhooks', 'applied-records',
    'configuration-uses'].flatMap((name) => {
    const collection = store.collection(name);
    const walk = collection.walk();
    const records: string[] = [];
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      records.push(String(collection.bytesAt(slot)));
    }
    return records;
  });
}

/** Has the request refused, and nothing changed by it. */
async function checkRefused(
  relay: Relay, document: object, status: number, pattern: RegExp,
): Promise<Answer> {
  const before = listStored(relay);
  const dryRun = await apply(relay, { ...document, dryRun: true });
  const answer = await apply(relay, document);
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.text, pattern);
  assert.deepEqual(dryRun.json, answer.json);
  assert.deepEqual(listStored(relay), before);
  return answer;
}

async function read(relay: Relay, path: string): Promise<Answer['json']> {
  const { status, json, text } = await relay.ask('GET', path);
  assert.equal(status, 200, text);
  return json;
}

/** Until when the previous secret of an outgoing webhook counts. */
async function readUntil(relay: Relay, name: string): Promise<unknown> {
  const { previousSecret } = await read(relay, `${OUT}/${name}`);
  return (previousSecret as { readonly validUntil?: string } | undefined)?.validUntil ?? null;
}

test('an empty service becomes what the document says, and the same again changes nothing',
  async (context) => {
    const relay = await startRelayFor(context);
    assert.deepEqual(await applied(relay, DOCUMENT), { changes: CREATED, unchanged: 0 });
    const webhook = await read(relay, `${IN}/gh`);
    assert.equal(webhook['hasSecret'], true);
    assert.deepEqual((await read(relay, `${OUT}/crm`))['triggerEvents'], ['book.*']);
    const stored = listStored(relay);
    assert.deepEqual(await applied(relay, DOCUMENT), { changes: [], unchanged: 3 });
    assert.deepEqual(listStored(relay), stored);
  });

test('a dry run tells the plan and does nothing', async (context) => {
  const relay = await startRelayFor(context);
  const planned = await applied(relay, { ...DOCUMENT, dryRun: true });
  assert.deepEqual(planned, { changes: CREATED, unchanged: 0 });
  assert.deepEqual(listStored(relay), []);
});

test('what was changed by hand is put right, member by member, and told without secrets',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    const stored = await read(relay, `${IN}/gh`);
    await relay.ask('PATCH', `${OUT}/crm`, { triggerEvents: ['x.y'], secret: 'other' });
    await relay.ask('PATCH', `${IN}/gh`, { description: 'by hand' });
    await relay.ask('PATCH', `${CONFIG}/deploy`, { options: { level: 'debug' } });
    const answer = await apply(relay, DOCUMENT);
    assert.deepEqual(answer.json, {
      changes: [
        {
          sign: '~', kind: 'action configuration', name: 'deploy', members: ['options'],
          details: ['options: { "level": "debug" } → { "level": "info" }'],
        },
        {
          sign: '~', kind: 'incoming webhook', name: 'gh', members: ['description'],
          details: ['description: "by hand" → not set'],
        },
        {
          sign: '~', kind: 'outgoing webhook', name: 'crm', members: ['triggerEvents', 'secret'],
          details: [
            'triggerEvents: ["x.y"] → ["book.*"]',
            `secret changed, the one before stays valid until ${await readUntil(relay, 'crm')}`,
          ],
        },
      ],
      unchanged: 0,
    });
    assert.doesNotMatch(answer.text, /psst|other|hush/);
    const { updatedAt: _, ...mended } = await read(relay, `${IN}/gh`);
    const { updatedAt: __, ...before } = stored;
    assert.deepEqual(mended, before);
    assert.deepEqual(await applied(relay, DOCUMENT), { changes: [], unchanged: 3 });
  });

test('a member that is left out has its default, and the order of free members is no change',
  async (context) => {
    const relay = await startRelayFor(context);
    const long = { ...TARGET, timeout: 5, httpMethod: 'PUT', headers: { A: '1', B: '2' } };
    await applied(relay, { outgoingWebhooks: [long] });
    const turned = { ...long, headers: { B: '2', A: '1' } };
    assert.deepEqual(await applied(relay, { outgoingWebhooks: [turned] }),
      { changes: [], unchanged: 1 });
    assert.deepEqual((await applied(relay, { outgoingWebhooks: [TARGET] }))['changes'], [{
      sign: '~', kind: 'outgoing webhook', name: 'crm',
      members: ['httpMethod', 'headers', 'timeout'],
      details: [
        'httpMethod: "PUT" → "POST"',
        'headers: { "A": "***", "B": "***" } → { "Authorization": "***" }', 'timeout: 5 → not set',
      ],
    }]);
    const { httpMethod, timeout = null } = await read(relay, `${OUT}/crm`);
    assert.deepEqual([httpMethod, timeout], ['POST', null]);
  });

test('`enabled` keeps what is stored with when and why, unless the document says it',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    await relay.ask('PATCH', `${IN}/gh`, { enabled: false });
    await relay.ask('PATCH', `${OUT}/crm`, { enabled: false });
    const switchedOff = await read(relay, `${IN}/gh`);
    assert.equal(switchedOff['disabledReason'], 'manual');
    const off = ['incoming webhook gh stays off: hookshelf incomingwebhook:enable gh',
      'outgoing webhook crm stays off: hookshelf outgoingwebhook:enable crm'];
    assert.deepEqual(await applied(relay, DOCUMENT), { changes: [], unchanged: 3, off });
    const document = { ...DOCUMENT, incomingWebhooks: [{ ...WEBHOOK, description: 'new' }] };
    await applied(relay, document);
    const { enabled, disabledReason, disabledAt } = await read(relay, `${IN}/gh`);
    assert.deepEqual([enabled, disabledReason, disabledAt],
      [false, 'manual', switchedOff['disabledAt']]);
    const said = { ...DOCUMENT, outgoingWebhooks: [{ ...TARGET, enabled: true }] };
    const { changes, off: none } = await applied(relay, { ...said, incomingWebhooks: [] });
    assert.equal(none, undefined);
    assert.deepEqual(changes,
      [{
        sign: '~', kind: 'outgoing webhook', name: 'crm', members: ['enabled'],
        details: ['enabled: false → true'],
      }]);
    assert.equal((await read(relay, `${OUT}/crm`))['enabled'], true);
  });

test('a secret that is left out is removed, and the plan says so', async (context) => {
  const relay = await startRelayFor(context);
  await applied(relay, DOCUMENT);
  for (const secret of [undefined, null]) {
    await applied(relay, DOCUMENT);
    const document = {
      incomingWebhooks: [{ ...WEBHOOK, secret }], outgoingWebhooks: [{ ...TARGET, secret }],
    };
    assert.deepEqual(await applied(relay, document), {
      changes: [
        {
          sign: '~', kind: 'incoming webhook', name: 'gh', members: ['secret removed'],
          details: ['secret removed'],
        },
        {
          sign: '~', kind: 'outgoing webhook', name: 'crm', members: ['secret removed'],
          details: ['secret removed'],
        },
      ],
      unchanged: 0, unlisted: ['action configuration deploy'],
    });
    assert.equal((await read(relay, `${IN}/gh`))['hasSecret'], false);
  }
});

test('a changed secret keeps the one before, as a rotation does, unless the document says not',
  async (context) => {
    const relay = await startRelayFor(context);
    const withSecret = (secret: string, more = {}): object => ({
      incomingWebhooks: [{ ...WEBHOOK, secret }], outgoingWebhooks: [{ ...TARGET, secret }],
      actionConfigurations: DOCUMENT.actionConfigurations, ...more,
    });
    await applied(relay, withSecret('first-secret'));
    await applied(relay, withSecret('second-secret'));
    for (const path of [`${IN}/gh`, `${OUT}/crm`]) {
      const { previousSecret, updatedAt } = await read(relay, path);
      const { validUntil } = previousSecret as { validUntil: string };
      const hours = (Date.parse(validUntil) - Date.parse(String(updatedAt))) / 3_600_000;
      assert(Math.abs(hours - 24) < 0.01, `${hours} hours`);
    }
    const stored = listStored(relay);
    assert(stored.some((record) => record.includes('"first-secret"')));
    assert.deepEqual(await applied(relay, withSecret('second-secret')),
      { changes: [], unchanged: 3 });
    assert.deepEqual(listStored(relay), stored);
    const until = await readUntil(relay, 'crm');
    const changes = (await applied(relay, withSecret('third-secret', {
      noOverlap: true,
    })))['changes'] as readonly { readonly details: readonly string[] }[];
    assert.deepEqual(changes.map(({ details }) => details),
      Array.from({ length: 2 }, () => ['secret changed, the one before ends at once; the one '
        + `before that, valid until ${until}, ends at once`]));
    assert.equal((await read(relay, `${IN}/gh`))['previousSecret'], undefined);
    assert.equal(await readUntil(relay, 'crm'), null);
  });

test('a file without the secret that a handshake brought leaves it, and what awaits one, alone',
  async (context) => {
    const relay = await startRelayFor(context);
    const { secret: _, ...asana } = { ...WEBHOOK, verification: { preset: 'asana' } };
    const document = { ...DOCUMENT, incomingWebhooks: [asana] };
    await applied(relay, document);
    await relay.ask('POST', `${IN}/gh/await-secret`);
    assert.deepEqual((await applied(relay, document))['changes'], []);
    const { status } = await relay.ask('POST', '/webhook/in/gh', {}, { 'X-Hook-Secret': 'chosen' });
    assert.equal(status, 200);
    assert.deepEqual((await applied(relay, document))['changes'], []);
    assert.equal((await read(relay, `${IN}/gh`))['hasSecret'], true);
  });

test('a file with the secret before a rotation is not applied unless that is meant',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    const rotated = await relay.ask('POST', `${IN}/gh/rotate-secret`, { secret: 'hush-again' });
    assert.equal(rotated.status, 200, rotated.text);
    const { validUntil } = rotated.json['previousSecret'] as { validUntil: string };
    const before = listStored(relay);
    const refused = await apply(relay, DOCUMENT);
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /incoming webhook gh its previous secret again.*\\"yes\\": true/);
    assert.deepEqual(listStored(relay), before);
    const third = await apply(relay, {
      incomingWebhooks: [{ ...WEBHOOK, secret: 'a third one' }], dryRun: true,
    });
    assert.equal(third.status, 200, third.text);
    assert(third.text.includes(`; the one before that, valid until ${validUntil}, ends at once`));
    const [planned] = (await applied(relay, { ...DOCUMENT, dryRun: true }))['changes'] as
      readonly { readonly confirm: readonly string[]; readonly details: readonly string[] }[];
    assert.match(planned?.confirm.join() ?? '', /^give incoming webhook gh its previous secret/);
    assert.match(planned?.details.join() ?? '',
      /^secret changed back to the one before its rotation, the newer one stays valid until 2/);
    await applied(relay, { ...DOCUMENT, yes: true });
    assert(listStored(relay).some((record) => record.includes('"secret":"hush-hush"')));
    assert.doesNotMatch(refused.text + third.text, /hush-/);
  });

test('a secret that rotations have replaced is known for long, and left alone where that is asked',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    for (const path of [`${IN}/gh`, `${OUT}/crm`]) {
      for (const [overlapHours, force] of [[0, false], [24, false], [0, true]] as const) {
        const { status, text } =
          await relay.ask('POST', `${path}/rotate-secret`, { overlapHours, force });
        assert.equal(status, 200, text);
      }
      const webhook = await read(relay, path);
      assert.equal(webhook['replacedSecrets'], undefined);
      for (const method of ['PUT', 'PATCH']) {
        const { status, text } = await relay.ask(method, path, { ...webhook, description: method });
        assert.equal(status, 200, text);
      }
      await relay.ask('PATCH', path, { description: null });
    }
    const stored = listStored(relay);
    const refused = await apply(relay, DOCUMENT);
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /gh its previous secret.*crm its previous secret/);
    assert.deepEqual(await applied(relay, { ...DOCUMENT, keep: ['rotation'] }), {
      changes: [], unchanged: 3, kept: [
        `incoming webhook gh keeps what is stored, not what the file says: secret${WAY_OUT}`,
        `outgoing webhook crm keeps what is stored, not what the file says: secret${WAY_OUT}`,
      ],
    });
    assert.deepEqual(listStored(relay), stored);
    assert(stored.every((record) => !record.includes('psst') && !record.includes('hush-hush')));
    const { changes } = await applied(relay, {
      outgoingWebhooks: [{ ...TARGET, secret: 'a new one' }], keep: ['rotation'],
    });
    assert.match(JSON.stringify(changes), /"secret changed, the one before stays valid until/);
  });

test('the secret that a document last gave is known after any number of rotations',
  async (context) => {
    const relay = await startRelayFor(context);
    const rotate = async (): Promise<string> => {
      const { json, text } = await relay.ask('POST', `${OUT}/crm/rotate-secret`, { force: true });
      return typeof json['secret'] === 'string' ? json['secret'] : assert.fail(text);
    };
    const rotateOften = async (): Promise<void> => {
      for (let count = 0; count < 23; count += 1) await rotate();
    };
    const checkKept = async (document: object): Promise<void> => {
      await rotateOften();
      assert.equal((await apply(relay, document)).status, 409);
      const { changes } = await applied(relay, { ...document, keep: ['rotation'] });
      assert.deepEqual(changes, []);
    };
    const withSecret = (secret: string): object => ({ outgoingWebhooks: [{ ...TARGET, secret }] });
    await applied(relay, DOCUMENT);
    await checkKept(DOCUMENT);
    // The secret of a rotation comes into the document: nothing changes but what is noted.
    const copied = withSecret(await rotate());
    assert.deepEqual((await applied(relay, copied))['changes'], []);
    const stored = listStored(relay);
    assert.deepEqual((await applied(relay, copied))['changes'], []);
    assert.deepEqual(listStored(relay), stored);
    await checkKept(copied);
    await applied(relay, withSecret('a new one'));
    await checkKept(withSecret('a new one'));
  });

test('members stay as they are stored where the document leaves them to the customer',
  async (context) => {
    const relay = await startRelayFor(context);
    const rate = { limit: 9, seconds: 1 };
    const document = { ...DOCUMENT, keep: ['targetUrl', 'rate', 'description'] };
    assert.deepEqual((await applied(relay, document))['changes'], CREATED);
    const patched = await relay.ask('PATCH', `${OUT}/crm`, {
      targetUrl: 'https://new.example/', headers: { Authorization: 'Bearer xyzzy' }, rate,
      secret: 'psst', timeout: 7,
    });
    assert.equal(patched.status, 200, patched.text);
    await relay.ask('PATCH', `${IN}/gh`, { description: 'by hand' });
    const { changes, kept } = await applied(relay, document);
    assert.deepEqual(kept, ['outgoing webhook crm keeps what is stored, not what the file says: '
      + `targetUrl, rate${WAY_OUT}`]);
    assert.deepEqual((changes as { readonly members: unknown }[]).map(({ members }) => members),
      [['description'], ['timeout']]);
    const webhook = await read(relay, `${OUT}/crm`);
    assert.deepEqual([webhook['targetUrl'], webhook['rate']], ['https://new.example/', rate]);
    const { status, text } = await apply(relay, { ...document, keep: ['name'] });
    assert.equal(status, 422, text);
  });

test('webhooks that keep the same members share a line of the plan', async (context) => {
  const relay = await startRelayFor(context);
  const names = Array.from({ length: 7 }, (_, index) => `customer-${index}`);
  const document = (secret: string): object => ({
    outgoingWebhooks: names.map((name) => ({ ...TARGET, name, secret })),
    keep: ['secret', 'targetUrl'],
  });
  await applied(relay, document('psst'));
  const { status, text } = await relay.ask('PATCH', `${OUT}/customer-6`,
    { targetUrl: 'https://crm.example/new' });
  assert.equal(status, 200, text);
  assert.deepEqual((await applied(relay, document('hush')))['kept'], [
    '6 outgoing webhooks keep what is stored, not what the file says: secret (customer-0, '
      + 'customer-1, customer-2, customer-3, customer-4 and 1 more); update them, or apply without '
      + 'keep, to change that',
    'outgoing webhook customer-6 keeps what is stored, not what the file says: secret, targetUrl'
      + WAY_OUT,
  ]);
});

for (const [told, secret] of [
  ['another', 'another one'], ['none', undefined], ['one that nobody has here', { $env: 'ABSENT' }],
  ['a mask', '***'], ['the one before a rotation', 'psst'],
] as const) {
  test(`a secret that is left to a webhook stays where the document has ${told}`,
    async (context) => {
      const relay = await startRelayFor(context);
      const keep = ['secret'];
      assert.deepEqual((await applied(relay, { ...DOCUMENT, keep }))['changes'], CREATED);
      for (const path of [`${IN}/gh`, `${OUT}/crm`]) {
        const { status, text } = await relay.ask('POST', `${path}/rotate-secret`, {});
        assert.equal(status, 200, text);
      }
      const stored = listStored(relay);
      const document = {
        ...DOCUMENT, incomingWebhooks: [{ ...WEBHOOK, secret }],
        outgoingWebhooks: [{ ...TARGET, secret }], keep,
      };
      assert.deepEqual(await applied(relay, document), {
        changes: [], unchanged: 3, kept: [
          `incoming webhook gh keeps what is stored, not what the file says: secret${WAY_OUT}`,
          `outgoing webhook crm keeps what is stored, not what the file says: secret${WAY_OUT}`,
        ],
      });
      assert.deepEqual(listStored(relay), stored);
    });
}

test('where secrets are left to webhooks, those that have none get that of the document',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, { outgoingWebhooks: [{ ...TARGET, secret: null }] });
    const { changes, kept } = await applied(relay, {
      outgoingWebhooks: [TARGET, { ...TARGET, name: 'new' }], keep: ['secret'],
    });
    assert.deepEqual([changes, kept], [[
      {
        sign: '~', kind: 'outgoing webhook', name: 'crm', members: ['secret'],
        details: ['secret set'],
      },
      { sign: '+', kind: 'outgoing webhook', name: 'new' },
    ], undefined]);
    const secret = { $env: 'ABSENT' };
    await checkRefused(relay, {
      outgoingWebhooks: [{ ...TARGET, secret }, { ...TARGET, name: 'newer', secret }],
      keep: ['secret'],
    }, 422, /"\/outgoingWebhooks\/1\/secret".*\$env is resolved where/);
  });

test('an exported document is applied as it is where all its references are left to webhooks',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    const stored = listStored(relay);
    const exported = await read(relay, PATH);
    const { changes, unchanged } =
      await applied(relay, { ...exported, keep: ['secret', 'headers'] });
    assert.deepEqual([changes, unchanged], [[], 3]);
    assert.deepEqual(listStored(relay), stored);
    await checkRefused(relay, { ...exported, keep: ['secret'] }, 422, /headers\/Authorization/);
  });

test('a secret that is kept and does not fit what the document says is told as such',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    await checkRefused(relay, {
      outgoingWebhooks: [{ ...TARGET, signing: { preset: 'basic' }, secret: 'user:password' }],
      keep: ['secret'],
    }, 422, /"\/outgoingWebhooks\/0\/secret","detail":"[^"]*\(it is stored so, and kept\)"/);
  });

test('a kept secret is not kept for a new target that would be sent it', async (context) => {
  const relay = await startRelayFor(context);
  const scheme = {
    algorithm: 'token', key: 'utf8',
    signature: { from: { header: 'X-Token' }, encoding: 'utf8' },
  };
  const webhook = { ...TARGET, signing: { scheme } };
  await applied(relay, { outgoingWebhooks: [webhook] });
  await relay.ask('POST', `${OUT}/crm/rotate-secret`, {});
  const moved = { outgoingWebhooks: [{ ...webhook, targetUrl: 'https://new.example/' }] };
  const { status, text } = await apply(relay, { ...moved, keep: ['secret'] });
  assert.equal(status, 409, text);
  assert.match(text, /its previous secret again/);
});

test('the other mistakes of a record without a name are told with it', async (context) => {
  const relay = await startRelayFor(context);
  const { json } = await checkRefused(relay, {
    actionConfigurations: [{ actionType: 'nothing' }],
    outgoingWebhooks: [{ targetUrl: 'nowhere', timeout: 0 }, { targetUrl: 'nowhere' }],
  }, 422, /found by it/);
  assert.deepEqual((json['errors'] as { readonly pointer: string }[])
    .map(({ pointer }) => pointer).sort(), [
    '/actionConfigurations/0/actionType', '/actionConfigurations/0/identifier',
    '/outgoingWebhooks/0/name', '/outgoingWebhooks/0/targetUrl', '/outgoingWebhooks/0/timeout',
    '/outgoingWebhooks/1/name', '/outgoingWebhooks/1/targetUrl',
  ]);
});

test('a value that is hidden changes without being shown', async (context) => {
  const relay = await startRelayFor(context);
  await applied(relay, DOCUMENT);
  const outgoingWebhooks = [{ ...TARGET, headers: { Authorization: 'Bearer other' } }];
  const answer = await apply(relay, { outgoingWebhooks });
  assert.match(answer.text,
    /headers: \{ \\"Authorization\\": \\"\*\*\*\\" \}, with another value that is not shown/);
  assert.doesNotMatch(answer.text, /Bearer|xyzzy/);
});

test('records that the document does not name stay, with prune as well if people made them',
  async (context) => {
    const relay = await startRelayFor(context);
    await relay.ask('POST', CONFIG, { identifier: 'deploy', actionType: 'log' });
    await relay.ask('POST', OUT, { name: 'mine', targetUrl: 'https://mine.example/' });
    await applied(relay, DOCUMENT);
    assert.deepEqual(await applied(relay, {}), {
      changes: [], unchanged: 0, unlisted: ['outgoing webhook crm', 'incoming webhook gh'],
    });
    const { changes, unlisted } = await applied(relay, { prune: true });
    assert.equal(unlisted, undefined);
    // `deploy` was adopted and not created.
    assert.deepEqual(changes, [
      { sign: '-', kind: 'outgoing webhook', name: 'crm' },
      { sign: '-', kind: 'incoming webhook', name: 'gh' },
    ]);
    assert.equal((await relay.ask('GET', `${OUT}/mine`)).status, 200);
    assert.equal((await relay.ask('GET', `${CONFIG}/deploy`)).status, 200);
    assert.deepEqual((await applied(relay, { prune: true }))['changes'], []);
  });

test('what was deleted by hand is made again, and what was made anew by hand is people\'s',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    await relay.ask('DELETE', `${IN}/gh`);
    await relay.ask('DELETE', `${CONFIG}/deploy`);
    await relay.ask('POST', CONFIG, { identifier: 'deploy', actionType: 'log' });
    assert.deepEqual(await applied(relay, DOCUMENT), {
      changes: [
        {
          sign: '~', kind: 'action configuration', name: 'deploy', members: ['options'],
          details: ['options: {} → { "level": "info" }'],
        },
        { sign: '+', kind: 'incoming webhook', name: 'gh' },
      ],
      unchanged: 1,
    });
    assert.deepEqual((await applied(relay, { prune: true }))['changes'], [
      { sign: '-', kind: 'outgoing webhook', name: 'crm' },
      { sign: '-', kind: 'incoming webhook', name: 'gh' },
    ]);
  });

test('prune deletes of one set only, and what another set made is adopted', async (context) => {
  const relay = await startRelayFor(context);
  const [configuration] = DOCUMENT.actionConfigurations;
  await applied(relay, { ...DOCUMENT, set: 'team-a' });
  const other = { actionConfigurations: [configuration, { ...configuration, identifier: 'b' }] };
  await applied(relay, { ...other, set: 'team-b', prune: true });
  assert.deepEqual((await applied(relay, { set: 'team-b', prune: true }))['changes'],
    [{ sign: '-', kind: 'action configuration', name: 'b' }]);
  assert.deepEqual((await applied(relay, { prune: true }))['changes'], []);
  const { changes } = await applied(relay, { set: 'team-a', prune: true });
  assert.equal((changes as readonly object[]).length, 3);
  assert.deepEqual(listStored(relay), []);
});

test('a name goes from a pruned webhook to a new one in one apply', async (context) => {
  const relay = await startRelayFor(context);
  const first = { pathSegment: 'a', name: 'front', actionConfiguration: 'deploy' };
  const document = { actionConfigurations: DOCUMENT.actionConfigurations };
  await applied(relay, { ...document, incomingWebhooks: [first] });
  const { changes } = await applied(relay, {
    ...document, incomingWebhooks: [{ ...first, pathSegment: 'b' }], prune: true,
  });
  assert.deepEqual(changes, [
    { sign: '+', kind: 'incoming webhook', name: 'b' },
    { sign: '-', kind: 'incoming webhook', name: 'a' },
  ]);
  assert.equal((await read(relay, `${IN}/front`))['pathSegment'], 'b');
});

test('webhooks swap their names in one apply, or pass them on in a row', async (context) => {
  const relay = await startRelayFor(context);
  const make = (names: readonly string[]): object => ({
    actionConfigurations: DOCUMENT.actionConfigurations,
    incomingWebhooks: names.map((name, index) =>
      ({ pathSegment: `p${index}`, name, actionConfiguration: 'deploy' })),
  });
  for (const names of [['a', 'b', 'c'], ['b', 'a', 'c'], ['c', 'b', 'a'], ['a', 'c', 'd'],
    ['d', 'a', 'c']]) {
    await applied(relay, make(names));
    const stored = await Promise.all(names.map((_, index) => read(relay, `${IN}/p${index}`)));
    assert.deepEqual(stored.map(({ name }) => name), names);
    assert.deepEqual((await applied(relay, make(names)))['changes'], []);
  }
});

test('a configuration becomes emit-event as the outgoing webhook that used it leaves it',
  async (context) => {
    const relay = await startRelayFor(context);
    const target = { ...TARGET, actionConfiguration: 'deploy' };
    await applied(relay, { ...DOCUMENT, outgoingWebhooks: [target] });
    const emit = { identifier: 'deploy', actionType: 'emit-event', options: { name: 'x' } };
    const document = { ...DOCUMENT, actionConfigurations: [emit] };
    await checkRefused(relay, { actionConfigurations: [emit] }, 409, /in use by outgoing webhooks/);
    await applied(relay, document);
    assert.equal((await read(relay, `${CONFIG}/deploy`))['actionType'], 'emit-event');
  });

test('a pruned configuration that a webhook made by hand uses has the whole apply refused',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    await relay.ask('POST', IN, { pathSegment: 'mine', actionConfiguration: 'deploy' });
    await checkRefused(relay, { prune: true }, 409, /deploy is in use by webhooks: [^"]*mine/);
  });

test('of the webhooks that use a pruned configuration only those that would stay are named',
  async (context) => {
    const relay = await startRelayFor(context);
    const next = { identifier: 'next', actionType: 'log' };
    const moved = { pathSegment: 'moved', actionConfiguration: 'next' };
    await applied(relay, {
      actionConfigurations: [...DOCUMENT.actionConfigurations, next],
      incomingWebhooks: [WEBHOOK, { ...moved, actionConfiguration: 'deploy' }],
    });
    await relay.ask('POST', IN, { pathSegment: 'mine', actionConfiguration: 'deploy' });
    await checkRefused(relay,
      { actionConfigurations: [next], incomingWebhooks: [moved], prune: true },
      409, /deploy is in use by webhooks: mine"/);
  });

test('what waits for a webhook that would go is counted, and ends with it', async (context) => {
  const relay = await startRelayFor(context, { incoming: { retrySchedule: [3600] } });
  relay.webhooks.start();
  const document = {
    actionConfigurations: [
      { identifier: 'fail', actionType: 'http-forward', options: { url: 'http://127.0.0.1:1/' } },
    ],
    incomingWebhooks: [{
      pathSegment: 'slow', answer: 'accepted', inbox: 'all',
      routes: ['a', 'b'].map((name) => ({ name, actionConfiguration: 'fail' })),
    }],
    outgoingWebhooks: [{ ...TARGET, enabled: false, triggerEvents: ['x.y'] }],
  };
  await applied(relay, document);
  for (let count = 0; count < 3; count += 1) {
    assert.equal((await relay.ask('POST', '/webhook/in/slow', {})).status, 200);
  }
  await relay.ask('POST', `${OUT}/crm/deliveries`, { payload: {} });
  const prune = { prune: true, actionConfigurations: document.actionConfigurations };
  const plan = await applied(relay, { ...prune, dryRun: true });
  assert.deepEqual(plan['changes'], [
    { sign: '-', kind: 'outgoing webhook', name: 'crm', waiting: 1 },
    { sign: '-', kind: 'incoming webhook', name: 'slow', waiting: 3 },
  ]);
  assert.deepEqual(await applied(relay, prune), plan);
  const deliveries = await relay.ask('GET', '/api/deliveries?status=pending');
  assert.deepEqual(JSON.parse(deliveries.text), []);
  const requests = await relay.ask('GET', '/api/requests?status=pending');
  assert.deepEqual(JSON.parse(requests.text), []);
});

longTest('all of what waits for a pruned webhook ends, however much it is', async (context) => {
  const relay = await startRelayFor(context);
  // No worker runs that would end it later.
  await applied(relay, {
    outgoingWebhooks: [{ ...TARGET, enabled: false, triggerEvents: ['x.y'] }],
  });
  // More than one transaction takes.
  const waiting = 2 * CHUNK_ITEMS_MAX + 1;
  for (let sent = 0; sent < waiting; sent += 50) {
    await Promise.all(Array.from({ length: Math.min(50, waiting - sent) }, () =>
      relay.ask('POST', `${OUT}/crm/deliveries`, { payload: {} })));
  }
  assert.deepEqual((await applied(relay, { prune: true }))['changes'],
    [{ sign: '-', kind: 'outgoing webhook', name: 'crm', waiting }]);
  const deliveries = await relay.ask('GET', '/api/deliveries?status=pending');
  assert.deepEqual(JSON.parse(deliveries.text), []);
});

test('a mark of a record that was made anew beside it says nothing', async (context) => {
  const relay = await startRelayFor(context);
  const { actionConfigurations } = DOCUMENT;
  await applied(relay, { actionConfigurations });
  // As a release does that knows no marks: it deletes the record, and somebody makes it again.
  const text = String(relay.store.collection('action-configurations').find('deploy')?.bytes);
  const anew = text.replace(/"createdAt":"[^"]+"/, '"createdAt":"2020-01-01T00:00:00.000Z"');
  assert.notEqual(anew, text);
  await relay.store.transact((transaction) =>
    transaction.put('action-configurations', 'deploy', anew));
  assert.deepEqual((await applied(relay, { prune: true }))['changes'], []);
});

test('If-Match has exactly the plan done: any change since then is 412, and nothing is done',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    const changes: readonly (() => Promise<unknown>)[] = [
      () => relay.ask('PATCH', `${IN}/gh`, { secret: 'another' }),
      () => relay.ask('PATCH', `${OUT}/crm`, { headers: { Authorization: 'Bearer other' } }),
      () => relay.ask('POST', OUT, { targetUrl: 'https://nameless.example/' }),
      () => relay.ask('DELETE', `${OUT}/crm`),
      () => relay.ask('POST', CONFIG, { identifier: 'new', actionType: 'log' }),
      () => relay.ask('POST', `${IN}/gh/rotate-secret`, {}),
    ];
    for (const change of changes) {
      const plan = await apply(relay, { prune: true, dryRun: true });
      const etag = String(plan.headers['etag']);
      assert.equal((await relay.ask('GET', PATH)).headers['etag'], etag);
      await change();
      const stored = listStored(relay);
      const answer = await apply(relay, { prune: true }, etag);
      assert.equal(answer.status, 412, answer.text);
      assert.match(answer.text, /changed since the plan was made: nothing is done/);
      assert.deepEqual(listStored(relay), stored);
    }
    const plan = await apply(relay, { ...DOCUMENT, dryRun: true });
    const answer = await apply(relay, DOCUMENT, String(plan.headers['etag']));
    // The overlap of a secret begins when it is changed.
    const withoutTimes = ({ text }: Answer): string => text.replaceAll(/until \S+Z/g, 'until then');
    assert.deepEqual([answer.status, withoutTimes(answer)], [200, withoutTimes(plan)]);
    assert.equal((await relay.ask('GET', PATH)).headers['etag'], answer.headers['etag']);
    assert.equal((await apply(relay, DOCUMENT, 'no quotes')).status, 400);
    assert.equal((await apply(relay, DOCUMENT, '*')).status, 200);
  });

test('two applies at once are done one after the other, and of two exact ones one alone',
  async (context) => {
    const relay = await startRelayFor(context);
    const make = (name: string): object => ({
      actionConfigurations: [{ identifier: name, actionType: 'log' }],
      incomingWebhooks: [{ pathSegment: 'shared', actionConfiguration: name }], prune: true,
    });
    const etag = String((await relay.ask('GET', PATH)).headers['etag']);
    const exact = await Promise.all(['a', 'b'].map((name) => apply(relay, make(name), etag)));
    assert.deepEqual(exact.map(({ status }) => status).sort(), [200, 412]);
    const both = await Promise.all(['c', 'd'].map((name) => apply(relay, make(name))));
    assert.deepEqual(both.map(({ status }) => status), [200, 200]);
    const { actionConfiguration } = await read(relay, `${IN}/shared`);
    const left = JSON.parse((await relay.ask('GET', CONFIG)).text);
    assert.deepEqual(left.map(({ identifier }: { identifier: string }) => identifier),
      [actionConfiguration]);
  });

test('one wrong record of many has nothing done, and all errors are told with their places',
  async (context) => {
    const relay = await startRelayFor(context);
    const { json } = await checkRefused(relay, {
      actionConfigurations: [
        ...DOCUMENT.actionConfigurations, { identifier: 'X', actionType: 'log' },
      ],
      incomingWebhooks: [WEBHOOK, { pathSegment: 'b', actionConfiguration: 'deploy', enabled: 3 }],
      outgoingWebhooks: [{ name: 'x', targetUrl: 'ftp://x' }],
    }, 422, /invalid/);
    const pointers = (json['errors'] as readonly { readonly pointer: string }[])
      .map(({ pointer }) => pointer);
    assert.deepEqual(pointers, ['/actionConfigurations/1/identifier', '/incomingWebhooks/1/enabled',
      '/outgoingWebhooks/0/targetUrl']);
    const mixed = await checkRefused(relay, {
      incommingWebhooks: [], set: 'A B',
      incomingWebhooks: [{ name: 'x' }, { pathSegment: 'b', secret: { $env: 'X' }, enabled: 3 }],
      outgoingWebhooks: [{ ...TARGET, url: 1 }],
    }, 422, /invalid/);
    assert.deepEqual((mixed.json['errors'] as readonly { readonly pointer: string }[])
      .map(({ pointer }) => pointer).sort(), [
      '/incomingWebhooks/0/actionConfiguration', '/incomingWebhooks/0/pathSegment',
      '/incomingWebhooks/1/actionConfiguration',
      '/incomingWebhooks/1/enabled', '/incomingWebhooks/1/secret', '/incommingWebhooks',
      '/outgoingWebhooks/0/url', '/set',
    ]);
    await checkRefused(relay, {
      ...DOCUMENT, outgoingWebhooks: [{ ...TARGET, actionConfiguration: 'depoly' }],
    }, 422, /"\/outgoingWebhooks\/0\/actionConfiguration".*\\"depoly\\"/);
  });

const REFUSED: readonly [string, object, string, RegExp][] = [
  ['no list', { incomingWebhooks: {} }, '/incomingWebhooks', /must be an array/],
  ['no record', { incomingWebhooks: [1] }, '/incomingWebhooks/0', /must be a JSON object/],
  ['an unknown member', { incommingWebhooks: [] }, '/incommingWebhooks', /incomingWebhooks/],
  ['an unknown member of a record', { outgoingWebhooks: [{ ...TARGET, url: 1 }] },
    '/outgoingWebhooks/0/url', /is not a known member/],
  ['no name', { outgoingWebhooks: [{ targetUrl: 'https://x.example/' }] },
    '/outgoingWebhooks/0/name', /is required/],
  ['no path', { incomingWebhooks: [{ name: 'x' }] }, '/incomingWebhooks/0/pathSegment',
    /is required/],
  ['no identifier', { actionConfigurations: [{ actionType: 'log' }] },
    '/actionConfigurations/0/identifier', /is required/],
  ['a record twice', { outgoingWebhooks: [TARGET, TARGET] }, '/outgoingWebhooks/1/name',
    /must not stand twice/],
  ['$env', { outgoingWebhooks: [{ ...TARGET, secret: { $env: 'X' } }] },
    '/outgoingWebhooks/0/secret', /\$env is resolved where `hookshelf apply` runs/],
  ['$file within options', {
    actionConfigurations: [
      { identifier: 'a', actionType: 'log', options: { deep: [{ $file: '/etc/passwd' }] } },
    ],
  }, '/actionConfigurations/0/options/deep/0', /\$file is resolved where/],
  ['a mask', { outgoingWebhooks: [{ ...TARGET, secret: '***' }] },
    '/outgoingWebhooks/0/secret', /must be the value itself/],
  ['a mask in a URL', { outgoingWebhooks: [{ ...TARGET, targetUrl: 'https://***@x.example/' }] },
    '/outgoingWebhooks/0/targetUrl', /must be the value itself/],
  ['a bad set', { set: 'A B' }, '/set', /must be/],
  ['no boolean', { prune: 'yes' }, '/prune', /must be true or false/],
  ['an identifier of ours', {
    outgoingWebhooks: [{ ...TARGET, identifier: '01a1f92e-35fb-707d-973c-66884e9f573c' }],
  }, '/outgoingWebhooks/0/identifier', /is assigned by the service/],
  ['bad options', {
    actionConfigurations: [{ identifier: 'a', actionType: 'log', options: { level: 'loud' } }],
  }, '/actionConfigurations/0/options', /./],
];

test('a document that breaks a rule is refused with the place and how to mend it',
  async (context) => {
    const relay = await startRelayFor(context);
    for (const [what, document, pointer, pattern] of REFUSED) {
      const answer = await apply(relay, document);
      assert.equal(answer.status, 422, what);
      const [first] = answer.json['errors'] as readonly { pointer: string; detail: string }[];
      assert.equal(first?.pointer, pointer, what);
      assert.match(first?.detail ?? '', pattern, what);
    }
    assert.equal((await relay.ask('PUT', PATH, [])).status, 422);
    assert.deepEqual(listStored(relay), []);
  });

test('a name that a record outside of the document has is a conflict that names the record',
  async (context) => {
    const relay = await startRelayFor(context);
    await applied(relay, DOCUMENT);
    const other = { pathSegment: 'other', name: 'taken', actionConfiguration: 'deploy' };
    await relay.ask('POST', IN, other);
    const webhook = { pathSegment: 'taken', actionConfiguration: 'deploy' };
    await checkRefused(relay, { incomingWebhooks: [webhook] }, 409,
      /incoming webhook taken: pathSegment [^ ]*taken[^ ]* is (already )?taken/);
  });

test('a target on the deny list is refused with its place', async (context) => {
  const relay = await startRelayFor(context, { client: { denyAddresses: ['10.0.0.0/8'] } });
  const target = { ...TARGET, targetUrl: 'http://10.1.2.3/' };
  await checkRefused(relay, { outgoingWebhooks: [target] }, 422,
    /"\/outgoingWebhooks\/0\/targetUrl".*denyAddresses/);
});

longTest('a document may have 16 MiB, and one byte more is 413 before anything is done',
  async (context) => {
    const relay = await startRelayFor(context);
    const base = { actionConfigurations: [{ identifier: 'a', actionType: 'log' }] };
    const pad = (bytes: number): string => JSON.stringify(base).padEnd(bytes, ' ');
    const send = (body: string): Promise<Response> => fetch(`${relay.url}${PATH}`, {
      method: 'PUT', body, headers: { 'Content-Type': 'application/json' },
    });
    assert.equal((await send(pad((16 << 20) + 1))).status, 413);
    assert.deepEqual(listStored(relay), []);
    assert.equal((await send(pad(16 << 20))).status, 200);
    assert.equal(listStored(relay).length, 2);
    assert.equal((await send('{"set":')).status, 400);
    const untyped = await fetch(`${relay.url}${PATH}`, { method: 'PUT', body: '{}' });
    assert.equal(untyped.status, 415);
  });

test('a batch that fails leaves nothing of an apply', async (context) => {
  const relay = await startRelayFor(context);
  const store = relay.store as unknown as { setFailure(error: Error | null): void };
  const { AppError } = await import('../../../src/base/errors.ts');
  store.setFailure(new AppError('storage_full', 'the disk is full'));
  assert.equal((await apply(relay, DOCUMENT)).status, 507);
  assert.deepEqual(listStored(relay), []);
  store.setFailure(null);
  assert.deepEqual(await applied(relay, DOCUMENT), { changes: CREATED, unchanged: 0 });
});

test('an apply that changes something is a line of the log without secrets', async (context) => {
  const relay = await startRelayFor(context);
  await applied(relay, DOCUMENT);
  await applied(relay, DOCUMENT);
  const lines = relay.logLines.filter((line) => line.includes('configuration document'));
  assert.equal(lines.length, 1);
  const { set, created, changed, deleted, unchanged } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([set, created, changed, deleted, unchanged], ['default', 3, 0, 0, 0]);
  assert.doesNotMatch(relay.logLines.join('\n'), /hush|psst|xyzzy/);
});

longTest('the records of a large document are parsed in turns', async (context) => {
  let steps = 0;
  const inner = createTurns(systemClock);
  function* counted<T>(work: Steps<T>): Steps<T> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      steps += 1;
      yield;
    }
  }
  const turns: Turns = { ...inner, run: (work, isWanted) => inner.run(counted(work), isWanted) };
  const relay = await startRelayFor(context, { turns });
  const outgoingWebhooks = Array.from({ length: 300 }, (_, index) =>
    ({ ...TARGET, name: `crm-${index}` }));
  assert.equal((await applied(relay, { outgoingWebhooks }))['unchanged'], 0);
  assert.equal(steps, 300);
  assert.deepEqual(await applied(relay, { outgoingWebhooks }), { changes: [], unchanged: 300 });
});
