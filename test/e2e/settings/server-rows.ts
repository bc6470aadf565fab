/** What each setting of the server and of the log changes. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { createCertificate } from '../../support/tls.ts';
import { until } from '../../support/until.ts';
import { ask } from '../ask.ts';
import type { Place } from './place.ts';
import type { Row, Rows } from './row.ts';

const folder = createTemporaryFolder();
const certificate = createCertificate();
const tlsCert = join(folder, 'cert.pem');
const tlsKey = join(folder, 'key.pem');
writeFileSync(tlsCert, certificate.cert);
writeFileSync(tlsKey, certificate.key, { mode: 0o600 });

const listTars = (name: string): readonly string[] =>
  existsSync(join(folder, name)) ? readdirSync(join(folder, name))
    .filter((entry) => /^hookshelf-\w+\.tar$/.test(entry)) : [];

/** Whether the server makes backups, and has made one there. */
const backedUpInto = (name: string) => async ({ ask: call }: Place): Promise<boolean> => {
  const { backups } = JSON.parse((await call('/api/status')).text);
  if (backups === null) return false;
  await until('it is made', async () => (await call('/metrics')).text
    .includes('\nhookshelf_last_backup_timestamp_seconds '));
  return listTars(name).length === 1;
};

const secured = async ({ url }: Place): Promise<unknown> => {
  const { status } = await ask(`${url.replace(/\/$/, '')}/healthz`, { ca: certificate.cert });
  return [new URL(url).protocol, status];
};
const HEAD = 'POST /api/books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

// The limit of these rows is 0.3 s, looked at every second or two; the defaults are 10 s and more.
const CUT_MS_MAX = 8000;

/** What comes back over a connection until it is closed, which must be long before the default. */
async function conversation(place: Place, text: string): Promise<string> {
  const { socket, answer } = await open(place, text);
  const timer = setTimeout(() => socket.destroy(new Error('was not cut')), CUT_MS_MAX);
  const received = await answer;
  clearTimeout(timer);
  return socket.errored === null ? received : `${socket.errored.message}`;
}

async function open(
  { url }: Place, text: string,
): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('error', () => {}).on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  const answer = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received));
  });
  socket.write(text);
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return { socket, answer };
}

const statusLine = (answer: string): string => answer.split('\r\n', 1)[0] ?? '';

const logLines = async (place: Place, isWanted: (line: string) => boolean): Promise<number> => {
  const lines = place.stderr().split('\n').filter(isWanted);
  return lines.length;
};

