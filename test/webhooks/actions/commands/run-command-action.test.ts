/** The action run-command behind a real listener: real programs of a folder of commands. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { commandOptions } from '../../../../src/webhooks/actions/commands/command-options.ts';
import { CommandRunner } from '../../../../src/webhooks/actions/commands/command-runner.ts';
import { CommandSlots } from '../../../../src/webhooks/actions/commands/command-slots.ts';
import {
  createRunCommandAction,
} from '../../../../src/webhooks/actions/commands/run-command-action.ts';
import { someOf } from '../../../support/long.ts';
import { until } from '../../../support/until.ts';
import { startRelay, type Answer, type Headers, type Relay } from '../../relay.ts';
import { CommandPlace, PRINT_ARGUMENTS } from './command-place.ts';

type CommandData = {
  readonly exitCode: number | null; readonly signal: string | null; readonly durationMs: number;
  readonly output?: unknown; readonly truncated?: boolean;
};

type Started = { readonly place: CommandPlace; readonly relay: Relay; readonly runs: string };

/** What the options of these tests name. */
const VARIABLES = ['HOOK_*', 'A', 'MINE', 'PATH', 'TEXT*', 'BYTES_FILE'];

async function startFor(
  context: TestContext, { max = 4, timeoutMs = 30_000, allowedVariables = VARIABLES } = {},
): Promise<Started> {
  const place = new CommandPlace();
  const runs = join(place.folder, 'command-runs');
  const runner = new CommandRunner({ clock: systemClock, log: silentLogger }, runs);
  const slots = new CommandSlots({ max });
  const relay = await startRelay({
    optionalActions: [createRunCommandAction({
      directory: place.directory, slots, runner, timeoutMs, allowedVariables,
      baseEnvironment: { PATH: process.env['PATH'] ?? '', HOME: '/home/hook' },
    })],
    incoming: { retrySchedule: [0.01] },
  });
  relay.webhooks.start();
  context.after(async () => {
    slots.close();
    await runner.close();
    await relay.close();
  });
  return { place, relay, runs };
}

/** Makes a webhook at `/webhook/in/hook` that runs a command with these options. */
async function addHook(relay: Relay, options: object, hook: object = {}): Promise<void> {
  const made = await relay.hook({ identifier: 'it', actionType: 'run-command', options }, hook);
  assert.equal(made.status, 201, made.text);
}

/** Starts a relay with a webhook that runs the script as `it.sh`. */
async function startHook(
  context: TestContext, script?: string, options: object = {}, hook: object = {},
  limits: Parameters<typeof startFor>[1] = {},
): Promise<Started> {
  const started = await startFor(context, limits);
  started.place.add('it.sh', script);
  await addHook(started.relay, { command: 'it.sh', ...options }, hook);
  return started;
}

/** Replaces the options of that webhook's configuration. */
async function changeOptions(relay: Relay, options: object): Promise<void> {
  const changed = await relay.ask('PUT', '/api/action-configurations/it',
    { actionType: 'run-command', options });
  assert.equal(changed.status, 200, changed.text);
}

function call(relay: Relay, body: unknown = {}, headers: Headers = {}, query = ''):
Promise<Answer> {
  return relay.ask('POST', `/webhook/in/hook${query}`, body, headers);
}

function dataOf({ json, text }: Answer): CommandData {
  assert.ok(json['data'] !== undefined, text);
  return json['data'] as CommandData;
}

/** The arguments that PRINT_ARGUMENTS was given. */
function argumentsOf(answer: Answer): string[] {
  assert.equal(answer.status, 200, answer.text);
  const [count, ...texts] = String(dataOf(answer).output).split('\0');
  assert.equal(texts.pop(), '');
  assert.equal(Number(count), texts.length);
  return texts;
}

const HOSTILE = [
  '$(touch owned)', '`touch owned`', '; touch owned', '| touch owned', '&& touch owned', '> owned',
  'a\nb', '\n', '\r\n', '\t', ' ', '  two  words  ', '-rf', '--help', '-', '--', '*', '~', '.', '/',
  '\'', '"', '\'"\'"', '\\', '\\\\', '$HOME', '${IFS}', '%s%n', '{a,b}', '!!', '#', 'é 😀 ﷽',
  '{{ payload.other }}', '\\{{ payload.other }}', '\u001b[31m', '\u0001', '\u202e', '../../etc',
  '__proto__', 'a=b', 'LD_PRELOAD=/x',
];

