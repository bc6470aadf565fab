/** Who holds a data directory, and the app that a command builds when nobody does. */
import { existsSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { readLockOwner } from '../../store/lock/lock.ts';
import type { CommandContext } from '../commands/context.ts';
import { late } from '../process/late.ts';
import { createProcessLogger } from '../terminal/process-logger.ts';
import { openSession } from './session.ts';
import type { LocalApp, Owner, Session } from './session.ts';

/** Beside a server none of the house is needed. */
export const loadApp = late(() => import('../../app.ts'));

export function findOwner(dataDirectory: string): Owner | null {
  return existsSync(dataDirectory) ? readLockOwner(dataDirectory) : null;
}

/** Throws `conflict` when another process holds the directory and does not end in time. */
export function openCommandSession(context: CommandContext): Promise<Session> {
  return openSession({
    clock: systemClock,
    findOwner: () => findOwner(context.enterData()),
    openLocal: () => openLocal(context),
    onWait: (reason) => {
      const shown = reason.replace(/: try again.*$/, '');
      if (context.io.stderr.isTTY === true) context.output.note(`${shown}; waiting`);
    },
  });
}

async function openLocal(context: CommandContext): Promise<LocalApp> {
  const { io, spec } = context;
  const { settings } = context.loadSettings();
  // What an action logs is its result; what the store does is no news at a prompt.
  const lowest = spec.needsActions === true ? 'debug' : 'warning';
  const { openApp } = await loadApp();
  const app = await openApp({
    data: context.enterData(), role: 'command', loadsActions: spec.needsActions === true,
    // No browser reaches a command; `*` must not keep it from making the token that it needs.
    // Its own requests are no news either, however slow.
    settings: {
      ...settings,
      server: { ...settings.server, corsOrigins: [] }, log: { ...settings.log, access: 'off' },
    },
    logger: createProcessLogger(settings, io, lowest),
  });
  return {
    dispatcher: app.dispatcher.listeners('control').request,
    close: () => app.close(),
  };
}
