import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startHttpTarget, type HttpTarget } from '../../support/http-target.ts';
import { until } from '../../support/until.ts';
import { ALONE, WAYS, inPlace } from '../place.ts';

async function withTarget(
  use: (url: string, received: HttpTarget['received']) => Promise<void>,
): Promise<void> {
  const target = await startHttpTarget();
  try {
    await use(target.url, target.received);
  } finally {
    target.close();
  }
}

// Root reads files elsewhere before it becomes the owner of the data directory (identity.ts).
test('the files of a command are read before its webhook is looked for', () =>
  inPlace(ALONE, async (place) => {
    const file = join(place.folder, 'none');
    for (const [command, option, value] of [
      ['incomingwebhook:update', 'secret-file', file],
      ['incomingwebhook:rotate-secret', 'secret-file', file],
      ['incomingwebhook:diagnose', 'headers-file', file],
      ['incomingwebhook:match', 'payload', `@${file}`],
      ['outgoingwebhook:update', 'secret-file', file],
      ['outgoingwebhook:rotate-secret', 'secret-file', file],
    ] as const) {
      const { stderr } = await place.run([command, 'none', `--${option}`, value]);
      assert.match(stderr, new RegExp(`--${option}: ENOENT`), command);
    }
  }));

for (const way of WAYS) {
  test(`a create that finds its name taken names the command that updates it, ${way}`, () =>
    inPlace(way, async (place) => {
      for (const [words, detail, command] of [
        [['actionconfig:create', '--action', 'log', '--identifier', 'to-log'],
          'another action configuration has the identifier to-log already', 'actionconfig:update'],
        [['incomingwebhook:create', '--path-segment', 'in', '--action-config', 'to-log'],
          'pathSegment "in" is already taken', 'incomingwebhook:update'],
        [['outgoingwebhook:create', '--target-url', 'http://a.test/', '--name', 'shop'],
          'name "shop" is already taken', 'outgoingwebhook:update'],
      ] as const) {
        assert.equal((await place.run([...words])).code, 0, words[0]);
        const { code, stderr } = await place.run([...words]);
        assert.deepEqual([code, stderr],
          [1, `hookshelf: ${detail}: choose another, or change what has it with hookshelf ${
            command}\n`]);
      }
    }));

  test(`action configurations are managed, ${way}`, () => inPlace(way, async (place) => {
    const create = ['actionconfig:create', '--action', 'http-forward', '--identifier', 'to-ci'];
    const options = '{"url":"http://ci.test/","headers":{"X-Key":"planted"}}';
    const made = await place.run([...create, '--options', '-'], { input: options });
    assert.equal(made.stdout, 'created action configuration to-ci (http-forward)\n', made.stderr);
    const shown = await place.run(['actionconfig:show', '--id', 'to-ci']);
    assert.match(shown.stdout, /^options\.url +http:\/\/ci\.test\/$/m);
    assert.ok(!shown.stdout.includes('planted'));
    const updated = await place.json(
      ['actionconfig:update', '--id', 'to-ci', '--options', '{"url":"http://ci.test/b"}']);
    assert.deepEqual(updated['options'], { url: 'http://ci.test/b' });
    const changed = await place.json(
      ['actionconfig:update', '--id', 'to-ci', '--action', 'log', '--options', '{}']);
    assert.deepEqual([changed['actionType'], changed['options']], ['log', {}]);
    assert.match((await place.run(['actionconfig:list'])).stdout, /^to-ci +log +\{\}$/m);
    assert.match((await place.run(['actionconfig:actions'])).stdout, /^http-forward .*url/m);
    const wrong = await place.run(['actionconfig:create', '--action', 'log', '--options',
      '{"level":"loud"}']);
    assert.deepEqual([wrong.code, /level/.test(wrong.stderr)], [1, true]);
    const twice = await place.run([...create, '--options', options]);
    assert.deepEqual([twice.code, /already/.test(twice.stderr)], [1, true]);
    const bad = await place.run(['actionconfig:create', '--action', 'log', '--options', '{']);
    assert.equal(bad.code, 2);
    assert.equal((await place.run(['actionconfig:delete', '--id', 'to-ci'])).code, 0);
    assert.deepEqual(await place.json(['actionconfig:list']), []);
  }));

  test(`incoming webhooks are managed, ${way}`, () => inPlace(way, async (place) => {
    await place.json(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    const create = ['incomingwebhook:create', '--action-config', 'to-log', '--path-segment'];
    const made = await place.run([...create, 'deploy', '--generate-secret', '--allowed-methods',
      'post,put']);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^created incoming webhook \S+: http:\S+\/webhook\/in\/deploy\n/);
    const [, secret = ''] = /^secret \(shown this once\): (\S+)$/m.exec(made.stdout) ?? [];
    assert.match(secret, /^[0-9a-f]{64}$/);
    assert.doesNotMatch(made.stderr, /has no secret/);
    const open = await place.run([...create, 'open']);
    assert.match(open.stderr, /^hookshelf: it has no secret: whoever .* can call it; .* open /m);
    await place.run(['incomingwebhook:delete', 'open']);
    const shown = await place.run(['incomingwebhook:show', '--identifier', 'deploy']);
    assert.match(shown.stdout, /^curl:$[^]*X-Signature: sha256=[^]*^PHP:$[^]*curl_init/m);
    const note = /^hookshelf: URLs begin with http:\S+, which .* reach: see server\.baseUri$/m;
    assert.match(shown.stderr, note);
    // The base URI of this command is not the server's.
    if (way !== 'without a server') {
      const environment = { HOOKSHELF_SERVER_BASE_URI: 'https://mine.example' };
      const again = await place.run(['incomingwebhook:show', 'deploy'], { environment });
      assert.match(again.stderr, note);
    }
    assert.ok(!shown.stdout.includes(secret));
    const hook = await place.json(['incomingwebhook:show', '--id', 'deploy']);
    assert.deepEqual([hook['hasSecret'], hook['allowedMethods'], hook['enabled']],
      [true, ['POST', 'PUT'], true]);
    const id = String(hook['identifier']);
    const file = join(place.folder, 'secret');
    writeFileSync(file, 'from a file\n');
    const plain = await place.json([...create, 'plain', '--secret-file', file, '--disabled',
      '--description', 'Why it is off']);
    assert.deepEqual([plain['enabled'], plain['hasSecret'], 'secret' in plain],
      [false, true, false]);
    const renamed = await place.json(['incomingwebhook:update', '--id', id, '--path-segment',
      'release', '--unset', 'secret', '--unset', 'allowed-methods']);
    assert.deepEqual([renamed['pathSegment'], renamed['hasSecret'], renamed['allowedMethods']],
      ['release', false, undefined]);
    assert.equal((await place.run(['incomingwebhook:update', '--id', id])).code, 2);
    assert.equal((await place.json(['incomingwebhook:disable', '--id', id]))['enabled'], false);
    const enabled = await place.json(['incomingwebhook:enable', '--id', 'release']);
    assert.equal(enabled['enabled'], true);
    const taken = await place.run([...create, 'plain']);
    assert.deepEqual([taken.code, /plain/.test(taken.stderr)], [1, true]);
    const used = await place.run(['actionconfig:delete', '--id', 'to-log']);
    assert.deepEqual([used.code, used.stderr.includes('release')], [1, true], used.stderr);
    assert.equal((await place.run(['incomingwebhook:delete', '--id', 'release'])).code, 0);
    const gone = await place.run(['incomingwebhook:show', '--id', id]);
    assert.deepEqual([gone.code, /there is no incoming webhook/.test(gone.stderr)], [1, true]);
    const list = await place.run(['incomingwebhook:list', '--state', 'off']);
    assert.match(list.stdout,
      /plain +off \(manual\) +\S+ +switched off by hand, or by a file: Why it is off +yes/);
    const failing = await place.run(['incomingwebhook:list', '--state', 'failing']);
    assert.match(failing.stderr + failing.stdout, /no incoming webhooks/);
    const rejecting = await place.run(['outgoingwebhook:list', '--state', 'rejecting']);
    assert.equal(rejecting.code, 2);
    assert.match(rejecting.stderr, /healthy, failing or off|healthy, failing, off/);
  }));

  test(`likely slips of an outgoing webhook are told once, ${way}`, () => inPlace(way,
    async (place) => {
      const create = ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9/'];
      const note = async (...words: string[]): Promise<string> => (await place.run(words)).stderr;
      assert.equal(await note(...create, '--name', 'a', '--trigger-event', 'book.create'),
        'hookshelf: nothing emits book.create by itself: did you mean `book.created`?\n');
      assert.equal(await note('outgoingwebhook:update', 'a', '--description', 'b'), '');
      assert.equal(await note('outgoingwebhook:update', 'a', '--trigger-event', 'order.paid'), '');
      const ofBooks = [...create, '--trigger-event', 'book.*', '--payload-template'];
      for (const [path, told] of [
        ['book.title', ': did you mean data.book.title?'], ['title', ': did you mean data.book.ti'],
        ['data.book.titel', '\n'], ['data.title', '\n'],
        ['payload.book', ': did you mean data.book?'],
      ]) {
        const text = await note(...ofBooks, `{"text": "{{ ${path} }}"}`);
        assert.ok(text.includes(`is not in book.*, and stays empty${told}`), text);
      }
      const whole = '["{{ type }}", "{{ payload.data.book.title }}", "{{ payload }}"]';
      assert.equal(await note(...ofBooks, whole), '');
      const ofOthers = ['--trigger-event', 'order.paid', '--payload-template', '"{{ id }}"'];
      assert.equal(await note(...create, ...ofOthers), '');
      const failed = ['--trigger-event', 'delivery.failed', '--payload-template', '"{{ id }}"'];
      assert.match(await note(...create, ...failed), /did you mean data\.id\?/);
    }));

  test(`outgoing webhooks are managed and sent, ${way}`, () => inPlace(way, (place) =>
    withTarget(async (url, received) => {
      const headers = join(place.folder, 'headers');
      writeFileSync(headers, 'Authorization: Bearer planted\r\n\r\nX-Other: 2\n');
      const hook = await place.json(['outgoingwebhook:create', '--target-url', url,
        '--header', 'X-Plain: 1', '--headers-file', headers, '--secret-file', '-',
        '--payload-template', '{"say":"{{ word }}"}'], { input: 'whisper\n' });
      const id = String(hook['identifier']);
      assert.deepEqual([hook['hasSecret'], hook['httpMethod']], [true, 'POST']);
      const payload = ['outgoingwebhook:send', '--id', id, '--payload', '{"word":"hello"}'];
      const sent = await place.json(payload);
      assert.deepEqual([sent['success'], sent['statusCode']], [true, 200]);
      assert.equal(String(received[0]?.body), '{"say":"hello"}');
      assert.equal(received[0]?.headers.authorization, 'Bearer planted');
      assert.equal(received[0]?.headers['x-plain'], '1');
      assert.match(String(received[0]?.headers['x-signature']), /^sha256=[0-9a-f]{64}$/);
      const update = ['outgoingwebhook:update', '--id', id, '--target-url', `${url}/500`,
        '--unset', 'payload-template', '--unset', 'secret', '--http-method', 'PUT'];
      const updated = await place.json(update);
      assert.deepEqual([updated['payloadTemplate'], updated['hasSecret'], updated['httpMethod']],
        [undefined, false, 'PUT']);
      assert.ok(!JSON.stringify(updated).includes('planted'));
      await place.json(['outgoingwebhook:disable', '--id', id]);
      const before = received.length;
      const disabled = await place.run(payload);
      assert.deepEqual([disabled.code, /^success +false$/m.test(disabled.stdout)], [1, true]);
      assert.match(disabled.stdout, /^message +The target answered 500\. The webhook is disabled/m);
      assert.equal(received.length, before + 1, 'one request');
      await place.run([...payload, '--retries', '1']);
      assert.equal(received.length, before + 3);
      assert.equal((await place.run([...payload, '--retries', '11'])).code, 2);
      const create = ['outgoingwebhook:create', '--target-url', url, '--payload-template'];
      const template = await place.run([...create, '{"a":"{{ b"}']);
      assert.deepEqual([template.code, /payloadTemplate/.test(template.stderr)], [1, true]);
      const unquoted = await place.run([...create, '{"a": {{ b }}}']);
      assert.equal(unquoted.code, 2);
      assert.match(unquoted.stderr, /--payload-template: put the placeholder in quotes.*column 7/);
      const plain = await place.run([...create, 'New: {{ data.a }}']);
      assert.deepEqual([plain.code, /quotes/.test(plain.stderr)], [2, false]);
      assert.match(plain.stderr, /column 1: .*; for plain text give --content-type text\/plain$/m);
      const malformed = await place.run([...create, '{"a":}']);
      assert.deepEqual([malformed.code, /line 1, column 6/.test(malformed.stderr)], [2, true]);
      assert.equal((await place.run(['outgoingwebhook:delete', '--id', id])).code, 0);
      assert.equal((await place.run(['outgoingwebhook:show', '--id', id])).code, 1);
    })));

  test(`an incoming webhook is given answers of its own, ${way}`, () => inPlace(way,
    async (place) => {
      await place.json(['actionconfig:create', '--identifier', 'to-log', '--action', 'log']);
      const accepted = { status: 202, headers: { 'X-A': 'b' }, body: 'a {{ message }}' };
      await place.json(['incomingwebhook:create', '--path-segment', 'own', '--action-config',
        'to-log', '--response', JSON.stringify({ accepted, failed: { status: 500 } })]);
      const show = async (): Promise<unknown> =>
        (await place.json(['incomingwebhook:show', '--id', 'own']))['response'];
      assert.deepEqual(await show(), { accepted, failed: { status: 500 } });
      assert.match((await place.run(['incomingwebhook:show', '--id', 'own'])).stdout,
        /^response\.accepted\.body +a \{\{ message \}\}$/m);
      const update = ['incomingwebhook:update', '--id', 'own'];
      await place.json([...update, '--response', '{"accepted":{"status":204}}']);
      assert.deepEqual(await show(), { accepted: { status: 204 } });
      const refused = await place.run([...update, '--response', '{"rejected":{"status":200}}']);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /response\/rejected\/status.*400 to 599/);
      assert.equal((await place.run([...update, '--response', '[]'])).code, 2);
      await place.json([...update, '--unset', 'response']);
      assert.equal(await show(), undefined);
    }));

  test(`an object that an option replaces leaves the secret as it was, ${way}`, () => inPlace(way,
    async (place) => {
      await place.json(['actionconfig:create', '--identifier', 'to-log', '--action', 'log']);
      await place.json(['incomingwebhook:create', '--path-segment', 'own', '--action-config',
        'to-log', '--preset', 'github', '--generate-secret', '--deduplicate', 'json:id']);
      const { deduplicate } = await place.json(
        ['incomingwebhook:update', 'own', '--deduplicate', 'header:X-Id']);
      assert.deepEqual(deduplicate, { header: 'X-Id' });
      const { code, stderr } = await place.run(['incomingwebhook:test', 'own', '--event', 'push']);
      assert.equal(code, 0, stderr);
    }));

  test(`an outgoing webhook sends a text of another type, or CloudEvents, ${way}`, () =>
    inPlace(way, (place) => withTarget(async (url, received) => {
      const file = join(place.folder, 'order.xml');
      writeFileSync(file, '<order>{{ note }}</order>\n');
      const hook = await place.json(['outgoingwebhook:create', '--target-url', url,
        '--content-type', 'text/xml', '--payload-template', `@${file}`]);
      const id = String(hook['identifier']);
      const send = ['outgoingwebhook:send', '--id', id, '--payload', '{"note":"<&>"}'];
      await place.json(send);
      assert.equal(String(received.at(-1)?.body), '<order>&lt;&amp;&gt;</order>\n');
      assert.equal(received.at(-1)?.headers['content-type'], 'text/xml');
      const update = ['outgoingwebhook:update', '--id', id];
      await place.json([...update, '--payload-template', 'say {{ note }}',
        '--content-type', 'text/plain']);
      await place.json([...update, '--payload-template', 'is {{ note }}']);
      await place.json(send);
      assert.equal(String(received.at(-1)?.body), 'is <&>');
      const refused = await place.run([...update, '--unset', 'content-type']);
      assert.match(refused.stderr, /payloadTemplate.*needs a contentType/);
      await place.json([...update, '--unset', 'content-type', '--unset', 'payload-template',
        '--format', 'cloudevents']);
      await place.json(send);
      assert.equal(received.at(-1)?.headers['ce-type'], 'hookshelf.send');
      assert.equal((await place.run([...update, '--format', 'xml'])).code, 2);
    })));

  test(`an outgoing webhook is given events and rules of its own, ${way}`,
    () => inPlace(way, async (place) => {
      const SUCCESS = { path: 'body.ok', op: 'eq', value: true };
      const create = ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9/'];
      const hook = await place.json([...create, '--trigger-event', 'order.*', '--trigger-event',
        'paid', '--retry-schedule', '5, 0.5,60', '--timeout', '2.5', '--max-in-flight', '1',
        '--disable-after-hours', '72', '--order-key', 'payload.data.id',
        '--retry-on', '5xx, 408', '--success-when', JSON.stringify(SUCCESS),
        '--rate', '100/60', '--probe']);
      const ownOf = ({
        triggerEvent, triggerEvents, retrySchedule, timeout, maxInFlight, disableAfterHours, order,
        retryOn, successWhen, rate, probe,
      }: Record<string, unknown>): unknown =>
        ({
          triggerEvent, triggerEvents, retrySchedule, timeout, maxInFlight, disableAfterHours,
          order, retryOn, successWhen, rate, probe,
        });
      const none = ownOf({});
      assert.deepEqual(ownOf(hook), {
        triggerEvent: undefined, triggerEvents: ['order.*', 'paid'], retrySchedule: [5, 0.5, 60],
        timeout: 2.5, maxInFlight: 1, disableAfterHours: 72, order: { key: 'payload.data.id' },
        retryOn: ['5xx', 408], successWhen: SUCCESS, rate: { limit: 100, seconds: 60 },
        probe: true,
      });
      const { stdout } = await place.run(['outgoingwebhook:list']);
      assert.match(stdout, / order\.\*, paid\n/);
      assert.match(stdout, / healthy \(unused\) /);
      const update = ['outgoingwebhook:update', '--id', String(hook['identifier'])];
      for (const [when, shown] of [
        [{ path: 'payload.customer', op: 'eq', value: 'acme' }, 'payload.customer eq "acme"'],
        [{ all: [{ path: 'payload.n', op: 'gt', value: 5 }, { not: { path: 'payload.x',
          op: 'exists' } }] }, '(payload.n gt 5 and not (payload.x exists))'],
      ] as const) {
        await place.json([...update, '--when', JSON.stringify(when)]);
        const table = (await place.run(['outgoingwebhook:list'])).stdout;
        assert.ok(table.includes(` order.*, paid when ${shown}\n`), table);
      }
      await place.json([...update, '--unset', 'when']);
      const bare = await place.json([...update, ...['trigger-event', 'retry-schedule', 'timeout',
        'max-in-flight', 'disable-after-hours', 'order', 'retry-on', 'success-when',
        'rate', 'probe',
      ].flatMap((name) => ['--unset', name])]);
      assert.deepEqual(ownOf(bare), none);
      for (const events of [['*'], ['a', 'b'], ['c']]) {
        const changed = await place.json(
          [...update, ...events.flatMap((event) => ['--trigger-event', event])]);
        assert.deepEqual([changed['triggerEvent'] ?? null, changed['triggerEvents'] ?? null],
          events.length === 1 ? [events[0], null] : [null, events]);
      }
      for (const order of ['strict', 'none']) {
        assert.equal((await place.json([...update, '--order', order]))['order'], order);
      }
      const both = await place.run([...update, '--order', 'strict', '--order-key', 'key']);
      assert.deepEqual([both.code, /give it without --order/.test(both.stderr)], [2, true]);
      const once = await place.json([...update, '--retry-schedule', 'none']);
      assert.deepEqual(once['retrySchedule'], []);
      for (const [text, retryOn] of [['none', []], ['["4xx",503]', ['4xx', 503]]] as const) {
        assert.deepEqual((await place.json([...update, '--retry-on', text]))['retryOn'], retryOn);
      }
      const rated = await place.json([...update, '--rate', '{"limit":1,"seconds":2}']);
      assert.deepEqual(rated['rate'], { limit: 1, seconds: 2 });
      for (const [option, value, told] of [
        ['--retry-schedule', '5;60', /--retry-schedule must be none, or numbers such as 5,60,3600/],
        ['--rate', '100', /--rate must be attempts\/seconds, such as 100\/60/],
        ['--rate', '0/1', /rate\/limit: must be an integer from 1 to 10000/],
        ['--retry-on', '5xx,twice', /retryOn\/1: must be a status from 300 to 599, such as 429/],
        ['--timeout', 'soon', /--timeout must be a number, not "soon"/],
        ['--max-in-flight', '0', /--max-in-flight must be an integer from 1 to 65535, not "0"/],
        ['--order', 'fifo', /--order must be one of none, strict/],
        ['--order-key', 'data.id', /order\/key: must begin with payload, event or key/],
        ['--trigger-event', 'a,b', /name each by itself in triggerEvents/],
        ['--trigger-event', 'book*', /at the end, after a dot, as in "book\.\*"/],
      ] as const) {
        const { code, stderr } = await place.run([...update, option, value]);
        assert.deepEqual([code > 0, told.test(stderr)], [true, true], stderr);
      }
    }));

  test(`a payload goes out as it is written, ${way}`, () => inPlace(way, (place) =>
    withTarget(async (url, received) => {
      const hook = await place.json(['outgoingwebhook:create', '--target-url', url,
        '--trigger-event', 'raw']);
      const file = join(place.folder, 'payload.json');
      const payload = '{"n" : 12345678901234567890, "x": 1.0, "x": 1e2}';
      writeFileSync(file, `\ufeff ${payload}\n`);
      await place.json(['outgoingwebhook:send', '--id', String(hook['identifier']),
        '--payload', `@${file}`]);
      assert.equal(String(received[0]?.body), payload);
      await place.json(['event:emit', '--name', 'raw', '--payload', '-'], { input: payload });
      const journal = readFileSync(join(place.data, 'journal-000001.jsonl'), 'utf8');
      assert.ok(journal.includes(`"payload":${payload}}`));
    })));

  test(`a webhook gets the events that it has missed, ${way}`, () => inPlace(way, (place) =>
    withTarget(async (url) => {
      const create = ['outgoingwebhook:create', '--target-url', `${url}/200`, '--trigger-event'];
      await place.json([...create, 'order.*']);
      for (const name of ['order.paid', 'order.paid', 'order.sent']) {
        await place.json(['event:emit', '--name', name, '--payload', '{}']);
      }
      const hook = await place.json([...create, '*', '--name', 'late', '--disabled']);
      const backfill = ['outgoingwebhook:backfill', 'late', '--since', '2026-01-01T00:00:00Z'];
      const { stdout } = await place.run([...backfill, '--dry-run']);
      assert.equal(stdout, 'would backfill 3 events\n');
      const lastHour = await place.run(['outgoingwebhook:backfill', 'late', '--since', '1h',
        '--dry-run']);
      assert.equal(lastHour.stdout, 'would backfill 3 events\n', lastHour.stderr);
      assert.deepEqual(await place.json([...backfill, '--name', 'order.paid', '--dry-run']),
        { count: 2 });
      const job = await place.json(backfill);
      assert.deepEqual([job['kind'], job['status'], job['total']], ['backfill', 'running', 3]);
      assert.match((await place.run(['job:list'])).stdout, /  backfill +/);
      for (const [words, problem] of [
        [backfill.slice(0, 2), /needs --since/],
        [[...backfill.slice(0, 3), '1x'], /span before now/],
        [[...backfill, '--until', '2020-01-01T00:00:00Z'], /later than since/],
      ] as const) {
        const wrong = await place.run(words);
        assert.notEqual(wrong.code, 0);
        assert.match(wrong.stderr, problem);
      }
      assert.equal(job['hook'], hook['identifier']);
    })));

  if (way !== 'without a server') {
    test(`a retry says that its body is the same, and how to send another, ${way}`, () =>
      inPlace(way, (place) => withTarget(async (url, received) => {
        await place.json(['outgoingwebhook:create', '--target-url', `${url}/503`, '--name', 'a',
          '--trigger-event', 'order.*', '--retry-schedule', '3600']);
        const emitted =
          await place.json(['event:emit', '--name', 'order.paid', '--payload', '{}']);
        const [id = ''] = emitted['deliveries'] as string[];
        await until('it has failed once', async () =>
          JSON.stringify((await place.json(['delivery:show', id]))['attempts']) !== '[]');
        assert.equal(received.length, 1);
        assert.match((await place.run(['delivery:resend', id, '--as', 'new'])).stderr,
          /still pending: resend it as "retry", .* same body now, or cancel it first, and then /);
        const retried = await place.run(['delivery:retry', id]);
        assert.equal(retried.stdout, `delivery ${id} is due again\n`);
        assert.ok(retried.stderr.endsWith('its body is the same as before; for one that its '
          + `webhook makes anew: hookshelf delivery:cancel ${id}, then hookshelf delivery:resend `
          + `${id} --as new\n`));
        await place.json(['delivery:cancel', id]);
        assert.equal((await place.json(['delivery:resend', id, '--as', 'new']))['resendOf'], id);
      })));
  }

  test(`events are emitted and deliveries managed, ${way}`, () => inPlace(way, (place) =>
    withTarget(async (url) => {
      const nobody = await place.json(['event:emit', '--name', 'order.paid', '--payload', '{}']);
      assert.deepEqual(nobody['deliveries'], []);
      const hook = await place.json(['outgoingwebhook:create', '--target-url', `${url}/503`,
        '--trigger-event', 'order.*', '--generate-secret']);
      assert.match(String(hook['secret']), /^whsec_[A-Za-z0-9+/]{43}=$/);
      const emit = ['event:emit', '--name', 'order.paid', '--payload'];
      const emitted = await place.json([...emit, '-'], { input: '{"order":7}' });
      const [id = ''] = emitted['deliveries'] as string[];
      assert.match((await place.run([...emit, '[]'])).stdout, /: 1 delivery queued$/m);
      const shown = await place.run(['delivery:show', '--id', id]);
      assert.match(shown.stdout, /^status +pending$/m);
      assert.match((await place.run(['delivery:list', '--status', 'pending'])).stdout,
        new RegExp(`^${id} +pending +order\\.paid`, 'm'));
      for (const words of [['delivery:list'], ['delivery:resend', '--dry-run']]) {
        const mistyped = await place.run([...words, '--hook', 'none']);
        assert.deepEqual([mistyped.code, mistyped.stderr], [1,
          'hookshelf: there is no outgoing webhook "none"; see hookshelf outgoingwebhook:list\n']);
      }
      const removed = await place.run(['delivery:list', '--hook', id]);
      assert.equal(removed.stdout, 'no deliveries\n');
      assert.equal((await place.json(['delivery:cancel', '--id', id]))['status'], 'cancelled');
      const retried = await place.run(['delivery:retry', '--id', id]);
      assert.deepEqual([retried.code, /cancelled/.test(retried.stderr)], [1, true]);
      assert.deepEqual(await place.json(['delivery:retry', '--failed']), { retried: 0 });
      const anew = await place.json(['delivery:resend', id, '--as', 'new']);
      assert.deepEqual([anew['status'], anew['resendOf']], ['pending', id]);
      const again = await place.run(['delivery:resend', id]);
      assert.equal(again.stdout, `delivery ${id} will be sent again\n`);
      assert.equal((await place.run(['delivery:resend', id, '--as', 'old'])).code, 2);
      assert.deepEqual(await place.json(['delivery:resend', '--hook', String(hook['identifier']),
        '--status', 'delivered', '--dry-run']), { count: 0 });
      const cancel = ['delivery:cancel', '--hook', String(hook['identifier']), '--dry-run'];
      assert.equal((await place.run([...cancel, '--status', 'failed'])).stdout,
        'would cancel 0 deliveries\n');
      assert.deepEqual(await place.json(cancel), { count: 3 });
      assert.match((await place.run([...cancel, '--status', 'delivered'])).stderr,
        /--status must be one of pending, failed/);
      assert.match((await place.run(['delivery:cancel'])).stderr,
        /needs --identifier, or what to take: --failed, --status/);
      const where = ['delivery:resend', '--dry-run', '--where', 'event=order.paid', '--where'];
      assert.deepEqual(await place.json([...where, 'payload.n<0']), { count: 0 });
      const wrongWhere = await place.run([...where, 'payload']);
      assert.match(wrongWhere.stderr, /where.* number 2 must be a path, one of/);
      const waited = await place.run(['delivery:resend', '--status', 'pending', '--wait']);
      assert.equal(waited.code, way === 'without a server' ? 2 : 0, waited.stderr);
      // The target answers 503: whoever waits for the job must not think that something arrived.
      assert.match(waited.stderr, way === 'without a server' ? /--wait needs a server/
        : /^hookshelf: they are due, .*; delivery:list --status pending shows what .* arrived$/m);
      for (const limit of ['0', '1.5', 'many', '10000000000']) {
        const wrong = await place.run(['delivery:list', '--limit', limit]);
        assert.equal(wrong.code, 2, limit);
        assert.match(wrong.stderr, /--limit must be an integer from 1 to/);
      }
      const many = await place.run(['delivery:list', '--json', '--limit', '5000']);
      assert.equal(JSON.parse(many.stdout).length, 3);
      const off = await place.run(['outgoingwebhook:disable', String(hook['identifier'])]);
      assert.match(off.stdout, /pending deliveries wait .*; an event until then makes no delivery/);
      assert.match((await place.run(['delivery:list', '--limit', '1'])).stdout,
        /  waits: its webhook is off  /);
      const waiting = (await place.run(['delivery:show', id])).stdout;
      assert.match(waiting, /^nextAttemptAt +waits: its webhook is off$/m);
      assert.doesNotMatch(waiting, /^waitsFor/m);
      assert.equal((await place.json(['delivery:show', id]))['waitsFor'], 'webhook');
      assert.equal((await place.run(['delivery:retry', id])).stdout,
        `delivery ${id} is due again once its webhook is enabled\n`);
      await place.json(['delivery:cancel', '--id', id]);
      const newestOf = async (limit: string): Promise<readonly string[]> => {
        const listed = await place.run(['delivery:list', '--event', 'order.paid', '--limit', limit,
          '--since', '2020-01-01T00:00:00Z', '--json']);
        return JSON.parse(listed.stdout)
          .map(({ identifier }: { identifier: string }) => identifier);
      };
      assert.deepEqual(await newestOf('1'), [anew['identifier']]);
      const all = await newestOf('3');
      assert.deepEqual([all.length, all.at(0), all.at(-1)], [3, anew['identifier'], id]);
      for (const [option, value] of [['event', 'order'], ['until', '2020-01-01T00:00:00Z']]) {
        const none = await place.run(['delivery:list', `--${option}`, String(value)]);
        assert.equal(none.stdout, 'no deliveries\n');
      }
      const proof = await place.json(['delivery:reconcile']);
      const { accepted, cancelled, isReconciled } = proof;
      assert.deepEqual([accepted, cancelled, isReconciled], [3, 1, true]);
      assert.equal((await place.run(['delivery:show', '--id', 'none'])).code, 1);
      assert.equal((await place.run([...emit, '{'])).code, 2);
      assert.equal((await place.run(['event:emit', '--name', 'a, b', '--payload', '1'])).code, 1);
      const own = await place.run(['event:emit', '--name', 'webhook.disabled', '--payload', '1']);
      assert.equal(own.code, 1);
      assert.match(own.stderr, /name: must not be webhook\.disabled, which hookshelf alone emits/);
    })));
}
