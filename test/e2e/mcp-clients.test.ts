/**
 * The official clients of the Model Context Protocol against both of our doors and in both eras,
 * the official conformance suite, and the inspector's command line. They are no dependency of ours:
 * `node .ci/mcp.mjs` installs them aside, and names their folder and the current Node that two
 * need.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { OPEN } from '../mcp/speaker.ts';
import { withAppServer } from '../support/app-server.ts';
import { endOf, owned, type Ended } from '../support/children.ts';
import { PROGRAM } from '../support/program.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const FOLDER = process.env['MCP_FOLDER'];
const skip = FOLDER === undefined && 'run `node .ci/mcp.mjs`';
const NODE = process.env['MCP_NODE'] ?? process.execPath;
const require = createRequire(join(FOLDER ?? import.meta.dirname, 'package.json'));
const LONG_MS = { timeout: 240_000, skip };

/** What it holds is the library's own affair. */
function load(name: string) {
  return import(pathToFileURL(require.resolve(name)).href);
}

/** A client as both libraries have it. */
type McpClient = {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  listPrompts(): Promise<{ readonly prompts: readonly unknown[] }>;
  readResource(params: object): Promise<{ readonly contents: readonly { text: string }[] }>;
  getPrompt(params: object): Promise<{ readonly messages: readonly unknown[] }>;
  callTool(params: object, ...more: readonly unknown[]): Promise<{
    readonly structuredContent?: Readonly<Record<string, unknown>>; readonly isError?: boolean;
  }>;
};

type Kind = 'newer, new era' | 'newer, old era' | 'newer, by itself' | 'older';

const KINDS: readonly Kind[] = ['newer, new era', 'newer, old era', 'newer, by itself', 'older'];
const MODES: Readonly<Record<Kind, unknown>> = {
  'newer, new era': { pin: '2026-07-28' }, 'newer, old era': 'legacy', 'newer, by itself': 'auto',
  'older': null,
};
const INFO = { name: 'test', version: '1.0.0' };

async function createClient(kind: Kind): Promise<McpClient> {
  if (kind === 'older') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    return new Client(INFO);
  }
  const { Client } = await load('@modelcontextprotocol/client');
  return new Client(INFO, { versionNegotiation: { mode: MODES[kind] } });
}

async function createHttpTransport(kind: Kind, url: string): Promise<unknown> {
  const { StreamableHTTPClientTransport } = await load(kind === 'older'
    ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client');
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
}

async function createStdioTransport(kind: Kind, words: readonly string[]): Promise<unknown> {
  const { StdioClientTransport } = await load(kind === 'older'
    ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({
    command: process.execPath, args: [PROGRAM, 'mcp', '--scope', 'admin', ...words],
    stderr: 'ignore',
  });
}

async function useEverything(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.ok(tools.length > 30);
  const { resources } = await client.listResources();
  const { contents } = await client.readResource({ uri: resources[0]?.uri });
  assert.match(contents[0]?.text ?? '', /^# /);
  assert.equal((await client.listPrompts()).prompts.length, 2);
  const { messages } = await client.getPrompt(
    { name: 'connect-a-sender', arguments: { sender: 'github' } });
  assert.equal(messages.length, 1);
  const made = await client.callTool({ name: 'books_create', arguments: { title: 'Emma' } });
  const id = made.structuredContent?.['id'];
  const listed = await client.callTool({ name: 'books_list', arguments: { q: 'emma' } });
  assert.ok(JSON.stringify(listed.structuredContent).includes(String(id)));
  const wrong = await client.callTool({ name: 'books_get', arguments: { id: 'nobody' } });
  assert.equal(wrong.isError, true);
  await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), /-32602|no such tool/);
}

for (const kind of KINDS) {
  test(`the ${kind} client does everything over HTTP`, LONG_MS, () =>
    withAppServer(async ({ url }) => {
      const client = await createClient(kind);
      await client.connect(await createHttpTransport(kind, url));
      await useEverything(client);
      const progress: number[] = [];
      const params = { name: 'requests_wait', arguments: { seconds: 1 } };
      const options = {
        onprogress: (told: { readonly progress: number }) => progress.push(told.progress),
      };
      // The older library has the schema of results between the two.
      const waited = kind === 'older' ? await client.callTool(params, undefined, options)
        : await client.callTool(params, options);
      assert.deepEqual(waited.structuredContent, { request: null });
      assert.deepEqual(progress, [0]);
      await client.close();
    }, OPEN));

  test(`the ${kind} client does everything over stdio`, LONG_MS, () =>
    withAppServer(async ({ data }) => {
      const client = await createClient(kind);
      await client.connect(await createStdioTransport(kind, ['--data', data]));
      await useEverything(client);
      await client.close();
    }));
}

const SCENARIOS = [
  'server-stateless', 'http-header-validation', 'caching', 'tools-list', 'resources-list',
  'prompts-list', 'sep-2164-resource-not-found', 'dns-rebinding-protection', 'server-initialize',
  'ping',
];
/** These ask for tools that are made for the suite. */
const UNTESTABLE = /^Not testable: server does not list the diagnostic tool/;

test('the conformance suite finds nothing', LONG_MS, () => withAppServer(async ({ url }) => {
  for (const scenario of SCENARIOS) {
    const results = createTemporaryFolder();
    const { stdout } = await runUnderNode('conformance',
      ['server', '--url', `${url}/mcp`, '--scenario', scenario, '-o', results]);
    const [folder = ''] = readdirSync(results);
    const checks: readonly Check[] =
      JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8'));
    assert.ok(checks.length > 0, stdout);
    assert.deepEqual(checks.filter(({ status, errorMessage = '' }) =>
      !['SUCCESS', 'SKIPPED', 'INFO'].includes(status) && !UNTESTABLE.test(errorMessage)), []);
  }
}, OPEN));

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

test('the inspector lists and calls tools over both transports', LONG_MS, () =>
  withAppServer(async ({ url, data }) => {
    const stdio = [process.execPath, PROGRAM, 'mcp', '--data', data];
    for (const target of [[`${url}/mcp`, '--transport', 'http'], stdio]) {
      const listed = await runUnderNode('mcp-inspector',
        ['--cli', ...target, '--method', 'tools/list', '--strict']);
      assert.equal(listed.code, 0, listed.stderr);
      assert.ok(JSON.parse(listed.stdout).tools.length > 10);
      const called = await runUnderNode('mcp-inspector',
        ['--cli', ...target, '--method', 'tools/call', '--tool-name', 'status_get']);
      assert.equal(JSON.parse(called.stdout).structuredContent.isReady, true);
    }
  }, OPEN));

function runUnderNode(program: string, words: readonly string[]): Promise<Ended> {
  const file = join(FOLDER ?? '', 'node_modules/.bin', program);
  return endOf(owned(spawn(NODE, [file, ...words], { cwd: createTemporaryFolder() })));
}
