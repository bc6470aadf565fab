/**
 * Puts together the parts that run hook commands. Loaded only if the settings name a folder of
 * commands, or an earlier process may have left some running.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../settings/load-settings.ts';
import type { RegisteredAction } from '../webhooks/actions/action-registry.ts';
import { checkCommandDirectory } from '../webhooks/actions/commands/command-directory.ts';
import { CommandRunner } from '../webhooks/actions/commands/command-runner.ts';
import { CommandSlots } from '../webhooks/actions/commands/command-slots.ts';
import { createRunCommandAction } from '../webhooks/actions/commands/run-command-action.ts';

export type HookCommands = {
  readonly actions: readonly RegisteredAction[];
  /** Ends the commands that still run, and lets none begin; idempotent. */
  close(): Promise<void>;
};

/** The variables of our environment that every command has. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG'];
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * To be called by the holder of the data directory's lock, before anything runs. A server ends
 * commands that an earlier server has left, and checks the folder: throws `usage`, with a remedy,
 * for a folder that is missing or that others may change.
 */
export async function openHookCommands(deps: {
  readonly settings: Settings; readonly runsFolder: string; readonly isServer: boolean;
  readonly clock: Clock; readonly logger: Logger;
}): Promise<HookCommands> {
  const { settings: { actions, incoming }, runsFolder, isServer, clock, logger: log } = deps;
  const runner = new CommandRunner({ clock, log }, runsFolder);
  const slots = new CommandSlots({ max: actions.maxCommands });
  if (isServer) await runner.recover();
  const close = (): Promise<void> => {
    slots.close();
    return runner.close();
  };
  if (actions.commandDirectory === null) return { actions: [], close };
  const directory = {
    path: actions.commandDirectory, workingDirectories: actions.workingDirectories,
  };
  if (isServer) checkCommandDirectory(directory);
  const action = createRunCommandAction({
    directory, slots, runner, allowedVariables: actions.environment,
    timeoutMs: incoming.actionTimeout * 1000,
    baseEnvironment: readBaseEnvironment(),
  });
  return { actions: [action], close };
}

/** Reads the variables that are passed on. Others of our environment may hold secrets. */
function readBaseEnvironment(): Readonly<Record<string, string>> {
  const variables = PASSED_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(variables) };
}