test('what the payload says arrives as one argument, whatever it is', async (context) => {
  const texts = [...HOSTILE, ''];
  const { place, relay } = await startHook(context, PRINT_ARGUMENTS, {
    output: 'result', arguments: ['first', ...texts.flatMap((_, index) =>
      [`{{ payload.texts.${index} }}`, `x{{ payload.texts.${index} }}y`]), 'last'],
  });
  const seen = argumentsOf(await call(relay, { texts, other: 'expanded' }));
  assert.deepEqual(seen, ['first', ...texts.flatMap((text) => [text, `x${text}y`]), 'last']);
  assert.ok(!existsSync(join(place.path, 'owned')));
});

test('arguments, variables and standard input have all digits of numbers', async (context) => {
  const script = `#!/bin/bash\nprintf '%s\\0' 4 "$1" "$2" "$HOOK_N" "$(cat)"\n`;
  const { relay } = await startHook(context, script, {
    output: 'result', stdin: 'payload', arguments: ['{{ payload.id }}', '{{ payload }}'],
    environment: { HOOK_N: 'is {{ payload.price }}' },
  });
  const payload = '{"id":820982911946154508,"price":10.00}';
  assert.deepEqual(argumentsOf(await call(relay, payload)),
    ['820982911946154508', payload, 'is 10.00', payload]);
});

test('an argument may have 128 KiB with its end, as the system lets it', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\necho $# ${#1}\n',
    { output: 'result', arguments: ['{{ payload.text }}'] });
  const answer = await call(relay, { text: 'x'.repeat(131_071) });
  assert.equal(dataOf(answer).output, '1 131071\n');
});

test('what a header, the query and the event say arrives as one argument', async (context) => {
  const secret = 'planted-secret';
  const { relay } = await startHook(context, PRINT_ARGUMENTS, {
    output: 'result', arguments: ['{{ headers.x-text }}', '{{ query.text }}', '{{ event }}'],
  }, { secret, verification: { preset: 'github' } });
  const body = '{}';
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  for (const text of someOf(HOSTILE, 10)) {
    const isHeader = /^[\x21-\x7e][\x20-\x7e]*[\x21-\x7e]$/.test(text);
    const seen = argumentsOf(await call(relay, body, {
      'X-Hub-Signature-256': `sha256=${signature}`,
      'X-GitHub-Event': isHeader ? text : 'push', 'X-Text': isHeader ? text : 'push',
    }, `?text=${encodeURIComponent(text)}&text=second`));
    assert.deepEqual(seen, [isHeader ? text : 'push', text, isHeader ? text : 'push']);
  }
});

test('variables and files hold what came, whole', async (context) => {
  const script = '#!/bin/bash\nprintf "%s\\0" "$TEXT"\ncat "$TEXT_FILE"; printf "\\0"\n'
    + 'cat "$BYTES_FILE"; printf "\\0"\nstat -c %a "$TEXT_FILE"\nprintf "\\0%s" "$TEXT_FILE"\n';
  const { relay, runs } = await startHook(context, script, {
    output: 'result', environment: { TEXT: '{{ payload.text }}' },
    files: { TEXT_FILE: '{{ payload.text }}', BYTES_FILE: { base64: '{{ payload.bytes }}' } },
  });
  for (const text of someOf(HOSTILE, 10)) {
    const bytes = Buffer.from(text).toString('base64');
    const answer = await call(relay, { text, bytes });
    assert.equal(answer.status, 200, answer.text);
    const [inVariable, inFile, fromBase64, mode, path = ''] =
      String(dataOf(answer).output).split('\0');
    assert.deepEqual([inVariable, inFile, fromBase64, mode], [text, text, text, '600\n']);
    assert.ok(path.startsWith(`${runs}/`), path);
    assert.ok(!existsSync(path));
  }
});

test('a variable has a name with dots and hyphens, though a shell has no $ for it',
  async (context) => {
    const { relay } = await startHook(context,
      '#!/bin/bash\ngrep -az "^HOOK_" /proc/$$/environ | tr "\\0" "\\n"\n', {
        output: 'text', environment: { 'HOOK_user.name': '{{ payload.user.name }}' },
        files: { 'HOOK_X-Y': 'z' },
      });
    assert.match(String(dataOf(await call(relay, { user: { name: 'ada' } })).output),
      /^HOOK_user\.name=ada\nHOOK_X-Y=\/\S+\n$/);
  });

