import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCurlCall,
  type RequestToRepeat } from '../../../src/cli/commands/webhooks/curl-call.ts';
import { startHttpTarget, type HttpTarget } from '../../support/http-target.ts';
import { runScript } from '../../support/shell.ts';

/** Runs what was made in a shell, and gives what a server got of it. */
async function repeat(
  given: Partial<RequestToRepeat> & { readonly path?: string },
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly received: HttpTarget['received']; readonly code: number | null;
  readonly stderr: string; readonly call: string }> {
  const target = await startHttpTarget();
  try {
    const { path = '/webhook/in/ci', ...members } = given;
    const call = formatCurlCall({
      method: 'POST', headers: [], body: Buffer.alloc(0), ...members,
      url: `${target.url}${path}`,
    });
    const { code, stderr } = await runScript(call, { environment });
    return { received: target.received, code, stderr, call };
  } finally {
    target.close();
  }
}

function pairsOf(raw: readonly string[]): string[] {
  return raw.flatMap((name, index) => index % 2 === 0 ? [`${name}: ${raw[index + 1]}`] : []);
}

const BODIES: readonly (readonly [string, Buffer])[] = [
  ['JSON', Buffer.from('{"a": "it\'s \\"$HOME\\" `id` \\\\ !"}')],
  ['one that begins with @', Buffer.from('@/etc/passwd')],
  ['line ends of both kinds', Buffer.from('a\r\nb\nc\n\n')],
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['more than an argument takes', Buffer.from('x'.repeat(300_000))],
  ['what a terminal obeys', Buffer.from('\u001b[2Jü')],
  ['nothing', Buffer.alloc(0)],
];
for (const [name, body] of BODIES) {
  test(`repeats a body byte for byte: ${name}`, async () => {
    const headers = [['Content-Type', 'application/json']] as const;
    const { received, stderr, call } = await repeat({ body, headers });
    assert.equal(received.length, 1, stderr);
    assert.ok(received[0]?.body.equals(body), call.slice(0, 500));
    assert.ok(!call.includes('\u001b'));
  });
}

test('repeats method, path, query and headers as they came, and adds none', async () => {
  const { received, stderr } = await repeat({
    method: 'PUT', path: '/webhook/in/ci?a=[1]&b={x}&c=%27',
    headers: [
      ['Host', 'elsewhere.example'], ['Content-Length', '7'], ['X-Odd', 'it\'s $(id) "x" `y`'],
      ['x-twice', '1'], ['X-Twice', '2'], ['X-Empty', ''],
      ['X-Byte', '100 % \\ \' \u00fc'],
    ],
    body: Buffer.from('x'),
  });
  const [{ method, url, rawHeaders } = { method: '', url: '', rawHeaders: [] }] = received;
  assert.deepEqual([method, url], ['PUT', '/webhook/in/ci?a=[1]&b={x}&c=%27'], stderr);
  assert.deepEqual(pairsOf(rawHeaders).filter((line) => !/^(host|content-length):/i.test(line)), [
    'X-Odd: it\'s $(id) "x" `y`', 'x-twice: 1', 'X-Twice: 2', 'X-Empty: ',
    'X-Byte: 100 % \\ \' \u00fc',
  ]);
  assert.ok(!pairsOf(rawHeaders).includes('Host: elsewhere.example'));
});

test('a HEAD request comes to an end', async () => {
  const { received, code } = await repeat({ method: 'HEAD' });
  assert.deepEqual([received[0]?.method, code], ['HEAD', 0]);
});

const KINDS = [['text', Buffer.from('{}')], ['binary', Buffer.from([0, 1])]] as const;
for (const [kind, body] of KINDS) {
  test(`takes what is not shown from the environment, with a ${kind} body`, async () => {
    const headers = [['X-Hub-Signature-256', '***'], ['Authorization', 'Bearer ***']] as const;
    const { received, call, stderr } = await repeat({ headers, body },
      { X_HUB_SIGNATURE_256: 'sha256=a$b"c', AUTHORIZATION: 'Bearer q' });
    assert.ok(!call.includes('***'), call);
    const lines = pairsOf(received[0]?.rawHeaders ?? []);
    assert.ok(lines.includes('X-Hub-Signature-256: sha256=a$b"c'), stderr);
    assert.ok(lines.includes('Authorization: Bearer q'));
    assert.ok(received[0]?.body.equals(body));
    const without = await repeat({ headers, body });
    assert.deepEqual(without.received, []);
    assert.match(without.stderr, /X_HUB_SIGNATURE_256.*must hold the header X-Hub-Signature-256/);
  });
}

test('nothing is run of a header whose name a shell would run', async () => {
  const { received, stderr } = await repeat({ headers: [['`id`', '***'], ['X-$HOME', '***']] },
    { _ID_: 'a', X__HOME: 'b', HOME: '/root' });
  const lines = pairsOf(received[0]?.rawHeaders ?? []).slice(1, 3);
  assert.deepEqual(lines, ['`id`: a', 'X-$HOME: b'], stderr);
});

test('takes what is not shown of the query from the environment', async () => {
  const path = '/webhook/in/ci?a=1&token=***&b=2';
  const { received, call } = await repeat({ path }, { TOKEN: 'x%20y%22$' });
  assert.ok(!call.includes('***'), call);
  assert.equal(received[0]?.url, '/webhook/in/ci?a=1&token=x%20y%22$&b=2');
  assert.match((await repeat({ path })).stderr, /TOKEN.*must hold the parameter token/);
});

test('does not send a variable of the shell as a secret of the same name', async () => {
  const path = '/webhook/in/ci?path=***&home=***';
  const { received } = await repeat({ path }, { HOME: '/root' });
  assert.deepEqual(received, []);
  const set = await repeat({ path }, { HOME: '/root', PATH_VALUE: 'a', HOME_VALUE: 'b' });
  assert.equal(set.received[0]?.url, '/webhook/in/ci?path=a&home=b', set.stderr);
});
