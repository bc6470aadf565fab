/** The rows of the commands for operators: `token:*`, `data:*`, settings, doctor. */
import { flag, required, text } from '../../arguments/option-spec.ts';
import type { OptionSpec } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import { RELAY_SCOPES } from '../../../mcp/doors.ts';
import { lazyList } from '../lazy-commands.ts';
import { newTokenOptions } from '../route-options.ts';

const nodeResource = async () => (await import('../../../nodes/node-resource.ts')).nodeResource;
const loadToken = () => import('./token-commands.ts');
const loadData = () => import('./data-commands.ts');

const token: OptionSpec = {
  ...required(text('<id>', 'identifier, a part of it, or the name that one token alone bears; '
    + 'several: all of them are revoked, or none')),
  isOperand: true, isRepeatable: true, completes: 'tokens',
};

export const TOKEN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'token:create', isLocal: true, makesData: true,
    summary: 'Make an API token, printed this once',
    details: [
      'read: look at everything but secrets; write: change books, fire events, send, retry;',
      'admin: change webhooks and action configurations too; emit: emit events, all or those of',
      '--event, and nothing else; follow: copy everything, secrets too, with data:follow, and',
      'nothing else. With --webhook a token is for these webhooks alone, as for a customer: read:',
      'see them, their deliveries and events; resend: send again and switch on, too; write: set',
      'the target and rotate the secret, too. Tokens are made here alone. With several --name each',
      'is printed on a line, behind its name and a tab, and with --due in any case.',
      'Once a token has existed the API stays closed to everybody without one.',
    ],
    options: {
      ...newTokenOptions,
      url: flag('with --webhook: print the link that signs its holder in, to be sent to him, in '
        + 'place of the token'),
      due: flag('leave out each name that has a token for the same webhooks which does not end '
        + 'within 30 days'),
      replace: flag('end the tokens that have the same name now, in the same step'),
    },
    examples: [
      'hookshelf token:create --name ci --scope write --expires 90d',
      "hookshelf token:create --name shop --scope emit --event 'order.*' --event invoice.paid",
      "hookshelf token:create --name acme --scope resend --webhook acme --webhook 'acme.*'",
      'hookshelf token:create --name acme --scope read --webhook acme --expires 90d --url',
      "hookshelf token:create --name acme --name bolt --scope resend --webhook '{name}.*' --url",
    ],
    load: async () => (await loadToken()).createToken,
  },
  {
    name: 'token:list', isLocal: true, summary: 'List API tokens',
    options: { 'in-force': flag('only those that are neither revoked nor expired') },
    examples: ['hookshelf token:list', 'hookshelf token:list --in-force'],
    load: async () => (await loadToken()).listTokens,
  },
  {
    name: 'token:revoke', isLocal: true,
    summary: 'Revoke API tokens, or all of a name',
    options: { identifier: token, all: flag('revoke every token that bears the name') },
    examples: [
      'hookshelf token:revoke <id>', 'hookshelf token:revoke acme bolt corp',
      'hookshelf token:revoke acme --all',
    ],
    load: async () => (await loadToken()).revokeTokens,
  },
];

const MOVE_COMMAND: CommandSpec = {
  name: 'data:move', isLocal: true,
  summary: 'Move the records into an engine or a directory, and read them back',
  details: [
    'Stop the server first, or all nodes. Its end says what to change in the settings. What is cut',
    'off counts for nothing, and is run again. What is moved stays where it was, too: in an engine',
    'its log is closed, and nodes there take no write any more.',
  ],
  options: {
    to: {
      ...required(text('<url or dir>', 'postgres://…, etcd://… or a directory')),
      completes: 'file',
    },
    'password-file': { ...text('<file>', 'password for the URL'), completes: 'file' },
    replace: flag('needed where the directory holds data already'),
  },
  examples: [
    'hookshelf data:move --to postgres://hookshelf@db.example/hookshelf',
    'hookshelf data:move --to /var/lib/hookshelf',
  ],
  load: async () => (await import('./data-move.ts')).moveData,
};