const START_FAILURES: readonly (readonly [options: object, payload: object, problem: RegExp])[] = [
  [{ arguments: ['x', '{{ payload.text }}'] }, { text: 'a\0b' },
    /: arguments 1 holds a NUL character$/],
  [{ environment: { TEXT: '{{ payload.text }}' } }, { text: 'a\0b' },
    /: the variable TEXT holds a NUL character$/],
  [{ arguments: ['{{ payload.text }}'] }, { text: 'x'.repeat(131_072) },
    /: an argument or variable, or all of them, are longer/],
  [{ files: { A: '{{ payload }}'.repeat(1000) } }, { text: 'x'.repeat(100_000) },
    /: the file A is too long$/],
  [{ files: { A: { base64: '{{ payload.text }}' } } }, { text: '$(x)' },
    /: the file A is not base64$/],
];

test('what cannot be started fails the run with a line that says why', async (context) => {
  const { relay } = await startHook(context, PRINT_ARGUMENTS);
  for (const [options, payload, problem] of START_FAILURES) {
    await changeOptions(relay, { command: 'it.sh', ...options });
    const { status, json } = await call(relay, payload);
    assert.equal(status, 400);
    assert.match(String(json['message']), /^The command could not be started/);
    assert.match(String(json['message']), problem);
  }
  for (const text of ['aGk=\n', 'a b_-']) assert.equal((await call(relay, { text })).status, 200);
});

const STDIN: readonly (readonly [stdin: string | undefined, body: string, seen: string])[] = [
  [undefined, '{ "a": 1 }', '{ "a": 1 }'],
  ['body', 'not json', 'not json'],
  ['payload', '{ "a": 1 }', '{ "a": 1 }'],
  ['payload', 'not json', '[]'],
  ['none', '{ "a": 1 }', ''],
];

test('standard input is what the option says', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\nprintf "<%s>" "$(cat)"\n');
  for (const [stdin, body, seen] of STDIN) {
    const input = stdin === undefined ? {} : { stdin };
    await changeOptions(relay, { command: 'it.sh', output: 'result', ...input });
    assert.equal(dataOf(await call(relay, body)).output, `<${seen}>`, stdin);
    if (stdin !== undefined) continue;
    const encoded = await call(relay, gzipSync(body), { 'Content-Encoding': 'gzip' });
    assert.equal(dataOf(encoded).output, `<${seen}>`, 'a body that was compressed is decoded');
  }
});

test('payload is the JSON of a form', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\ncat\n',
    { output: 'result', stdin: 'payload' }, { bodyFormat: 'auto' });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  assert.deepEqual(dataOf(await call(relay, 'a=1&b=x+y', headers)).output, { a: '1', b: 'x y' });
});

test('a command has PATH, HOME, what tells of its request, and nothing else', async (context) => {
  const { relay, runs } = await startHook(context, '#!/bin/sh\nexec env\n',
    { output: 'result', environment: { MINE: 'x', PATH: '/bin:/usr/bin' } });
  const answer = await call(relay, {}, { 'Content-Type': 'application/json; a=b' });
  const lines = String(dataOf(answer).output).split('\n').filter((line) =>
    line !== '' && !/^(PWD|OLDPWD|SHLVL|_)=/.test(line));
  const hooks = await relay.ask('GET', '/api/incoming-webhooks');
  const [hook] = JSON.parse(hooks.text) as readonly { readonly identifier: string }[];
  assert.deepEqual(lines.sort(), [
    'HOME=/home/hook', 'HOOKSHELF_ATTEMPT=1',
    'HOOKSHELF_CONTENT_TYPE=application/json; a=b', 'HOOKSHELF_EVENT=', 'HOOKSHELF_EVENT_ID=',
    `HOOKSHELF_HOOK=${hook?.identifier}`, 'HOOKSHELF_REQUEST=', 'MINE=x', 'PATH=/bin:/usr/bin',
  ]);
  assert.deepEqual(readdirSync(runs), []);
});

