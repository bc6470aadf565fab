import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import type { WrapApiClient } from '../../../../src/cli/create-command-context.ts';
import type { Ran, RunOptions } from '../../io.ts';
import { ALL_WAYS, WAYS, inPlace } from '../../place.ts';
import type { Place } from '../../place.ts';

const SECRET = 'a-secret-of-the-tests-that-is-nowhere';
const CRM_SECRET = `whsec_${Buffer.from(SECRET).toString('base64')}`;
const ENVIRONMENT = { GH_SECRET: SECRET };
const SHELF = {
  actionConfigurations: [{ identifier: 'to-log', actionType: 'log', options: { level: 'info' } }],
  incomingWebhooks: [{
    pathSegment: 'gh', verification: { preset: 'github' }, secret: { $env: 'GH_SECRET' },
    routes: [{ name: 'main', actionConfiguration: 'to-log' }],
  }],
  outgoingWebhooks: [{
    name: 'crm', targetUrl: 'http://127.0.0.1:9/', triggerEvents: ['crm.*'],
    secret: { $file: 'secrets/crm' },
  }],
};
type Shelf = Partial<Record<keyof typeof SHELF, readonly object[]>>;
const WITHOUT_SECRET: Shelf = {
  ...SHELF, outgoingWebhooks: SHELF.outgoingWebhooks.map(({ secret: _, ...webhook }) => webhook),
};
const SMALLER: Shelf = { ...SHELF, outgoingWebhooks: [] };
const CREATED = '+ action configuration to-log\n+ incoming webhook gh\n+ outgoing webhook crm\n'
  + '= 0 unchanged\n';

/** Writes the file, and applies it. */
function apply(
  { folder, run }: Place, shelf: Shelf, words: readonly string[] = [], options: RunOptions = {},
): Promise<Ran> {
  const path = join(folder, 'shelf.json');
  writeFileSync(path, JSON.stringify(shelf));
  mkdirSync(join(folder, 'secrets'), { recursive: true });
  writeFileSync(join(folder, 'secrets/crm'), `${CRM_SECRET}\n`);
  return run(['apply', '--file', path, ...words], { environment: ENVIRONMENT, ...options });
}

// Without a server it makes no data directory either.
for (const way of ALL_WAYS) {
  test(`says which webhook stays off, and how to switch it on, ${way}`, () =>
    inPlace(way, async (place) => {
      const [webhook] = SHELF.incomingWebhooks;
      await apply(place, { ...SHELF, incomingWebhooks: [{ ...webhook, enabled: false }] });
      assert.deepEqual(await apply(place, SHELF), {
        code: 0, stderr: '', stdout: 'incoming webhook gh stays off: hookshelf '
          + 'incomingwebhook:enable gh\n= 3 unchanged\n',
      });
    }));

  test(`a dry run says by 0 and 3 whether something would change, and does nothing, ${way}`, () =>
    inPlace(way, async (place) => {
      const isAlone = way === 'without a server';
      if (isAlone) rmdirSync(place.data);
      assert.deepEqual(await apply(place, SHELF, ['--dry-run']),
        { code: 3, stdout: CREATED, stderr: '' });
      if (isAlone) assert.equal(existsSync(place.data), false);
      await apply(place, SHELF);
      assert.deepEqual(await apply(place, SHELF, ['--dry-run']),
        { code: 0, stdout: '= 3 unchanged\n', stderr: '' });
      assert.deepEqual(await apply(place, SMALLER), {
        code: 0, stderr: '', stdout: 'not in the file, and deleted with --prune: outgoing webhook '
          + 'crm\n= 2 unchanged\n',
      });
      const { code, stdout } = await apply(place, SMALLER, ['--dry-run', '--prune', '--json']);
      assert.equal(code, 3);
      assert.deepEqual(JSON.parse(stdout), {
        changes: [{ sign: '-', kind: 'outgoing webhook', name: 'crm' }], unchanged: 2,
      });
      assert.equal((await place.json<unknown[]>(['outgoingwebhook:list'])).length, 1);
    }));
}

