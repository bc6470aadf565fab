/** What `doctor` and `settings:show` say of a server whose settings the caller's shell lacks. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/base/version.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { hookshelf, startServer } from './processes.ts';

const SECRET = 'planted-secret-of-the-server';

type Finding = { readonly check: string; readonly status: string; readonly detail: string };
type Row = { readonly name: string; readonly value: unknown; readonly origin: string };

test('doctor and settings:show tell of the server that runs, and without one of this command', () =>
  inFolder(async (folder) => {
    const [data, cert, key] = ['data', 'cert.pem', 'key.pem'].map((name) => join(folder, name));
    assert.ok(data !== undefined && cert !== undefined && key !== undefined);
    const certificate = createCertificate(undefined, { toDays: 10.5 });
    writeFileSync(cert, certificate.cert);
    writeFileSync(key, certificate.key);
    const server = await startServer(['--data', data], {
      environment: {
        HOOKSHELF_SERVER_TLS_CERT: cert, HOOKSHELF_SERVER_TLS_KEY: key,
        HOOKSHELF_API_TOKEN: SECRET, HOOKSHELF_HTTP_PROXY: `http://me:${SECRET}@127.0.0.1:9`,
        HOOKSHELF_HTTP_MAX_SOCKETS_PER_HOST: '7',
      },
    });
    const { pid } = server.child;
    const ofServer = `of the server that runs on ${data} (pid ${pid}, version ${VERSION})`;
    const look = async (): Promise<(check: string) => Finding | undefined> => {
      const { stdout } = await hookshelf(['doctor', '--json', '--data', data]);
      assert.ok(!stdout.includes(SECRET));
      const findings = JSON.parse(stdout) as Finding[];
      return (check) => findings.find((finding) => finding.check === check);
    };
    const found = await look();
    assert.equal(found('settings')?.detail, `${ofServer}: from `
      + '--port, HOOKSHELF_API_TOKEN, HOOKSHELF_SERVER_TLS_CERT, HOOKSHELF_SERVER_TLS_KEY, '
      + 'HOOKSHELF_HTTP_PROXY and 1 more; the others by default');
    assert.equal(found('certificate')?.status, 'warning');
    assert.match(found('certificate')?.detail ?? '',
      /^the certificate expires soon: its last day is \d{4}-\d\d-\d\d, in 10 days$/);
    assert.equal(found('port')?.detail, `our server listens on ${server.url}, and answers`);
    assert.deepEqual([found('proxy')?.status, found('proxy')?.detail],
      ['failed', 'http://***@127.0.0.1:9 does not answer (ECONNREFUSED)']);

    const rowsOf = (stdout: string): ReadonlyMap<string, readonly unknown[]> => {
      assert.ok(!stdout.includes(SECRET));
      return new Map((JSON.parse(stdout) as Row[])
        .map(({ name, value, origin }) => [name, [value, origin]]));
    };
    const shown = await hookshelf(['settings:show', '--json', '--data', data]);
    assert.equal(shown.stderr, `hookshelf: these are the settings ${ofServer}\n`);
    const rows = rowsOf(shown.stdout);
    assert.deepEqual(rows.get('server.tlsCert'), [cert, 'HOOKSHELF_SERVER_TLS_CERT']);
    assert.deepEqual(rows.get('http.maxSocketsPerHost'),
      [7, 'HOOKSHELF_HTTP_MAX_SOCKETS_PER_HOST']);
    assert.deepEqual(rows.get('server.apiToken'), ['***', 'HOOKSHELF_API_TOKEN']);

    // The same from elsewhere takes a token, as the route does.
    const token = join(folder, 'token');
    const far = (command: string): ReturnType<typeof hookshelf> => hookshelf(
      [command, '--json', '--server', server.url, '--token-file', token],
      { environment: { NODE_EXTRA_CA_CERTS: cert } });
    writeFileSync(token, SECRET, { mode: 0o600 });
    const elsewhere = await far('settings:show');
    assert.equal(elsewhere.stderr,
      `hookshelf: these are the settings of the server at ${server.url} (version ${VERSION})\n`);
    assert.deepEqual(rowsOf(elsewhere.stdout), rows);
    const looked = await far('doctor');
    const checks = (JSON.parse(looked.stdout) as Finding[]).map(({ check }) => check);
    assert.deepEqual(checks, ['settings', 'version', 'node', 'lock', 'store', 'bound tokens',
      'token expiry', 'port', 'certificate', 'file limits', 'senders', 'own events', 'incoming',
      'outgoing', 'outgoing TLS', 'queue', 'inbox', 'order', 'hosts', 'followers', 'nodes',
      'backups']);
    const made = await hookshelf(['token:create', '--name', 'a', '--scope', 'read', '--json',
      '--data', data]);
    writeFileSync(token, String(JSON.parse(made.stdout).token));
    const refused = await far('settings:show');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /scope admin/);
    const anybody = await hookshelf(['settings:show', '--server', server.url],
      { environment: { NODE_EXTRA_CA_CERTS: cert } });
    assert.match(anybody.stderr, /wants a token of scope admin: name the file that holds one/);

    await server.stop();
    const resting = await look();
    assert.equal(resting('settings')?.detail,
      `of this command, as no server runs on ${data}: all by default`);
    assert.equal(resting('certificate')?.detail, 'none is set: plain HTTP');
    const own = await hookshelf(['settings:show', '--json', '--data', data],
      { environment: { HOOKSHELF_HTTP_TIMEOUT: '9' } });
    assert.equal(own.stderr,
      `hookshelf: these are the settings of this command, as no server runs on ${data}\n`);
    assert.deepEqual(rowsOf(own.stdout).get('http.timeout'), [9, 'HOOKSHELF_HTTP_TIMEOUT']);
  }));

test('doctor names the hooks whose programs the running server has no folder for', () =>
  inFolder(async (folder) => {
    const [data, commands] = [join(folder, 'data'), join(folder, 'commands')];
    mkdirSync(commands);
    writeFileSync(join(commands, 'deploy.sh'), '#!/bin/sh\n', { mode: 0o755 });
    const lookAtActions = async (): Promise<Finding | undefined> => {
      const { stdout } = await hookshelf(['doctor', '--json', '--data', data]);
      return (JSON.parse(stdout) as Finding[]).find(({ check }) => check === 'actions');
    };
    const withFolder = await startServer(['--data', data],
      { environment: { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: commands } });
    const { code, stderr } = await hookshelf(['actionconfig:create', '--id', 'deploy',
      '--action', 'run-command', '--options', '{"command": "deploy.sh"}', '--data', data]);
    assert.equal(code, 0, stderr);
    assert.equal((await lookAtActions())?.status, 'ok');
    await withFolder.stop();
    const without = await startServer(['--data', data]);
    const finding = await lookAtActions();
    assert.equal(finding?.status, 'failed');
    assert.match(finding.detail, /: deploy \(run-command\)$/);
    await without.stop();
  }));