test('a duplicate learns of a command what the first request did, or nothing', async (context) => {
  for (const output of ['none', 'result']) {
    for (const [outputBytes, isRepeated] of [[500, true], [3000, false], [6000, false]] as const) {
      const { relay } = await startHook(context,
        `#!/bin/sh\nseq 2000 | head -c ${outputBytes}; echo end\n`,
        { output }, { inbox: 'all', deduplicate: { header: 'X-Id' } });
      const [first, again] = [await call(relay, {}, { 'X-Id': '1' }),
        await call(relay, {}, { 'X-Id': '1' })];
      assert.equal(JSON.parse(again.text).message, 'Duplicate');
      assert.deepEqual(dataOf(again),
        output === 'none' || isRepeated ? dataOf(first) : {}, `${output} ${outputBytes}`);
      const requests = await relay.ask('GET', '/api/requests?status=done');
      assert.match(requests.text, /end\\n/);
      assert.ok(!requests.text.includes('callerData'));
    }
  }
});

test('a duplicate is told what the first request was, whatever a replay made', async (context) => {
  const { relay } = await startHook(context, '#!/bin/sh\necho "$HOOKSHELF_ATTEMPT"\n',
    { output: 'text' }, { inbox: 'all', deduplicate: { header: 'X-Id' } });
  const first = await call(relay, {}, { 'X-Id': '1' });
  const listRequests = async () =>
    JSON.parse((await relay.ask('GET', '/api/requests')).text) as
      readonly Record<string, unknown>[];
  const [{ id } = {}] = await listRequests();
  const replayed = await relay.ask('POST', `/api/requests/${String(id)}/replay`);
  assert.equal(replayed.status, 202, replayed.text);
  await until('it has run again', async () => {
    const [{ status, routes } = {}] = await listRequests();
    return status === 'done' && JSON.stringify(routes).includes('"2\\n"');
  });
  assert.deepEqual(dataOf(await call(relay, {}, { 'X-Id': '1' })), dataOf(first));
});

test('arguments and variables hold no credential, in run and retry alike', async (context) => {
  const script = `${PRINT_ARGUMENTS}[ "$HOOKSHELF_ATTEMPT" = 2 ] || exit 1\n`;
  const { relay } = await startHook(context, script, {
    output: 'result',
    arguments: ['{{ headers.authorization }}', '{{ headers.cookie }}', '{{ headers.x-place }}',
      '{{ query.token }}', '{{ query.page }}', '{{ headers.x-plain }}'],
  }, {
    inbox: 'all', secret: 'planted', verification: {
      preset: 'custom', scheme: {
        algorithm: 'token', key: 'utf8', content: '',
        signature: { from: { header: 'X-Place' }, encoding: 'utf8' },
      },
    },
  });
  const answer = await call(relay, {}, {
    Authorization: 'Bearer planted', Cookie: 'a=planted', 'X-Place': 'planted', 'X-Plain': 'plain',
  }, '?token=planted&page=1');
  assert.equal(answer.status, 400, answer.text);
  const seen = String(dataOf(answer).output).split('\0').slice(1, -1);
  assert.deepEqual(seen, ['', '', '', '***', '1', 'plain']);
  const replay = await relay.ask('POST', `/api/requests/${await newestId(relay)}/replay`, {});
  assert.equal(replay.status, 202, replay.text);
  const data = (await untilAttempt(relay, 2)).data as CommandData;
  assert.deepEqual(String(data.output).split('\0').slice(1, -1), ['', '', '', '***', '1', 'plain']);
});

type Attempt = { readonly message: string | null; readonly data: unknown };

async function newestId(relay: Relay): Promise<string> {
  const [request] = JSON.parse((await relay.ask('GET', '/api/requests')).text) as
    readonly { readonly id: string }[];
  return String(request?.id);
}

/** The last attempt of the newest request, once it has so many. */
async function untilAttempt(relay: Relay, count = 1): Promise<Attempt> {
  const id = await newestId(relay);
  let attempts: readonly Attempt[] = [];
  await until(`${count} attempts`, async () => {
    const { json } = await relay.ask('GET', `/api/requests/${id}`);
    const [route] = json['routes'] as readonly { readonly attempts: readonly Attempt[] }[];
    attempts = route?.attempts ?? [];
    return attempts.length >= count;
  });
  return attempts.at(-1) ?? assert.fail();
}