for (const way of WAYS) {
  test(`apply makes the configuration what the file says, ${way}`, () =>
    inPlace(way, async (place) => {
      assert.deepEqual(await apply(place, SHELF),
        { code: 0, stdout: `${CREATED}applied: 3 changes\n`, stderr: '' });
      const webhooks = await place.json<{ pathSegment: string; hasSecret: boolean }[]>(
        ['incomingwebhook:list']);
      assert.deepEqual(webhooks.map(({ pathSegment, hasSecret }) => [pathSegment, hasSecret]),
        [['gh', true]]);
      assert.deepEqual(await apply(place, SHELF),
        { code: 0, stdout: '= 3 unchanged\n', stderr: '' });
    }));

  test(`a secret is removed with --yes alone where nobody can be asked, ${way}`, () =>
    inPlace(way, async (place) => {
      await apply(place, SHELF);
      const plan = '~ outgoing webhook crm\n    secret removed\n= 2 unchanged\n';
      assert.deepEqual(await apply(place, WITHOUT_SECRET), {
        code: 1, stdout: plan,
        stderr: 'hookshelf: nothing was changed: this would remove the secret of outgoing webhook '
          + 'crm; give --yes if that is meant\n',
      });
      assert.deepEqual(await apply(place, SHELF),
        { code: 0, stdout: '= 3 unchanged\n', stderr: '' });
      assert.deepEqual(await apply(place, WITHOUT_SECRET, ['--yes']),
        { code: 0, stdout: `${plan}applied: 1 change\n`, stderr: '' });
    }));

  test(`an export is applied elsewhere, and is the same bytes there, ${way}`, () =>
    inPlace(way, async (place) => {
      await apply(place, SHELF);
      const exported = await place.run(['config:export']);
      assert.deepEqual(exported, {
        code: 0, stdout: exported.stdout,
        stderr: 'hookshelf: set GH_SECRET: secret of incoming webhook gh\n'
          + 'hookshelf: set CRM_SECRET: secret of outgoing webhook crm\n',
      });
      assert.equal(exported.stdout.includes(SECRET), false);
      await inPlace('without a server', async (elsewhere) => {
        const environment = { ...ENVIRONMENT, CRM_SECRET };
        const { code, stderr } =
          await apply(elsewhere, JSON.parse(exported.stdout) as Shelf, [], { environment });
        assert.deepEqual([code, stderr], [0, '']);
        assert.equal((await elsewhere.run(['config:export'])).stdout, exported.stdout);
        assert.equal((await apply(elsewhere, SHELF)).stdout, '= 3 unchanged\n');
      });
    }));
}

test('a list of known names stands once, however many names are unknown', () =>
  inPlace('through a server', async (place) => {
    const actionConfigurations = ['a', 'b', 'c'].map((identifier) =>
      ({ identifier, actionType: `zzz-${identifier}` }));
    const { code, stderr } = await apply(place, { actionConfigurations });
    assert.equal(code, 1);
    assert.match(stderr, /zzz-a.*zzz-b.*zzz-c/);
    assert.equal(stderr.match(/known are/g)?.length, 1);
  }));

test('a person who is asked once says yes or no', () => inPlace('through a server',
  async (place) => {
    const terminal = { isTyped: true, columns: 80 };
    const question = 'Make these 3 changes? [y/N] ';
    for (const input of ['n\n', '\n', 'yes please\n', '', 'maybe']) {
      const { code, stdout, stderr } = await apply(place, SHELF, [], { ...terminal, input });
      assert.deepEqual([code, stdout], [1, CREATED], JSON.stringify(input));
      const typed = input.includes('\n') ? '' : '\n';
      assert.equal(stderr, `${question}${typed}hookshelf: nothing was changed\n`);
    }
    assert.deepEqual(await apply(place, SHELF, [], { ...terminal, input: 'Y\n' }),
      { code: 0, stdout: `${CREATED}applied: 3 changes\n`, stderr: question });
    assert.deepEqual(await apply(place, SHELF, [], { ...terminal, input: '' }),
      { code: 0, stdout: '= 3 unchanged\n', stderr: '' });
    assert.deepEqual(await apply(place, WITHOUT_SECRET, [], { ...terminal, input: 'yes\n' }), {
      code: 0, stdout: '~ outgoing webhook crm\n    secret removed\n= 2 unchanged\n'
        + 'applied: 1 change\n',
      stderr: 'Make this change? [y/N] ',
    });
    assert.deepEqual(await apply(place, SHELF, ['--yes'], { ...terminal, input: 'n\n' }), {
      code: 0, stdout: '~ outgoing webhook crm\n    secret set\n= 2 unchanged\napplied: 1 change\n',
      stderr: '',
    });
  }));

