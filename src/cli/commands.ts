/**
 * The table of all commands, in the order of `help`. A new command that does no more than call a
 * route is in the row of the route. Another needs a row in the table of its group, and the function
 * that the row's `load` names.
 */
import { BOOK_COMMANDS } from './commands/books/book-command-table.ts';
import { COMPLETION_COMMANDS } from './commands/completion/completion-command-table.ts';
import type { CommandSpec } from './commands/command-context.ts';
import {
  CONFIGURATION_COMMANDS,
} from './commands/configuration/configuration-command-table.ts';
import {
  DATA_COMMANDS, INSPECTION_COMMANDS, TOKEN_COMMANDS,
} from './commands/operation/operation-command-table.ts';
import { withRouteCommands } from './commands/route-command.ts';
import { routeCommands } from './commands/route-options.ts';
import { SERVE_COMMAND } from './commands/serve/serve-command-table.ts';
import { WEBHOOK_COMMANDS } from './commands/webhooks/webhook-command-table.ts';
import { CHAPTERS } from '../manual/chapters.ts';

const HELP_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'help', isWithoutData: true,
    summary: 'Help on all commands, or on one',
    operand: {
      name: 'command', meaning: 'the command', isRequired: false, completes: 'command',
    },
    options: {}, examples: ['hookshelf help book:import'],
    load: async () => (await import('./commands/help.ts')).help,
  },
  {
    name: 'manual', isWithoutData: true,
    summary: 'List the chapters of the manual, show one, or find a word in all',
    details: [
      'A word that is no chapter\'s name lists the sections that have it, or a word that begins '
        + 'with it; of several words in quotes, those that have all.',
      'On a terminal a chapter is shown through the program that PAGER names.',
    ],
    operand: {
      name: 'chapter', meaning: 'its name, or a word to find', isRequired: false,
      suggests: CHAPTERS.map(({ name }) => name),
    },
    options: {}, examples: [
      'hookshelf manual', 'hookshelf manual deliveries', "hookshelf manual 'reverse proxy'",
    ],
    load: async () => (await import('./commands/manual.ts')).manual,
  },
  {
    name: 'version', isWithoutData: true,
    summary: 'Print the version and the commit (--version and -V: the version)',
    options: {},
    examples: ['hookshelf version', 'hookshelf version --json'],
    load: async () => (await import('./commands/version.ts')).printVersion,
  },
];

export const COMMANDS: readonly CommandSpec[] = withRouteCommands([
  SERVE_COMMAND, ...BOOK_COMMANDS, ...WEBHOOK_COMMANDS, ...CONFIGURATION_COMMANDS,
  ...TOKEN_COMMANDS, ...DATA_COMMANDS, ...INSPECTION_COMMANDS, ...HELP_COMMANDS,
  ...COMPLETION_COMMANDS,
], routeCommands);