type ResultCase = readonly [
  name: string, script: string, options: object,
  /** Empty: a success. */
  message: string, data: Partial<CommandData>,
  /** Where it is not the message. */
  recordMessage?: string,
];
const RESULT = { output: 'result' };
const RESULTS: readonly ResultCase[] = [
  ['a success', 'echo out; echo err >&2', {}, '', { exitCode: 0 }],
  ['a failure', 'echo out; echo secret reason >&2; exit 3', {},
    'The command failed (exit 3)', { exitCode: 3 }, 'The command failed (exit 3): secret reason'],
  ['a failure without a word', 'exit 3', {}, 'The command failed (exit 3)', { exitCode: 3 }],
  ['a signal', 'kill -KILL $$', {}, 'The command failed (signal SIGKILL)',
    { exitCode: null, signal: 'SIGKILL' }],
  ['another code of success', 'exit 3', { successCodes: [0, 3] }, '', { exitCode: 3 }],
  ['0 as a failure', 'exit 0', { successCodes: [1] },
    'The command failed (exit 0)', { exitCode: 0 }],
  ['an output', 'echo out', RESULT, '', { exitCode: 0, output: 'out\n' }],
  ['no output', 'true', RESULT, '', { exitCode: 0, output: '' }],
  ['JSON as output', 'echo \'{"a": [1, null]}\'', RESULT, '',
    { exitCode: 0, output: { a: [1, null] } }],
  ['a number as output', 'echo 42', RESULT, '', { exitCode: 0, output: 42 }],
  ['a number as text', 'echo 1.10', { output: 'text' }, '', { exitCode: 0, output: '1.10\n' }],
  ['both outputs as they came', 'echo a; echo b >&2; echo c > /dev/stderr; echo d',
    { output: 'combined' }, '', { exitCode: 0, output: 'a\nb\nc\nd\n' }],
  ['both outputs of a failure', 'echo a; echo b >&2; exit 3', { output: 'combined' },
    'The command failed (exit 3): b', { exitCode: 3, output: 'a\nb\n' }],
  ['what is not quite JSON', 'echo "{a}"', RESULT, '', { exitCode: 0, output: '{a}\n' }],
  ['output that is no UTF-8', 'printf "a\\377b"', RESULT, '', { exitCode: 0, output: 'a\ufffdb' }],
  ['JSON that nests too deep', 'printf "%.0s[" {1..2000}; printf "%.0s]" {1..2000}', RESULT, '',
    { exitCode: 0, output: '['.repeat(2000) + ']'.repeat(2000) }],
  ['a failure with its reason', 'echo out; echo first >&2; printf "last\\n\\n" >&2; exit 1', RESULT,
    'The command failed (exit 1): last', { exitCode: 1, output: 'out\n' }],
  ['a reason that would rewrite a terminal', 'printf "\\033[2Ja\\xe2\\x80\\xaeb" >&2; exit 1',
    RESULT, 'The command failed (exit 1): \\u001b[2Ja\\u202eb', { exitCode: 1, output: '' }],
  ['a reason with credentials', 'echo "no https://me:planted@host/" >&2; exit 1', RESULT,
    'The command failed (exit 1): no https://***@host/', { exitCode: 1, output: '' }],
  ['a long reason', 'printf "x%.0s" {1..300} >&2; exit 1', RESULT,
    `The command failed (exit 1): ${'x'.repeat(199)}…`, { exitCode: 1, output: '' }],
];

test('a result is told as the options want it, and is on record', async (context) => {
  const { place, relay } = await startHook(context, '', {}, { inbox: 'all' });
  for (const [name, script, options, message, data, recordMessage = message] of RESULTS) {
    place.add('it.sh', `#!/bin/bash\n${script}\n`);
    await changeOptions(relay, { command: 'it.sh', ...options });
    const before = relay.logLines.length;
    const { status, json } = await call(relay);
    const { durationMs, ...told } = json['data'] as CommandData;
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
    assert.deepEqual([status, json['message'], told],
      [message === '' ? 200 : 400, message, { signal: null, ...data }], name);
    assert.equal((await untilAttempt(relay)).message, recordMessage || null, name);
    const hasWarned = relay.logLines.slice(before)
      .some((line) => line.includes('"a command failed"'));
    assert.equal(hasWarned, message !== '', name);
  }
});

test('a long output is told by its first 64 KiB, recorded by its last 4 KiB', async (context) => {
  const script = '#!/bin/bash\nprintf 1\nfor n in {1..40000}; do printf é; done\n';
  const { relay } = await startHook(context, script, { output: 'result' }, { inbox: 'all' });
  const { output, truncated } = dataOf(await call(relay));
  assert.equal(output, `1${'é'.repeat(32_767)}`);
  assert.equal(truncated, true);
  const { durationMs, ...data } = (await untilAttempt(relay)).data as CommandData;
  assert.ok(durationMs >= 0);
  assert.deepEqual(data, { exitCode: 0, signal: null, output: 'é'.repeat(2048) });
});