test('while a person thinks, other commands have the data directory', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF);
    let listed: Ran | null = null;
    const onOutput = (chunk: Buffer): void => {
      assert.match(chunk.toString(), /crm|unchanged|applied/);
    };
    // The answer comes once another command is done.
    async function* type(): AsyncGenerator<string> {
      listed = await place.run(['incomingwebhook:list', '--json']);
      yield 'y\n';
    }
    const { code } = await apply(place, SMALLER, ['--prune'], {
      isTyped: true, columns: 80, typing: type(), onOutput,
    });
    assert.equal(code, 0);
    assert.equal((listed as Ran | null)?.code, 0);
  }));

test('what waits is counted, and deleted with --yes alone where nobody can be asked', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF);
    for (const name of ['crm.one', 'crm.two']) {
      assert.equal((await place.run(['event:emit', '--name', name, '--payload', '{}'])).code, 0);
    }
    const plan = '- outgoing webhook crm: 2 deliveries that still wait\n= 2 unchanged\n';
    assert.deepEqual(await apply(place, SMALLER, ['--prune', '--dry-run']),
      { code: 3, stdout: plan, stderr: '' });
    assert.deepEqual(await apply(place, SMALLER, ['--prune']), {
      code: 1, stdout: plan,
      stderr: 'hookshelf: nothing was changed: this would remove outgoing webhook crm with '
        + '2 deliveries that still wait; give --yes if that is meant\n',
    });
    assert.deepEqual(await apply(place, SMALLER, ['--prune', '--yes']),
      { code: 0, stdout: `${plan}applied: 1 change\n`, stderr: '' });
  }));

test('what waits for a webhook that is deleted is counted', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF);
    await place.run(['event:emit', '--name', 'crm.one', '--payload', '{}']);
    const outgoing = await place.run(['outgoingwebhook:delete', 'crm']);
    assert.match(outgoing.stderr, /^hookshelf: 1 delivery that waited for it has ended with it\n$/);
    assert.equal((await place.run(['incomingwebhook:delete', 'gh'])).stderr, '');
  }));

test('a secret that the libraries of receivers do not take is told when it is set', () =>
  inPlace('without a server', async (place) => {
    const [{ secret: _, ...webhook } = {}] = SHELF.outgoingWebhooks;
    const withSecrets = (...secrets: readonly string[]): Shelf => ({
      outgoingWebhooks: secrets.map((secret, index) =>
        ({ ...webhook, name: `crm-${index}`, secret })),
    });
    const whsec = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const { stderr } = await apply(place, withSecrets('aa', whsec, 'bb'));
    assert.match(stderr, /^hookshelf: outgoing webhooks crm-0, crm-2: the text of the secret is /);
    assert.equal(stderr.split('\n').length, 2);
    assert.equal((await apply(place, withSecrets('aa', whsec, 'bb'))).stderr, '');
    assert.match((await apply(place, withSecrets('aa', 'cc', 'bb'))).stderr,
      /^hookshelf: outgoing webhook crm-1: the text of the secret is the key/);
  }));

