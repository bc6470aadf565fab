/** A diagnosis says of a request whether it came before, as the webhook itself would find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FORM_TYPE, JSON_TYPE, hmacKey, type Sent } from '../../support/senders/signer.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { startRelayWithHook, type Relay } from '../relay.ts';
import { createActionClass } from '../context.ts';

const SECRET = 'planted-secret';

const Picky = createActionClass('picky', (payload: { readonly fail?: boolean }) =>
  ({ success: payload.fail !== true, message: null, data: {} }));

type Hook = Readonly<Record<string, unknown>>;

const of = (preset: string, more: Hook = {}): Hook =>
  ({ secret: SECRET, verification: { preset }, inbox: 'all', ...more });
const OPEN: Hook = { deduplicate: { json: 'id' }, inbox: 'all' };

function signed(preset: string, text: string, headers: Sent['headers'] = {}): Sent {
  const body = Buffer.from(text);
  const sent = preset === '' ? { body, query: '', headers: JSON_TYPE }
    : sendAs(senderOf(preset), hmacKey(SECRET), { body });
  return { ...sent, headers: { ...sent.headers, ...headers } };
}

const github = (text: string): Sent => signed('github', text, { 'X-GitHub-Delivery': 'd-1' });
const slackForm = (): Sent => signed('slack',
  `payload=${encodeURIComponent('{"type":"block_actions","event_id":"Ev1"}')}`, FORM_TYPE);

const CASES: readonly (readonly [
  title: string, hook: Hook, before: readonly Sent[], last: Sent, finding: RegExp,
])[] = [
  ['the same event again', of('stripe'), [signed('stripe', '{"id":"evt_1"}')],
    signed('stripe', '{"id":"evt_1"}'), /^failed: a duplicate of [0-9a-f-]{36}$/],
  ['another body under an id that is signed', of('stripe'), [signed('stripe', '{"id":"evt_1"}')],
    signed('stripe', '{"id":"evt_1","a":1}'), /^failed: a duplicate of [0-9a-f-]{36}$/],
  ['an event that left no record', of('stripe', { inbox: 'off' }),
    [signed('stripe', '{"id":"evt_1"}')], signed('stripe', '{"id":"evt_1"}'),
    /^failed: a duplicate of a request that was not kept$/],
  ['an id in the JSON of a form', of('slack'), [slackForm()], slackForm(),
    /^failed: a duplicate of [0-9a-f-]{36}$/],
  ['a second body under one id, twice', of('github'), [github('{"a":1}'), github('{"a":2}')],
    github('{"a":2}'), /^failed: a duplicate of [0-9a-f-]{36}$/],
  ['a second body under one id', of('github'), [github('{"a":1}')], github('{"a":2}'),
    /^ok: .*"d-1" came before with another body, and is not signed$/],
  ['a second body where nothing is signed', OPEN, [signed('', '{"id":"1"}')],
    signed('', '{"id":"1","a":1}'), /^ok: .*"1" came before with another body/],
  ['an event that failed', of('stripe'), [signed('stripe', '{"id":"evt_1","fail":true}')],
    signed('stripe', '{"id":"evt_1"}'), /^ok: .*came before, as [0-9a-f-]{36}, which failed/],
  ['a new event', of('stripe'), [signed('stripe', '{"id":"evt_1"}')],
    signed('stripe', '{"id":"evt_2"}'), /^ok: .*"evt_2" is not remembered$/],
];

for (const [title, hook, before, last, finding] of CASES) {
  test(`a diagnosis finds of ${title} what the webhook finds`, async (context) => {
    const relay = await startRelayWithHook(
      context, { actionType: 'picky' }, hook, { actions: [Picky] });
    for (const sent of before) await send(relay, sent);
    const found = await look(relay, last);
    assert.match(found.finding, finding);
    const isDuplicate = await send(relay, last) === 'Duplicate';
    assert.deepEqual([found.accepted, found.failedCheck],
      isDuplicate ? [false, 'duplicate'] : [true, null]);
  });
}

async function send(relay: Relay, { body, headers }: Sent): Promise<unknown> {
  return (await relay.ask('POST', '/webhook/in/hook', body, headers)).json['message'];
}

async function look(relay: Relay, { body, headers }: Sent): Promise<{
  readonly accepted: unknown; readonly failedCheck: unknown; readonly finding: string;
}> {
  const { json, text } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose',
    { headers, body: body.toString('base64') });
  assert.ok(!text.includes('planted'), text);
  const checks = json['checks'] as readonly { check: string; status: string; finding: string }[];
  const { status, finding } = checks.find(({ check }) => check === 'duplicate')
    ?? { status: '', finding: '' };
  return {
    accepted: json['accepted'], failedCheck: json['failedCheck'], finding: `${status}: ${finding}`,
  };
}
