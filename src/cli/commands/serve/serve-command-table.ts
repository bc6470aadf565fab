/** The row of `serve`. */
import { flag, text } from '../../arguments/option-spec.ts';
import { KEEP_OPTION_VALUES } from '../../../webhooks/configuration/keepable-members.ts';
import type { CommandSpec } from '../command-context.ts';

const ADNANH_OPTIONS = new Map([
  ['hooks', 'hookshelf config:convert --from adnanh <file> makes a file for --apply of it'],
  ['hotreload', 'SIGHUP or SIGUSR1 has the file of --apply read again'],
  ['ip', 'the address to listen on is --host'],
  ['urlprefix', 'set HOOKSHELF_SERVER_WEBHOOK_PATH'],
  ['verbose', 'the log is on standard error; HOOKSHELF_LOG_LEVEL=debug makes it longer'],
]);

export const SERVE_COMMAND: CommandSpec = {
  name: 'serve', isLocal: true, makesData: true,
  summary: 'Serve the catalog and the webhooks (also without a command)',
  options: {
    port: { ...text('<port>', 'port to listen on (8000); 0 asks the kernel for one'), short: 'p' },
    host: text('<address>', 'address to listen on (127.0.0.1)'),
    'allow-anonymous': flag('where no token is good: serve all the same, to anybody who can '
      + 'reach the host'),
    paused: flag('send, run and back up nothing: what waits goes on waiting, as in a copy that '
      + 'you look at'),
    'max-memory': text('<MB>', 'cap of the heap, for a constrained machine'),
    apply: {
      ...text('<file>', 'make the configuration what it says, now and at SIGHUP or SIGUSR1; see '
        + 'help apply'),
      completes: 'file',
    },
    prune: flag('with --apply: delete what it made earlier and the file no longer has'),
    set: text('<name>', 'with --apply: the set that what is made belongs to (default)'),
    'no-overlap': flag('with --apply: end a secret that changes at once'),
    keep: {
      ...text('<member>', 'with --apply: what stored webhooks keep; rotation always'),
      values: KEEP_OPTION_VALUES, isRepeatable: true,
    },
    yes: flag('with --apply: even where a secret is lost, or what still waits'),
  },
  foreignOptions: ADNANH_OPTIONS,
  needsActions: true,
  examples: [
    'hookshelf serve', 'hookshelf -p 9000', 'hookshelf serve --data /var/lib/hookshelf',
    'hookshelf serve --apply shelf.json --prune',
  ],
  load: async () => (await import('./start.ts')).serve,
};