const FOLLOW_COMMAND: CommandSpec = {
  name: 'data:follow',
  summary: 'Keep a copy of the data of a server elsewhere, a second or less behind',
  details: [
    '--server names the server, over HTTPS or on this machine; --token-file holds a token that',
    'token:create --scope follow has made there. The copy is a data directory: after a loss of the',
    'server, stop this and start serve --data <dir>. It goes on by itself after either side was',
    'down. A directory that a server or a command has written to is refused.',
  ],
  options: {
    to: {
      ...required(text('<dir>', 'directory for the copy; made when missing')), completes: 'file',
    },
    name: text('<name>', "what the server calls it; this machine's name by default"),
    once: flag('end with 0 once the copy is level, with 1 where it cannot be'),
  },
  examples: [
    'hookshelf data:follow --server https://books.example.com --token-file follow.token '
      + '--to /var/lib/hookshelf-copy',
    'hookshelf data:follow --server https://books.example.com --token-file follow.token '
      + '--to copy --once',
  ],
  load: async () => (await import('./data-follow.ts')).followData,
};

export const DATA_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'data:verify', isLocal: true,
    summary: 'Read everything in the data directory, or in a backup, and report damage',
    options: { from: { ...text('<dir or .tar>', 'backup to read instead'), completes: 'file' } },
    examples: ['hookshelf data:verify', 'hookshelf data:verify --from backup.tar'],
    load: async () => (await loadData()).verifyData,
  },
  {
    name: 'data:compact', isLocal: true, summary: 'Write a new generation and drop old journals',
    options: {}, examples: ['hookshelf data:compact'],
    load: async () => (await loadData()).compactData,
  },
  {
    name: 'data:backup', isLocal: true,
    summary: 'Copy a consistent generation, of a live server too',
    options: {
      to: {
        ...required(text('<dir or .tar>',
          'directory or .tar file to make; <dir>/ makes one in it, named by the time')),
        completes: 'file',
      },
    },
    examples: [
      'hookshelf data:backup --to /backup/books-monday', 'hookshelf data:backup --to /backup/',
    ],
    load: async () => (await loadData()).backupData,
  },
  {
    name: 'data:restore', isLocal: true, makesData: true,
    summary: 'Put a verified backup in place of the data',
    details: ['Stop the server first. What was there is kept in <data>/before-<time>/.'],
    options: {
      from: {
        ...required(text('<dir or .tar>', 'backup to read')), completes: 'file',
      },
      replace: flag('needed where there is data already'),
    },
    examples: ['hookshelf data:restore --from /backup/books-monday --replace'],
    load: async () => (await loadData()).restoreDataCommand,
  },
  MOVE_COMMAND,
  FOLLOW_COMMAND,
];

const MCP_COMMAND: CommandSpec = {
  name: 'mcp', runsActions: true,
  summary: 'Speak the Model Context Protocol on stdin and stdout, for a program that starts it',
  details: [
    'It calls the running server, or the one that --server names; without one it opens the data',
    'directory for each call, and lets go of it after. It ends with its stdin.',
  ],
  options: {
    scope: {
      ...text('<scope>', 'what its tools may do: read (default), write or admin; at most what '
        + 'the token of --server may'),
      values: RELAY_SCOPES,
    },
  },
  examples: ['hookshelf mcp --scope write'],
  load: async () => (await import('./mcp-command.ts')).relayMcp,
};

export const INSPECTION_COMMANDS: readonly CommandSpec[] = [
  MCP_COMMAND,
  {
    name: 'node:list', summary: 'List the processes that share a store by store.url',
    details: [
      'Each does the work of some of the 16 shards of webhooks; LAG is by how many transactions',
      'it was behind the log when last heard. Without store.url there are none.',
    ],
    options: {}, examples: ['hookshelf node:list'], load: lazyList(nodeResource),
  },
  {
    name: 'settings:show',
    summary: 'Show every setting, its value and where it came from',
    details: [
      'They are those of the server that runs on the data directory, or that --server names (scope',
      'admin); else those that this command has, and with --config always. A note says whose.',
    ],
    options: {},
    examples: [
      'hookshelf settings:show', 'HOOKSHELF_HTTP_TIMEOUT=9 hookshelf settings:show',
      'hookshelf settings:show --config /etc/hookshelf/settings.json',
    ],
    load: async () => (await import('./settings-command.ts')).showSettings,
  },
  {
    name: 'doctor',
    summary: 'Check directory, port, certificate, actions, disk and more',
    details: [
      'A server that runs is asked for its settings, certificate and addresses. With --server',
      '(scope admin) only what that server tells is looked at, and nothing of this machine.',
    ],
    options: {}, examples: ['hookshelf doctor', 'hookshelf doctor --data /var/lib/hookshelf'],
    load: async () => (await import('./doctor.ts')).runDoctor,
  },
];
