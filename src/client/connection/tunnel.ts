/** Opens a tunnel (CONNECT, RFC 9110 §9.3.6): the proxy joins our socket to the target's. */
import type { Socket } from 'node:net';
import { systemCodeOf } from '../../base/errors.ts';
import { http } from '../../base/node-modules.ts';
import { proxyCutError, proxyError, proxyRefusedError } from '../network-error.ts';
import type { Proxy } from '../policy/proxy.ts';

/**
 * Resolves when `socket`, connected to the proxy, leads to `authority` (`host:port`). Rejects with
 * NetworkError `proxy`. Has no deadline of its own: destroying the socket ends it.
 */
export function openTunnel(socket: Socket, authority: string, proxy: Proxy): Promise<void> {
  return new Promise((resolve, reject) => {
    const credentials = proxy.authorization === null
      ? [] : ['Proxy-Authorization', proxy.authorization];
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: ['Host', authority, 'Connection', 'keep-alive', ...credentials],
      createConnection: () => socket,
    });
    request.on('connect', (response, _socket, head) => {
      const statusCode = response.statusCode ?? 0;
      if (statusCode < 200 || statusCode > 299) reject(proxyRefusedError(statusCode));
      // No target speaks first in TLS, so these bytes are the proxy's own.
      else if (head.length > 0) reject(proxyError(new Error('bytes before the tunnel was used')));
      else resolve();
    });
    request.on('error', (error) =>
      reject(systemCodeOf(error) === 'ECONNRESET' ? proxyCutError(error) : proxyError(error)));
    request.end();
  });
}
