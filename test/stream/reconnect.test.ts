import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { ReloadPhase } from '../../src/store/store-port.ts';
import { Broadcast } from '../../src/stream/broadcast.ts';
import { createStreamRoute } from '../../src/stream/stream-route.ts';
import { startServer } from '../support/test-server.ts';

test('a client that follows again on its connection leaves no listener there', async () => {
  let reload = (_phase: ReloadPhase): void => {};
  const broadcast = new Broadcast({
    topics: [], changes: { follow: () => () => {}, since: async () => null },
    find: () => undefined, sequence: () => 0, clock: systemClock, logger: silentLogger,
    tokenCollection: 'tokens',
    replica: {
      waitFor: async () => true,
      onReload(listener) {
        reload = listener;
        return () => {};
      },
    },
  });
  const sockets = new Set<Socket>();
  const route = createStreamRoute(broadcast, {
    topics: [], clock: systemClock, findWebhookIds: (name) => [name], mayRead: () => true,
    findView: () => null,
  });
  await using server = await startServer([{
    ...route,
    handle(exchange) {
      sockets.add(exchange.request.socket);
      return route.handle(exchange);
    },
  }]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const listenerCounts: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const asked = request({ port: server.port, path: '/api/stream', agent }).end();
    const [response] = await once(asked, 'response') as [IncomingMessage];
    response.resume();
    reload('end');
    await Promise.all([once(response, 'end'), once(agent, 'free')]);
    for (const socket of sockets) listenerCounts.push(socket.listenerCount('end'));
  }
  agent.destroy();
  assert.equal(sockets.size, 1, 'all came on one connection');
  assert.deepEqual(listenerCounts, Array(3).fill(listenerCounts[0]));
});
