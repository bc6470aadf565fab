/** What each setting of the HTTP client changes: seen through a forward to a target. */
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startProxy } from '../../support/proxy.ts';
import { createCertificate } from '../../support/tls.ts';
import type { Place } from './place.ts';
import type { Rows } from './row.ts';

const ONCE = { 'http.retries': 0 };

/** The status of a forward to the target, which is 200 when that answered. */
const forwardTo = (delayMs: number) => async ({ target, hookTo, callHook }: Place) => {
  target.delayMs = delayMs;
  await hookTo(target.url);
  return (await callHook()).status;
};

/** Requests that one forward to a failing target makes. */
const hitsOfFailing = async ({ target, hookTo, callHook }: Place): Promise<number> => {
  target.status = 503;
  await hookTo(target.url);
  await callHook();
  return target.hits;
};

/** The status of a forward to a self-signed target that takes its time to begin with TLS. */
const forwardToSecure = (handshakeMs: number) => async ({ hookTo, callHook }: Place) => {
  const secure = createSecureServer(createCertificate(), (_request, response) => response.end());
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket.on('error', () => {}));
    void delay(handshakeMs).then(() => secure.emit('connection', socket.resume()));
  });
  try {
    await hookTo(`https://127.0.0.1:${await portOf(server)}/`);
    return (await callHook()).status;
  } finally {
    for (const socket of sockets) socket.destroy();
    await once(server.close(), 'close');
  }
};

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const proxy = await startProxy();
after(() => proxy.close());

/** Whether the proxy was asked to go to the target. */
const goesThroughProxy = async ({ target, hookTo, callHook }: Place): Promise<boolean> => {
  await hookTo(`${target.url}${process.hrtime.bigint()}`);
  await callHook();
  return proxy.asked.some((asked) => asked.includes(target.url));
};

export const CLIENT_ROWS: Rows = {
  'http.timeout': {
    value: 0.2, beside: ONCE, observe: forwardTo(1000), changed: 400, isShared: true, standard: 200,
  },
  'http.connectTimeout': {
    value: 0.2, beside: { ...ONCE, 'http.verify': false },
    observe: forwardToSecure(800), changed: 400, standard: 200,
  },
  'http.totalTimeout': {
    value: 0.5, beside: { 'http.retryDelayMs': 400 },
    observe: async (place) => await hitsOfFailing(place) < 3, changed: true, standard: false,
  },
  'http.retries': { value: 1, observe: hitsOfFailing, changed: 2, isShared: true, standard: 3 },
  'http.retryDelayMs': {
    value: 60_000, observe: hitsOfFailing, changed: 1, isShared: true, standard: 3,
  },
  'http.verify': {
    value: false, beside: ONCE, isShared: true,
    observe: forwardToSecure(0), changed: 200, standard: 400,
  },
  'http.proxy': {
    value: proxy.url(), beside: ONCE, isShared: true,
    observe: goesThroughProxy, changed: true, standard: false,
  },
  'http.noProxy': {
    value: ['127.0.0.1'], beside: { ...ONCE, 'http.proxy': proxy.url() },
    observe: goesThroughProxy, changed: false, standard: true,
  },
  'http.denyAddresses': {
    value: ['loopback'], beside: ONCE,
    // By a name: an address is refused when it is saved.
    observe: async ({ target, hookTo, callHook }) => {
      await hookTo(target.url.replace('127.0.0.1', 'localhost'));
      return [(await callHook()).status, target.hits];
    },
    changed: [400, 0], isShared: true, standard: [200, 1],
  },
  'http.maxSocketsPerHost': {
    value: 1,
    observe: async ({ target, hookTo, callHook }) => {
      target.delayMs = 100;
      await hookTo(target.url);
      await Promise.all([callHook(), callHook(), callHook()]);
      return target.connections > 1;
    },
    changed: false, isShared: true, standard: true,
  },
};