test('a set prunes what it made, and nothing of another set', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF, ['--set', 'billing']);
    assert.equal((await apply(place, SMALLER, ['--prune'])).stdout, '= 2 unchanged\n');
    assert.equal((await apply(place, SMALLER, ['--prune', '--set', 'billing'])).stdout,
      '- outgoing webhook crm\n= 2 unchanged\napplied: 1 change\n');
    const { code, stderr } = await apply(place, SHELF, ['--set', 'Not A Set']);
    assert.equal(code, 2);
    assert.match(stderr, /^hookshelf: --set must be 1-64 of a-z/);
  }));

test('exactly the plan that was printed is done: a change meanwhile is told, and nothing is done',
  () => inPlace('through a server', async (place) => {
    await apply(place, SHELF);
    // Another one switches the webhook off between the plan and the apply.
    const wrapSession: WrapApiClient = (apiClient) => ({
      ...apiClient,
      async request(call) {
        if (call.headers?.['if-match'] !== undefined) {
          await place.run(['incomingwebhook:disable', 'gh']);
        }
        return apiClient.request(call);
      },
    });
    const { code, stderr } = await apply(place, SMALLER, ['--prune'], { wrapSession });
    assert.equal(code, 1);
    assert.equal(stderr, 'hookshelf: the configuration was changed after the plan was made: '
      + 'nothing was done; apply again to see the new plan\n');
    assert.equal((await place.json<unknown[]>(['outgoingwebhook:list'])).length, 1);
  }));

test('what begins to wait after the plan was made is told when it has gone as well', () =>
  inPlace('through a server', async (place) => {
    await apply(place, { ...SHELF, outgoingWebhooks: [{
      name: 'crm', targetUrl: 'http://127.0.0.1:9/', triggerEvents: ['crm.*'],
    }] });
    const wrapSession: WrapApiClient = (apiClient) => ({
      ...apiClient,
      async request(call) {
        if (call.headers?.['if-match'] !== undefined) {
          await place.run(['event:emit', '--name', 'crm.late', '--payload', '{}']);
        }
        return apiClient.request(call);
      },
    });
    const { code, stdout, stderr } = await apply(place, SMALLER, ['--prune'], { wrapSession });
    assert.equal(code, 0);
    assert.match(stdout, /^- outgoing webhook crm$/m);
    assert.equal(stderr, 'hookshelf: removed, as of the moment of the apply: outgoing webhook crm '
      + 'with 1 delivery that still waits\n');
  }));

test('what the server finds wrong is told with the file and the place, and nothing is done', () =>
  inPlace('through a server', async (place) => {
    const path = join(place.folder, 'shelf.json');
    const { code, stdout, stderr } = await apply(place, {
      ...SHELF, incomingWebhooks: [
        { pathSegment: 'gh', routes: [{ name: 'main', actionConfiguration: 'nobody' }] },
      ],
    });
    assert.deepEqual([code, stdout], [1, '']);
    assert.ok(stderr.startsWith(`hookshelf: ${path}: /incomingWebhooks/0/routes/0/`
      + 'actionConfiguration: there is no action configuration "nobody"'), stderr);
    assert.deepEqual(await place.json(['actionconfig:list']), []);
  }));

test('standard input is read, and its relative files are below the current folder', () =>
  inPlace('without a server', async (place) => {
    const path = join(place.folder, 'secret');
    writeFileSync(path, SECRET);
    const shelf = { outgoingWebhooks: [{
      name: 'crm', targetUrl: 'http://127.0.0.1:9/', triggerEvents: ['*'],
      secret: { $file: relative(process.cwd(), path) },
    }] };
    const { code, stderr } = await place.run(['apply', '--file', '-', '--dry-run'],
      { input: JSON.stringify(shelf), isTyped: true, columns: 80 });
    assert.deepEqual([code, stderr], [3, '']);
    assert.deepEqual(await place.run(['apply', '--file', '-'], { input: '{' }), {
      code: 1, stdout: '', stderr: 'hookshelf: standard input: not valid JSON at line 1, column 2: '
        + 'expected a member name in double quotes, found the end of the text\n',
    });
  }));

