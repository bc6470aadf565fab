/**
 * Connects by TCP to the first address that answers ("happy eyeballs", RFC 8305 §5): the next one
 * is tried when one fails, or has not answered for a quarter of a second. node:net has the same,
 * but gives up each address after that time instead of leaving it in the race.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Timer } from '../../base/clock.ts';
import type { PendingConnection } from './pending-connection.ts';

const HEAD_START_MS = 250;

/**
 * Resolves to the socket that connected first; the others are destroyed. Rejects with the first
 * error once all addresses have failed. `addresses` are never names, so that what was checked
 * against the deny list is what is connected to.
 */
export function dial(
  pending: PendingConnection, addresses: readonly string[], port: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const candidates = new Set<Socket>();
    let firstError: Error | null = null;
    let next = 0;
    let timer: Timer | null = null;

    const tryNext = (): void => {
      pending.stopTimer(timer);
      const host = addresses[next];
      if (host === undefined || pending.isEnded) {
        if (candidates.size === 0) reject(firstError ?? new Error('no address to connect to'));
        return;
      }
      next += 1;
      start(host);
      if (next < addresses.length) timer = pending.startTimer(HEAD_START_MS, tryNext);
    };

    const start = (host: string): void => {
      const socket = connect({ host, port, noDelay: true });
      candidates.add(socket);
      pending.own(socket);
      const onError = (error: Error): void => {
        firstError ??= error;
      };
      const onClose = (): void => {
        candidates.delete(socket);
        pending.destroy(socket);
        tryNext();
      };
      socket.once('error', onError);
      socket.once('close', onClose);
      socket.once('connect', () => {
        // `own` has given it another listener of errors.
        socket.off('error', onError);
        socket.off('close', onClose);
        candidates.delete(socket);
        pending.stopTimer(timer);
        // A loser that closes later must not start the next address. Its `reject` has no effect.
        next = addresses.length;
        for (const loser of candidates) pending.destroy(loser);
        resolve(socket);
      });
    };

    tryNext();
  });
}
