/** Every command that opens the data, run without a server: all on one directory, in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCommand } from '../io.ts';
import { ALONE, inPlace } from '../place.ts';
import type { Place } from '../place.ts';

const BOOK = '01980000-0000-7000-8000-000000000001';
const NOBODY = '01980000-0000-7000-8000-000000000002';

/**
 * Words, the exit code, what stands on standard input, and what is said of the missing server. In
 * words `<kind>` stands for the first value, of that kind, that completion offers in its place.
 */
type Step = readonly [words: string, code: number, input?: string | null, said?: RegExp];

const STEPS: readonly Step[] = [
  ['book:add --input -', 0, '{"title":"Emma","isbn":"9780141439587"}'],
  ['book:add --input -', 1, '{"title":"Emma","isbn":"9780141439588"}'],
  ['book:add --input -', 2, '{"title":'],
  ['book:import --file - --format jsonl', 0, `{"id":"${BOOK}","title":"Dune"}\n`],
  ['book:import --file - --format csv', 1, 'title,authors\n,Jane Austen\n'],
  [`book:show ${BOOK}`, 0],
  [`book:show ${NOBODY}`, 1],
  [`book:update ${BOOK} --input {"bookFormat":"EBook"}`, 0],
  [`book:update ${NOBODY} --input {}`, 1],
  [`book:merge ${BOOK} --from ${NOBODY}`, 1],
  ['book:list --q dune', 0],
  ['book:list --published-from never', 1],
  ['book:facets --by bookFormat', 0],
  ['book:statistics --by year', 0],
  ['book:duplicates --by isbn', 0],
  ['book:export --format jsonl', 0],
  [`book:delete ${BOOK}`, 0],
  [`book:restore ${BOOK}`, 1, null, /was deleted here in the last 60 s/],
  ['actionconfig:actions', 0],
  ['actionconfig:create --action log --identifier to-log', 0],
  ['actionconfig:update to-log --options -', 0, '{"level":"debug"}'],
  ['actionconfig:list', 0],
  ['actionconfig:show to-log', 0],
  ['incomingwebhook:create --path-segment in --action-config to-log --inbox all --secret-file -',
    0, 's\n'],
  ['incomingwebhook:create --path-segment in --action-config to-log', 1],
  ['incomingwebhook:create --path-segment b --action-config to-log --secret-file -', 1, '\n'],
  ['incomingwebhook:presets', 0],
  ['incomingwebhook:list', 0],
  ['incomingwebhook:show in', 0],
  ['incomingwebhook:test in', 0],
  ['incomingwebhook:update in --allowed-address 192.0.2.1', 0],
  ['incomingwebhook:test in', 0, null, /allowedAddresses was not checked.*diagnose --client/],
  ['incomingwebhook:rotate-secret in', 0],
  ['incomingwebhook:await-secret in', 1],
  ['incomingwebhook:disable in', 0],
  ['incomingwebhook:enable in', 0],
  ['incomingwebhook:diagnose in --request <requests>', 0],
  ['incomingwebhook:match in --request <requests>', 0],
  ['incomingwebhook:diagnose --request <requests>', 0],
  ['incomingwebhook:match --request <requests>', 0],
  ['incomingwebhook:match --payload {}', 2],
  ['request:list', 0],
  ['request:show <requests>', 0],
  ['request:replay <requests>', 0],
  ['request:pin <requests>', 0],
  ['request:unpin <requests>', 0],
  ['request:reconcile', 0],
  ['request:delete <requests>', 1],
  ['actionconfig:delete to-log', 1],
  ['incomingwebhook:delete in', 0],
  ['actionconfig:delete to-log', 0],
  ['outgoingwebhook:create --target-url http://127.0.0.1:1/ --trigger-event a.b', 0],
  ['outgoingwebhook:create --target-url ftp://127.0.0.1/', 1],
  ['outgoingwebhook:list', 0],
  ['outgoingwebhook:show <outgoing-webhooks>', 0],
  ['outgoingwebhook:update <outgoing-webhooks> --timeout 2', 0],
  ['outgoingwebhook:rotate-secret <outgoing-webhooks>', 0],
  ['outgoingwebhook:send <outgoing-webhooks> --retries 0', 1],
  [`outgoingwebhook:send ${NOBODY}`, 1],
  ['event:emit --name a.b --payload -', 0, '[1]'],
  ['event:watch', 2, null, /nothing comes in while no server runs/],
  ['event:emit a.b --payload 1', 0],
  ['event:emit --name a.b --payload 1 --in 1h', 0],
  ['event:list', 0],
  ['event:show <events>', 0],
  ['event:cancel <events>', 0],
  ['outgoingwebhook:backfill <outgoing-webhooks> --since 1h', 0],
  ['outgoingwebhook:backfill <outgoing-webhooks> --since 1h --wait', 2, null, /needs a server/],
  ['job:list', 0],
  ['job:show <jobs>', 0],
  ['job:cancel <jobs>', 0],
  ['delivery:list', 0],
  ['delivery:show <deliveries>', 0],
  ['delivery:cancel <deliveries>', 0],
  ['delivery:resend <deliveries>', 0],
  [`delivery:retry ${NOBODY}`, 1],
  ['delivery:reconcile', 0],
  ['outgoingwebhook:acknowledge <outgoing-webhooks>', 1, null, /no failure has switched it off/],
  ['outgoingwebhook:disable <outgoing-webhooks>', 0],
  ['outgoingwebhook:enable <outgoing-webhooks>', 0],
  ['outgoingwebhook:delete <outgoing-webhooks>', 0],
  ['apply --file - --yes', 0, '{}'],
  ['config:export', 0],
  ['token:create --name ci --scope read', 0],
  ['token:list', 0],
  ['token:revoke <tokens>', 0],
  [`token:revoke ${NOBODY}`, 1],
  ['node:list', 0],
  ['data:verify', 0],
  ['data:compact', 0],
  ['data:backup --to <folder>/backup', 0],
  ['data:restore --from <folder>/backup', 1],
  ['data:move --to <folder>/moved', 0],
  ['doctor', 0, null, /^senders +ok +looked at while a server runs$/m],
  ['settings:show', 0],
  ['mcp', 0, '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
];

/** They serve, watch or follow until they are ended. */
const ENDLESS = ['serve', 'data:follow', 'request:watch'];

test('every command that opens the data is tried', () => {
  const tried = new Set(STEPS.map(([words]) => words.split(' ')[0]));
  const missing = COMMANDS.filter(({ name, isWithoutData }) =>
    isWithoutData !== true && !ENDLESS.includes(name) && !tried.has(name));
  assert.deepEqual(missing.map(({ name }) => name), []);
});

test('commands end with the right code without a server', () => inPlace(ALONE, async (place) => {
  for (const [line, code, input, said = /^/] of STEPS) {
    const words = await Promise.all(line.split(' ').map((word, index, all) =>
      fill(place, word, all.slice(0, index))));
    const ran = await place.run(words, {
      ...typeof input === 'string' ? { input } : {},
      // The doctor tries the port, which anybody may have taken.
      environment: { HOOKSHELF_SERVER_PORT: '0' },
    });
    assert.equal(ran.code, code, `${line}: ${ran.stdout}${ran.stderr}`);
    assert.match(`${ran.stdout}${ran.stderr}`, said, line);
    if (code === 0) continue;
    const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
    if (ran.stdout === '') assert.match(last, /^hookshelf: \S/, line);
    assert.doesNotMatch(ran.stderr, /\n {4}at /, line);
  }
}));

async function fill(place: Place, word: string, before: readonly string[]): Promise<string> {
  if (word.startsWith('<folder>')) return word.replace('<folder>', place.folder);
  if (!/^<[a-z-]+>$/.test(word)) return word;
  const { stdout } = await runCommand(
    ['completion:words', '--', ...place.location, ...before, '']);
  return stdout.split('\t')[0] ?? '';
}