test('a missing reference is an error before anything is sent', () =>
  inPlace('over the network', async (place) => {
    const { code, stdout, stderr } = await apply(place, SHELF, [], {
      environment: {},
      wrapSession: () => assert.fail('a server was asked'),
    });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /incomingWebhooks\/0\/secret: the environment variable GH_SECRET is not/);
  }));

test('an export names what it leaves out, and with --only-applied has what apply made', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SMALLER);
    const added = await place.json<{ identifier: string }>(
      ['outgoingwebhook:create', '--target-url', 'https://hook.example/', '--trigger-event', 'a']);
    const byHand = join(place.folder, 'secret');
    writeFileSync(byHand, SECRET);
    await place.json(['incomingwebhook:create', '--path-segment', 'sensor',
      '--action-config', 'to-log', '--secret-file', byHand]);
    const all = await place.run(['config:export']);
    assert.match(all.stderr, new RegExp(`hookshelf: left out: outgoing webhook ${added.identifier} `
      + 'to https://hook.example/, which has no name \\(outgoingwebhook:update --name\\)\n'));
    assert.match(all.stdout, /"pathSegment": "sensor"/);
    const applied = await place.run(['config:export', '--only-applied']);
    assert.deepEqual(applied, {
      code: 0, stdout: applied.stdout,
      stderr: 'hookshelf: set GH_SECRET: secret of incoming webhook gh\n',
    });
    assert.doesNotMatch(applied.stdout, /sensor/);
    assert.equal(readFileSync(byHand, 'utf8'), SECRET);
  }));

test('of what would be lost ten are named, and the others counted', () =>
  inPlace('without a server', async (place) => {
    const webhooks = (members: object): Shelf => ({
      outgoingWebhooks: Array.from({ length: 13 }, (_, index) => ({
        name: `hook-${index}`, targetUrl: 'http://127.0.0.1:9/', triggerEvents: ['a'], ...members,
      })),
    });
    await apply(place, webhooks({ secret: SECRET }));
    const { code, stderr } = await apply(place, webhooks({}));
    assert.equal(code, 1);
    assert.match(stderr, / hook-9 and 3 more; give --yes if that is meant\n$/);
  }));

test('an error names the reference, and never what it stands for, such as a misplaced secret', () =>
  inPlace('without a server', async (place) => {
    const { code, stderr } = await apply(place, {
      outgoingWebhooks: [{
        name: 'crm', targetUrl: { $env: 'GH_SECRET' }, triggerEvents: ['crm.*'],
        enabled: { $file: 'secrets/crm' },
      }],
    }, ['--debug']);
    assert.equal(code, 1);
    assert.match(stderr, /\/targetUrl: .*, not what \{ "\$env": "GH_SECRET" \} stands for/);
    assert.match(stderr, /\/enabled: .*, not what \{ "\$file": "secrets\/crm" \} stands for/);
    assert.doesNotMatch(stderr, new RegExp(SECRET));
  }));

test('where there is no action configuration at all the message does not list what is known', () =>
  inPlace('without a server', async (place) => {
    const { stderr } = await apply(place, {
      incomingWebhooks: [{ pathSegment: 'gh', actionConfiguration: 'nobody' }],
    });
    assert.match(stderr, /no action configuration "nobody", nor any other: create one first$/m);
  }));

test('a webhook cannot name an action configuration that goes in the same apply', () =>
  inPlace('without a server', async (place) => {
    await apply(place, { actionConfigurations: SHELF.actionConfigurations });
    const { code, stderr } = await apply(place, {
      incomingWebhooks: [{ pathSegment: 'gh', actionConfiguration: 'to-log' }],
    }, ['--prune']);
    assert.equal(code, 1);
    assert.match(stderr, /"to-log" would be deleted with this change\n$/);
  }));