test('the end of standard error is on record beside that of standard output', async (context) => {
  const { place, relay } = await startHook(context, '', {}, { inbox: 'all' });
  const errors = 'one\nto https://a.example/?token=***\n';
  for (const [options, exitCode, shown] of [
    [{}, 0, { output: 'out\n', standardError: errors }],
    [{ output: 'result' }, 7, { output: 'out\n', standardError: errors }],
    [{ output: 'combined' }, 7, { output: `out\n${errors}` }],
  ] as const) {
    place.add('it.sh', '#!/bin/sh\necho out\necho one >&2\n'
      + `echo 'to https://a.example/?token=planted' >&2\nexit ${exitCode}\n`);
    await changeOptions(relay, { command: 'it.sh', ...options });
    await call(relay);
    const { durationMs: _, ...data } = (await untilAttempt(relay)).data as CommandData;
    assert.deepEqual(data, { exitCode, signal: null, ...shown });
  }
});

test('standard error is in the log: each line at debug, its end at warning', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\necho one >&2\necho two >&2\nexit 7\n');
  await call(relay);
  const lines = relay.logLines.map((text) => JSON.parse(text) as Record<string, unknown>);
  const failure = lines.find(({ message }) => message === 'a command failed');
  assert.deepEqual(
    [failure?.['level'], failure?.['command'], failure?.['exitCode'], failure?.['standardError']],
    ['warning', 'it.sh', 7, 'one\ntwo\n']);
  const debug = lines.filter(({ level }) => level === 'debug').map((line) => JSON.stringify(line));
  for (const word of ['one', 'two']) {
    assert.equal(debug.filter((line) => line.includes(`"${word}"`)).length, 1, word);
  }
});

test('each start is in the log at debug, without secrets', async (context) => {
  const { place, relay } = await startHook(context, PRINT_ARGUMENTS, {
    arguments: ['now', '{{ payload.ref }}', '{{ payload.auth.token }}', 'x={{ query.api_key }}',
      '--password', 'planted', '{{ payload }}'],
    environment: { MINE: '{{ payload.auth.token }}' }, files: { TEXT: 'planted' },
    workingDirectory: '.',
  });
  await call(relay, { ref: 'main', auth: { token: 'planted' } }, {}, '?api_key=planted');
  const lines = relay.logLines.map((text) => JSON.parse(text) as Record<string, unknown>);
  const line = lines.find(({ message }) => message === 'a command starts');
  const { level, command, arguments: words, workingDirectory, variables } = line ?? {};
  assert.deepEqual([level, command, workingDirectory],
    ['debug', realpathSync(join(place.path, 'it.sh')), realpathSync(place.path)]);
  assert.deepEqual(words, ['now', 'main', '***', '***', '--password', '***',
    '{"ref":"main","auth":{"token":"***"}}']);
  assert.ok(Array.isArray(variables));
  assert.deepEqual(variables.filter((name) => !String(name).startsWith('HOOKSHELF_')),
    ['PATH', 'HOME', 'MINE', 'TEXT']);
  assert.ok(!JSON.stringify(line).includes('planted'));
});

test('a command that takes too long is ended and has failed', async (context) => {
  const script = '#!/bin/bash\ntrap "exit 0" TERM\nwhile :; do sleep 0.01; done\n';
  const { relay } = await startHook(context, script, {}, {}, { timeoutMs: 1000 });
  const answer = await call(relay);
  assert.deepEqual([answer.status, answer.json['message'], dataOf(answer).exitCode],
    [400, 'The command failed (not done within 1 s)', 0]);
});

test('the timeout of the options replaces the setting', async (context) => {
  const script = '#!/bin/bash\nsleep 0.2\n';
  const { relay } = await startHook(context, script, { timeout: 30 }, {}, { timeoutMs: 10 });
  assert.equal((await call(relay)).status, 200);
});

test('a command is looked at again at each run, and the caller told no path', async (context) => {
  const { place, relay } = await startHook(context);
  const path = join(place.path, 'it.sh');
  assert.equal((await call(relay)).status, 200);
  chmodSync(path, 0o777);
  const answer = await call(relay);
  assert.deepEqual([answer.status, answer.json['message'], answer.json['data']],
    [400, 'The command could not be started', {}]);
  assert.match((await untilAttempt(relay)).message ?? '',
    /it\.sh: is writable by group or others; run: chmod go-w/);
  rmSync(path);
  assert.equal((await call(relay)).json['message'], 'The command could not be started');
  assert.ok(relay.logLines.some((line) => line.includes('is no file in')));
});

