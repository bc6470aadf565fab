/**
 * A process that runs scripts of bash as hook commands: its first argument is the folder of runs,
 * each other one a script. It writes what they write, and how each has ended. Each has the
 * milliseconds of the variable TIMEOUT_MS.
 */
import { systemClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { CommandRunner } from '../../../../src/webhooks/actions/commands/command-runner.ts';

const [runsFolder = '', ...scripts] = process.argv.slice(2);
const runner = new CommandRunner({ clock: systemClock, log: silentLogger }, runsFolder);
await runner.recover();
process.stdout.write('recovered\n');
await Promise.all(scripts.map(async (script) => {
  const { output, exitCode, signal, isTimedOut } = await runner.run({
    file: '/bin/bash', arguments: ['-c', script], environment: { PATH: process.env['PATH'] ?? '' },
    stdin: Buffer.from('body'), files: [{ variable: 'KEY', bytes: Buffer.from('k') }],
    workingDirectory: null, mergesErrors: false, outputBytesMax: 65_536, log: silentLogger,
    timeoutMs: Number(process.env['TIMEOUT_MS'] ?? 600_000),
  });
  process.stdout.write(output);
  process.stdout.write(`ended ${JSON.stringify({ exitCode, signal, isTimedOut })}\n`);
}));