test('a secret from before a rotation takes --yes where nobody can be asked', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF);
    assert.equal((await place.run(['incomingwebhook:rotate-secret', 'gh'])).code, 0);
    const refused = await apply(place, SHELF);
    assert.deepEqual([refused.code, refused.stderr], [1, 'hookshelf: nothing was changed: this '
      + 'would give incoming webhook gh its previous secret again, which its rotation has '
      + 'replaced; give --yes if that is meant, else --keep rotation, which leaves rotations '
      + 'alone\n']);
    assert.match(refused.stdout, /^~ incoming webhook gh\n {4}secret changed back to the one /);
    const { code, stdout } = await apply(place, SHELF, ['--yes', '--no-overlap']);
    assert.equal(code, 0);
    assert.match(stdout, /before its rotation, the newer one ends at once\n/);
    assert.equal((await apply(place, SHELF)).stdout, '= 3 unchanged\n');
  }));

test('with --keep a rotated secret and members changed by hand stay, and it is said', () =>
  inPlace('without a server', async (place) => {
    await apply(place, SHELF);
    for (const words of [
      ['incomingwebhook:rotate-secret', 'gh'],
      ['outgoingwebhook:update', 'crm', '--target-url', 'http://127.0.0.1:8/'],
    ]) assert.equal((await place.run(words)).code, 0);
    const [kept, wayOut] = ['keeps what is stored, not what the file says: ',
      '; update it, or apply without keep, to change that'];
    for (const keep of [['--keep', 'secret', '--keep', 'targetUrl'], ['--keep', 'all']]) {
      assert.deepEqual(await apply(place, SHELF, keep), {
        code: 0, stderr: '',
        stdout: `incoming webhook gh ${kept}secret${wayOut}\n`
          + `outgoing webhook crm ${kept}targetUrl${wayOut}\n= 3 unchanged\n`,
      });
    }
    const refused = await apply(place, SHELF, ['--keep', 'name']);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /--keep must be one of secret, targetUrl, /);
  }));

for (const way of WAYS) {
  test(`with --keep an export is applied without its variables, but for what is new, ${way}`, () =>
    inPlace(way, async (place) => {
      const [webhook] = SHELF.outgoingWebhooks;
      const headers = { Authorization: 'Bearer xyzzy' };
      await apply(place, { ...SHELF, outgoingWebhooks: [{ ...webhook, headers }] });
      const exported: Shelf = await place.json<Shelf>(['config:export']);
      const bare = { environment: {} };
      assert.match((await apply(place, exported, [], bare)).stderr,
        /GH_SECRET is not set; .*CRM_AUTHORIZATION is not set; .*CRM_SECRET is not set/);
      const applied = await apply(place, exported, ['--keep', 'all'], bare);
      assert.deepEqual([applied.code, applied.stderr], [0, '']);
      const [incomingLine, outgoingLine, ...lines] = applied.stdout.split('\n');
      assert.match(incomingLine ?? '', /^incoming webhook gh keeps .*: secret; /);
      assert.match(outgoingLine ?? '', /^outgoing webhook crm keeps .*: secret, headers; /);
      assert.deepEqual(lines, ['= 3 unchanged', '']);
      assert.match((await apply(place, exported, ['--keep', 'secret'], bare)).stderr,
        /json: \/outgoingWebhooks\/0\/headers\/Auth\w+: [^;]* CRM_AUTHORIZATION is not set\n$/);
      const added = {
        ...exported, outgoingWebhooks: [
          ...exported.outgoingWebhooks ?? [],
          ...['a', 'b'].map((name) => ({ ...webhook, name, secret: { $env: `NEW_${name}` } })),
        ],
      };
      for (const words of [['--keep', 'all'], ['--keep', 'all', '--dry-run']]) {
        const refused = await apply(place, added, words, bare);
        const details = ['a', 'b'].map((name, index) => `/outgoingWebhooks/${index + 1}/secret: `
          + `the environment variable NEW_${name} is not set, and there is no stored value `
          + 'that --keep can leave');
        assert.deepEqual(refused, {
          code: 1, stdout: '',
          stderr: `hookshelf: ${join(place.folder, 'shelf.json')}: ${details.join('; ')}\n`,
        });
      }
    }));
}
