/** The rows of the commands of stored requests. */
import { flag, recordOption, text } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import { replayOptions, requestListOptions } from '../route-options.ts';
import { bulkOptions } from './webhook-options.ts';

const loadRequest = () => import('./request-commands.ts');

const request = recordOption('requests');
export const REQUEST_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'request:list', summary: 'List kept requests, newest first',
    options: requestListOptions,
    examples: [
      'hookshelf request:list --limit 20', 'hookshelf request:list --hook deploy --status failed',
      'hookshelf request:list --q "ada refund" --where payload.customer.id=42',
    ],
    load: async () => (await loadRequest()).listRequests,
  },
  {
    name: 'request:watch', summary: 'Print requests as they come in; --forward sends them on',
    details: [
      'It asks a running server, and goes on where it was when the connection breaks; Ctrl-C ends',
      'it. Only kept requests come, and rejected ones: see --inbox of incomingwebhook:update.',
    ],
    options: {
      hook: {
        ...text('<id or name>', 'of one incoming webhook; its path segment will do as well'),
        completes: 'incoming-webhooks',
      },
      forward: text('<url>', 'send each on to a program under development, with its own method, '
        + 'query, headers and body; neither rejected ones nor duplicates'),
    },
    examples: [
      'hookshelf request:watch',
      'hookshelf request:watch --hook deploy --forward http://localhost:3000/hook',
    ],
    load: async () => (await import('./watch/watch-requests.ts')).watchRequests,
  },
  {
    name: 'request:show', summary: 'Show a kept request, its body, or a call that repeats it',
    details: [
      'What --curl prints holds no secret: it reads those from variables of the environment.',
    ],
    options: {
      ...request, body: flag('print its body alone, byte for byte'),
      curl: flag('print a call of curl that repeats it'),
    },
    examples: ['hookshelf request:show <id>', 'hookshelf request:show <id> --body > body.json'],
    load: async () => (await loadRequest()).showRequest,
  },
  {
    name: 'request:replay',
    summary: 'Run kept requests again in the background: one, or many',
    details: [
      'Many are run by a job, which goes on after a restart: see job:list. Without a server it',
      'begins when one is started. With --wait the exit code is 1 when some could not be made due;',
      'what has been made due and has not run yet, request:list --status pending shows.',
    ],
    options: {
      identifier: { ...request.identifier, isRequired: false },
      ...replayOptions, ...bulkOptions,
      routes: text('<a,b>', 'routes to run; those that failed, or all that match, when not given'),
    },
    examples: [
      'hookshelf request:replay <id>', 'hookshelf request:replay --failed --hook deploy --dry-run',
    ],
    load: async () => (await loadRequest()).replayRequest,
  },
];
