// One Chromium for all files of tests that want a browser: a start takes 3 s of processor time.
// Prints the path of a socket. Whoever connects has a page there, with storage of its own, until
// the connection ends: it sends commands of the Chrome DevTools Protocol and gets their results and
// the page's events, each as JSON with a NUL after it, as Chromium itself takes them through a pipe.
// Starts Chromium for the first that comes; ends with its standard input.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SWITCHES = [
  '--remote-debugging-pipe',
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--disable-dev-shm-usage', '--hide-scrollbars', '--disable-extensions', '--enable-automation',
  '--password-store=basic', '--use-mock-keychain', '--no-startup-window',
  // What is pressed before a page is first painted is not dropped.
  '--allow-pre-commit-input',
  // Pages that are behind others are as awake as these.
  '--disable-renderer-backgrounding', '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
];
const END_MS_MAX = 10_000;
const PERMISSIONS = ['clipboardReadWrite', 'clipboardSanitizedWrite'];

const folder = mkdtempSync(join(tmpdir(), 'hookshelf-browser-'));
const clients = new Set();
const waiting = new Map();
const sessions = new Map();
let chromium = null;
let asked = 0;

const server = createServer((client) => {
  clients.add(client);
  client.on('error', () => {}).on('close', () => clients.delete(client));
  chromium ??= start();
  // Without a browser, or without a page, there is nothing to connect to.
  openPage(client).catch((error) => {
    process.stderr.write(`hookshelf: the browser gives no page: ${error.message}\n`);
    client.destroy();
  });
});
const path = join(folder, 'socket');
await once(server.listen(path), 'listening');
process.stdout.write(`${path}\n`);
// An interrupt reaches all of us at once; who has started us ends our input.
process.on('SIGINT', () => {});
await once(process.stdin.resume(), 'end');
if (chromium !== null && server.listening) {
  void ask({ method: 'Browser.close' });
  setTimeout(() => chromium.kill('SIGKILL'), END_MS_MAX);
  await once(chromium, 'close');
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
process.exit();

function start() {
  const child = spawn('chromium', [...SWITCHES, `--user-data-dir=${join(folder, 'profile')}`],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const end = () => {
    server.close();
    for (const client of clients) client.destroy();
  };
  child.once('error', end).once('close', end);
  child.stdio[3].on('error', () => {});
  readMessages(child.stdio[4], ({ id, sessionId, ...rest }) => {
    if (id === undefined) sessions.get(sessionId)?.(rest);
    else waiting.get(id)?.(rest);
    waiting.delete(id);
  });
  return child;
}

async function openPage(client) {
  const { browserContextId } = await get('Target.createBrowserContext', {});
  client.once('close', () => void ask({
    method: 'Target.disposeBrowserContext', params: { browserContextId },
  }));
  await get('Browser.grantPermissions', { browserContextId, permissions: PERMISSIONS });
  const { targetId } = await get('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await get('Target.attachToTarget', { targetId, flatten: true });
  sessions.set(sessionId, (event) => write(client, event));
  client.once('close', () => sessions.delete(sessionId));
  readMessages(client, async ({ id, method, params }) =>
    write(client, { id, ...await ask({ method, params, sessionId }) }));
}

async function get(method, params) {
  const { result, error } = await ask({ method, params });
  if (result === undefined) throw new Error(`${method}: ${error?.message}`);
  return result;
}

function ask(command) {
  asked += 1;
  const id = asked;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    write(chromium.stdio[3], { id, ...command });
  });
}

function write(stream, message) {
  if (stream.writable) stream.write(`${JSON.stringify(message)}\0`);
}

function readMessages(stream, take) {
  let pieces = [];
  stream.on('data', (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      const message = Buffer.concat([...pieces, chunk.subarray(from, end)]);
      pieces = [];
      from = end + 1;
      void take(JSON.parse(message.toString()));
    }
    pieces.push(chunk.subarray(from));
  });
}