test('a script whose interpreter is missing says so on record', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\r\ntrue\r\n');
  assert.equal((await call(relay)).json['message'], 'The command could not be started (ENOENT)');
  assert.match((await untilAttempt(relay)).message ?? '', /\(ENOENT\): the program .* #! .* CR LF/);
});

test('a command runs in a folder of its own, or in the one that is named', async (context) => {
  const { place, relay, runs } = await startHook(
    context, '#!/bin/bash\npwd; ls -A; touch x\n', { output: 'result' });
  const folders = new Set<string>();
  for (const _turn of [1, 2]) {
    const [folder = '', ...files] = String(dataOf(await call(relay)).output).trim().split('\n');
    assert.ok(folder.startsWith(`${runs}/`) && !existsSync(folder), folder);
    assert.deepEqual(files, []);
    folders.add(folder);
  }
  assert.equal(folders.size, 2);
  await changeOptions(relay, { command: 'it.sh', output: 'result', workingDirectory: '.' });
  assert.equal(dataOf(await call(relay)).output, `${place.path}\nit.sh\n`);
  assert.ok(existsSync(join(place.path, 'x')));
});

test('an outgoing webhook runs no command', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\ntouch "$HOME/../ran"\n');
  await assert.rejects(
    relay.webhooks.send({ targetUrl: 'http://127.0.0.1:9/', actionConfiguration: 'it' }, {}).then(
      (result) => assert.ok(result.success, JSON.stringify(result))),
    /run-command is not for an outgoing webhook/);
});

test('an outgoing webhook with a command is refused when it is saved', async (context) => {
  const { relay } = await startHook(context, '#!/bin/bash\n');
  const path = '/api/outgoing-webhooks';
  const webhook = { targetUrl: 'http://127.0.0.1:9/', actionConfiguration: 'it' };
  const refused = await relay.ask('POST', path, webhook);
  assert.deepEqual([refused.status, refused.json['errors']], [422, [{
    pointer: '/actionConfiguration', detail: 'run-command is not for an outgoing webhook: have it '
      + 'send to an incoming webhook of this service, which runs the command',
  }]]);
  await relay.ask('POST', '/api/action-configurations', { identifier: 'log', actionType: 'log' });
  const saved = await relay.ask('POST', path, { ...webhook, actionConfiguration: 'log' });
  assert.equal(saved.status, 201, saved.text);
  const changed = await relay.ask('PATCH', `${path}/${String(saved.json['identifier'])}`,
    { actionConfiguration: 'it' });
  assert.equal(changed.status, 422);
  const configuration = await relay.ask('PUT', '/api/action-configurations/log',
    { actionType: 'run-command', options: { command: 'it.sh' } });
  assert.equal(configuration.status, 409);
  assert.match(configuration.text, /log is in use by outgoing webhooks, and run-command is not/);
});

test('GET /api/actions names the commands to choose from as they are now', async (context) => {
  const { place, relay } = await startFor(context);
  const listChoices = async (): Promise<unknown> => {
    const actions = JSON.parse((await relay.ask('GET', '/api/actions')).text) as readonly {
      readonly identifier: string;
      readonly options: readonly { readonly name: string; readonly choices?: unknown }[];
    }[];
    return actions.find(({ identifier }) => identifier === 'run-command')?.options
      .find(({ name }) => name === 'command')?.choices;
  };
  assert.deepEqual(await listChoices(), []);
  place.add('b.sh');
  place.add('a.sh');
  place.add('open.sh', '', 0o777);
  place.add('text', '', 0o644);
  assert.deepEqual(await listChoices(), ['a.sh', 'b.sh']);
  rmSync(place.path, { recursive: true });
  assert.deepEqual(await listChoices(), []);
});

// The console has labels beside them; GET /api/actions, which others read, has their names alone.
test('what an option says of itself is enough without its label', () => {
  const said = [
    ['arguments', /^Arguments of the command/], ['workingDirectory', /^Where it runs/],
    ['maxCommands', /^How many runs/], ['coalesce', /the newest run/],
    ['successCodes', /^The exit codes that are a success/],
  ] as const;
  const options = commandOptions([]);
  for (const [name, says] of said) assert.match(options[name]?.description ?? '', says, name);
});