export const SERVER_ROWS: Rows = {
  'server.port': {
    value: 0,
    observe: async ({ url }) => new URL(url).port !== '8000',
    changed: true,
  },
  'server.host': {
    value: '127.0.0.2',
    observe: async ({ url }) => new URL(url).hostname,
    changed: '127.0.0.2', isShared: true, standard: '127.0.0.1',
  },
  'server.baseUri': {
    value: 'https://shelf.test/x',
    observe: async (place) => {
      const { text } = await place.ask('/');
      return text.includes('"https://shelf.test/x/healthz"');
    },
    changed: true, isShared: true, standard: false,
  },
  'server.webhookPath': {
    value: '/hooks',
    observe: async ({ ask: call }) =>
      (await call('/hooks/none')).text.includes('Webhook not found'),
    changed: true, isShared: true, standard: false,
  },
  'server.maxBodyBytes': {
    value: 20,
    observe: async ({ ask: call }) => (await call('/api/books', {
      method: 'POST', body: { title: 'longer than twenty bytes' },
    })).status,
    changed: 413, isShared: true, standard: 201,
  },
  'server.requestTimeout': {
    value: 0.3,
    observe: async (place) =>
      statusLine(await conversation(place, `${HEAD}Content-Length: 20\r\n\r\n{`)),
    changed: 'HTTP/1.1 408 Request Timeout',
  },
  'server.headersTimeout': {
    value: 0.3,
    // Without an end to the head, only this limit (or the whole request's, later) can end it.
    beside: { 'server.requestTimeout': 600 },
    observe: async (place) => statusLine(await conversation(place, HEAD)),
    changed: 'HTTP/1.1 408 Request Timeout',
  },
  'server.keepAliveTimeout': {
    value: 0.3,
    observe: async (place) => statusLine(
      await conversation(place, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')),
    changed: 'HTTP/1.1 200 OK',
  },
  'server.shutdownTimeout': {
    value: 0.1,
    observe: async (place) => {
      place.target.delayMs = 1500;
      await place.hookTo(place.target.url);
      const called = place.callHook().then(({ status }) => status, () => 'cut');
      await until('the request is under way', () => place.target.hits === 1);
      await place.stop();
      return called;
    },
    changed: 'cut', standard: 200,
  },
  'backup.to': {
    value: join(folder, 'made'), observe: backedUpInto('made'), changed: true, standard: false,
  },
  'backup.everyHours': {
    // A second and a half.
    value: 0.0004, beside: { 'backup.to': join(folder, 'often') },
    observe: async ({ make }) => {
      // Of empty data one backup is made, and no more.
      await make('/api/books', { title: 'A' });
      await until('there are two', () => listTars('often').length >= 2);
      return true;
    },
    changed: true,
  },
  'backup.keep': {
    value: 1, beside: { 'backup.to': join(folder, 'few'), 'backup.everyHours': 0.0004 },
    observe: async ({ make }) => {
      await make('/api/books', { title: 'A' });
      await until('there is one', () => listTars('few').length === 1);
      const [first] = listTars('few');
      await until('the next has taken its place', () => !listTars('few').includes(first ?? ''));
      return listTars('few').length <= 2;
    },
    changed: true,
  },
  'server.console': {
    value: false,
    observe: async ({ ask: call }) => (await call('/console')).status,
    changed: 404, isShared: true, standard: 200,
  },
  'server.mcp': {
    value: true,
    observe: async ({ ask: call }) => (await call('/mcp')).status,
    changed: 405, isShared: true, standard: 404,
  },
  'console.title': {
    value: 'Acme & Sons',
    observe: async ({ ask: call }) =>
      /<title>(.*?)<\/title>/.exec((await call('/console')).text)?.[1],
    changed: 'Acme &amp; Sons', isShared: true, standard: 'hookshelf',
  },
  'console.accent': {
    value: '#cc0066',
    observe: async ({ ask: call }) => (await call('/console')).text.includes('--fill:#cc0066;'),
    changed: true, isShared: true, standard: false,
  },
  'console.images': {
    value: true,
    observe: async ({ ask: call }) => /; img-src ([^;]*);/
      .exec(String((await call('/console')).headers['content-security-policy']))?.[1],
    changed: "'self' http: https:", isShared: true, standard: "'self'",
  },
  'server.apiToken': {
    value: 'a-token-for-tests',
    observe: async ({ ask: call }) => (await call('/api/books')).status,
    changed: 401, isShared: true, standard: 200,
  },
  'server.tlsCert': {
    value: tlsCert, beside: { 'server.tlsKey': tlsKey }, observe: secured,
    changed: ['https:', 200],
  },
  'server.tlsKey': {
    value: tlsKey, beside: { 'server.tlsCert': tlsCert }, observe: secured,
    changed: ['https:', 200],
  },
  'server.corsOrigins': {
    value: ['https://a.test'],
    observe: async ({ ask: call }) => {
      const { headers } = await call('/api/books', { headers: { origin: 'https://a.test' } });
      return headers['access-control-allow-origin'] ?? null;
    },
    changed: 'https://a.test', isShared: true, standard: null,
  },
  'server.allowedHosts': {
    value: ['shelf.test'],
    observe: async ({ ask: call }) =>
      (await call('/api/books', { headers: { host: 'shelf.test' } })).status,
    changed: 200, isShared: true, standard: 421,
  },
  'server.maxConnections': {
    value: 1,
    observe: async (place) => {
      const first = await open(place, '');
      const second = await open(place,
        'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      const answer = statusLine(await second.answer);
      first.socket.destroy();
      return answer.includes(' 200 ');
    },
    changed: false, standard: true,
  },
  'server.trustProxy': {
    value: true,
    beside: { 'log.access': 'all' },
    observe: async (place) => {
      await place.ask('/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } });
      await until('the request is in the log', () => place.stderr().includes('"/healthz"'));
      return place.stderr().includes('"192.0.2.1"');
    },
    changed: true, standard: false,
  },
  'log.level': {
    value: 'error',
    observe: async (place) => {
      await place.ask('/healthz');
      await place.stop();
      return logLines(place, (line) => line.includes('"level":"info"')).then((count) => count > 0);
    },
    changed: false, standard: true,
  },
  'log.format': {
    value: 'pretty',
    observe: async (place) => {
      await place.stop();
      return logLines(place, (line) => line.startsWith('{')).then((count) => count > 0);
    },
    changed: false, standard: true,
  },
  'log.access': accessRow(),
};

function accessRow(): Row {
  return {
    value: 'all',
    observe: async (place) => {
      await place.ask('/api/books?limit=1');
      await place.stop();
      return logLines(place, (line) => line.includes('/api/books')).then((count) => count > 0);
    },
    changed: true, standard: false,
  };
}
