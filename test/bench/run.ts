/**
 * `npm run bench [-- scenario …]`: runs the scenarios in a process group and a temporary folder of
 * their own. However the run ends, by Ctrl-C too, its processes end and the folder is removed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const END_MS_MAX = 10_000;
const LOOK_MS = 20;

const folder = mkdtempSync(join(tmpdir(), 'hookshelf-bench-'));
// PostgreSQL has a folder in it, and runs as another user where we are root.
chmodSync(folder, 0o711);
const runner = spawn(process.execPath,
  ['--import', 'tsx', join(import.meta.dirname, 'scenarios.ts'), ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit'], detached: true,
    env: { ...process.env, TMPDIR: folder },
  });
const group = runner.pid ?? 0;
let interruptedBy: number | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruptedBy = constants.signals[signal];
    sendToGroup('SIGINT');
  });
}
const [code]: unknown[] = await once(runner, 'exit');
await endGroup();
rmSync(folder, { recursive: true, force: true });
process.exitCode = interruptedBy === null ? Number(code ?? 1) : 128 + interruptedBy;

/** Ends what a scenario that failed or was interrupted has left running. */
async function endGroup(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    sendToGroup(signal);
    const endMs = performance.now() + END_MS_MAX;
    while (isGroupAlive() && performance.now() < endMs) await delay(LOOK_MS);
  }
}

function sendToGroup(signal: NodeJS.Signals): void {
  if (isGroupAlive()) process.kill(-group, signal);
}

/** Processes that have ended and that nobody has waited for do not count. */
function isGroupAlive(): boolean {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).some((pid) => {
    const [state, , processGroup] = statusOf(pid);
    return Number(processGroup) === group && state !== 'Z';
  });
}

/** The fields of proc(5) from the state on; none when the process is gone. */
function statusOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