const REFUSED_OPTIONS: readonly (readonly [options: object, detail: RegExp])[] = [
  [{}, /^command is required$/],
  [{ command: '../it.sh' }, /^command must be the name of a file in the folder of commands/],
  [{ command: '/bin/sh' }, /^command must be the name of a file/],
  [{ command: '..' }, /^command must be the name of a file/],
  [{ command: 'it.sh\0' }, /^command must be the name of a file/],
  [{ command: 'itt.sh' }, /^command "itt\.sh" is no file in .*did you mean `it\.sh`\?$/],
  [{ command: 'it.sh', arguments: 'x' }, /^arguments must be an array/],
  [{ command: 'it.sh', arguments: ['x', 1] }, /^arguments 1 must be a string, not a number/],
  [{ command: 'it.sh', arguments: ['{{ x }}'] }, /^arguments 0 \{\{ x \}\} must begin with/],
  [{ command: 'it.sh', environment: { 'A B': 'x' } }, /^environment A B is not the name of/],
  [{ command: 'it.sh', environment: { A: 1 } }, /^environment A must be a template, a string$/],
  [{ command: 'it.sh', environment: { A: '{{' } }, /^environment A a placeholder is opened/],
  [{ command: 'it.sh', environment: { HOOKSHELF_EVENT: '' } }, /is set for every command/],
  [{ command: 'it.sh', environment: { BASH_ENV: '/dev/stdin' } },
    /^environment BASH_ENV is no variable .* running server allows HOOK_\*, A, MINE.*; .* restart/],
  [{ command: 'it.sh', files: { LD_PRELOAD: { base64: '' } } }, /^files LD_PRELOAD is no variable/],
  [{ command: 'it.sh', environment: { HOOK: '' } }, /^environment HOOK is no variable/],
  [{ command: 'it.sh', environment: { hook_a: '' } }, /^environment hook_a is no variable/],
  [{ command: 'it.sh', files: { A: { base65: '' } } }, /^files A must be .* or \{ "base64": temp/],
  [{ command: 'it.sh', files: { A: { base64: '{{' } } }, /^files A base64 a placeholder is opened/],
  [{ command: 'it.sh', files: { A: '' }, environment: { A: '' } },
    /^files A stands in environment as well$/],
  [{ command: 'it.sh', stdin: 'bod' }, /^stdin must be one of body, payload, none.*did you mean/],
  [{ command: 'it.sh', output: true }, /^output must be a string/],
  [{ command: 'it.sh', timeout: 0 }, /^timeout must be a number from 0\.001 to 2000000, not 0$/],
  [{ command: 'it.sh', maxCommands: 0 }, /^maxCommands must be an integer from 1/],
  [{ command: 'it.sh', coalesce: 1 }, /^coalesce must be true or false/],
  [{ command: 'it.sh', successCodes: [] }, /^successCodes must have at least one code$/],
  [{ command: 'it.sh', successCodes: [256] }, /^successCodes 0 must be an integer from 0 to 255/],
  [{ command: 'it.sh', workingDirectory: '/' }, /^workingDirectory \/: is not below/],
  [{ command: 'it.sh', comand: 'x' }, /^comand is not a known member: did you mean `command`\?$/],
];

test('options that are wrong are refused with what to do', async (context) => {
  const { place, relay } = await startFor(context);
  place.add('it.sh');
  for (const [options, detail] of REFUSED_OPTIONS) {
    const { status, json, text } = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'run-command', options });
    assert.equal(status, 422, JSON.stringify(options));
    const errors = json['errors'] as readonly { readonly detail: string }[];
    assert.deepEqual(errors.map((error) => error.detail).filter((each) => !detail.test(each)), [],
      text);
  }
});

test('a stored configuration with a forbidden variable starts nothing', async (context) => {
  const allowedVariables = ['HOOK_*', 'BASH_ENV'];
  const { place, relay } = await startFor(context, { allowedVariables });
  place.add('show.sh', `#!/bin/bash\ntouch '${place.folder}/ran'\n`);
  await addHook(relay, { command: 'show.sh', files: { BASH_ENV: 'id' } }, { inbox: 'all' });
  allowedVariables.pop();
  const { status, json } = await call(relay);
  assert.deepEqual([status, json['message']], [400, 'The command could not be started']);
  assert.ok(!existsSync(join(place.folder, 'ran')));
  const { text } = await relay.ask('GET', '/api/requests');
  assert.match(text, /could not be started: files BASH_ENV is no variable .* actions\.environment/);
});
