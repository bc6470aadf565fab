/** The rows of the commands of webhooks, action configurations, events and deliveries. */
import { flag, recordOption, required, text } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import { lazyCall, lazyList } from '../lazy-commands.ts';
import { INCOMING_COMMANDS } from './incoming-command-table.ts';
import { REQUEST_COMMANDS } from './request-command-table.ts';
import {
  backfillOptions, cancelOptions, configurationChangeOptions, deliveryListOptions, eventListOptions,
  newConfigurationOptions, newOutgoingOptions, outgoingChangeOptions, outgoingListOptions,
  resendOptions, rotationOptions,
} from '../route-options.ts';
import {
  bulkOptions, capitalize, eventTermOptions, jobOptions, lazyChangeCommand,
} from './webhook-options.ts';

const configuration = recordOption('action-configurations');
const outgoing = recordOption('outgoing-webhooks');
const delivery = recordOption('deliveries');
const job = recordOption('jobs');
const configurationResource = async () =>
  (await import(
    '../../../webhooks/actions/action-configuration.ts')).configurationResource;
const outgoingResource = async () =>
  (await import('../../../webhooks/outgoing/outgoing-resource.ts')).outgoingResource;
const jobResource = async () =>
  (await import('../../../webhooks/bulk/job-resource.ts')).jobResource;
const loadConfiguration = () => import('./action-config-commands.ts');
const loadOutgoing = () => import('./outgoing-commands.ts');
const outgoingKind = async () => (await loadOutgoing()).OUTGOING;
const loadEvent = () => import('./event-commands.ts');
const loadDelivery = () => import('./delivery-commands.ts');

const CONFIGURATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'actionconfig:list', summary: 'List action configurations', options: {},
    examples: ['hookshelf actionconfig:list'],
    load: lazyList(configurationResource),
  },
  {
    name: 'actionconfig:actions', summary: 'List the actions there are, with their options',
    details: ['Actions of your own are listed by a server alone: the list runs no module.'],
    options: {}, examples: ['hookshelf actionconfig:actions'],
    load: async () => (await loadConfiguration()).listActions,
  },
  {
    name: 'actionconfig:show', summary: 'Show one action configuration', options: configuration,
    examples: ['hookshelf actionconfig:show to-ci'],
    load: lazyCall({ method: 'GET', path: '/api/action-configurations/{identifier}' }),
  },
  {
    name: 'actionconfig:create', makesData: true,
    summary: 'Create an action configuration', needsActions: true,
    options: newConfigurationOptions,
    examples: [
      'hookshelf actionconfig:create --identifier to-log --action log',
      `hookshelf actionconfig:create --identifier to-ci --action http-forward --options @ci.json`,
    ],
    load: async () => (await loadConfiguration()).createConfiguration,
  },
  {
    name: 'actionconfig:update', summary: 'Change an action configuration', needsActions: true,
    options: { ...configuration, ...configurationChangeOptions },
    examples: [`hookshelf actionconfig:update to-log --options '{"level":"debug"}'`],
    load: async () => (await loadConfiguration()).updateConfiguration,
  },
  {
    name: 'actionconfig:delete', summary: 'Delete an action configuration that no hook uses',
    options: configuration, examples: ['hookshelf actionconfig:delete to-ci'],
    load: lazyCall({
      method: 'DELETE', path: '/api/action-configurations/{identifier}',
      done: 'deleted action configuration {id}', result: { deleted: true },
    }),
  },
];

const OUTGOING_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'outgoingwebhook:list', summary: 'List outgoing webhooks',
    options: outgoingListOptions,
    examples: [
      'hookshelf outgoingwebhook:list', 'hookshelf outgoingwebhook:list --state failing',
      'hookshelf outgoingwebhook:list --event order.paid --sort state',
    ],
    load: lazyList(outgoingResource),
  },
  {
    name: 'outgoingwebhook:show', summary: 'Show one outgoing webhook', options: outgoing,
    examples: ['hookshelf outgoingwebhook:show <id>'],
    load: lazyCall({ method: 'GET', path: '/api/outgoing-webhooks/{identifier}' }),
  },
  {
    name: 'outgoingwebhook:create', makesData: true,
    summary: 'Create an outgoing webhook',
    options: newOutgoingOptions,
    examples: [
      'hookshelf outgoingwebhook:create --target-url https://example.com --trigger-event "book.*"',
      'hookshelf outgoingwebhook:create --target-url http://localhost:9000 --generate-secret',
      'hookshelf outgoingwebhook:create --target-url https://example.com --secret-file key.txt '
        + '--signing \'{"preset":"stripe"}\'',
    ],
    load: lazyChangeCommand(outgoingKind, 'create'),
  },
  {
    name: 'outgoingwebhook:update', summary: 'Change an outgoing webhook',
    options: { ...outgoing, ...outgoingChangeOptions },
    examples: [
      'hookshelf outgoingwebhook:update <id> --trigger-event book.created --trigger-event order.*',
      'hookshelf outgoingwebhook:update <id> --retry-schedule 5,60,3600 --timeout 20',
    ],
    load: lazyChangeCommand(outgoingKind, 'update'),
  },
  ...(['enable', 'disable', 'delete'] as const).map((verb): CommandSpec => ({
    name: `outgoingwebhook:${verb}`, summary: `${capitalize(verb)} an outgoing webhook`,
    options: outgoing, examples: [`hookshelf outgoingwebhook:${verb} <id>`],
    load: lazyChangeCommand(outgoingKind, verb),
  })),
  {
    name: 'outgoingwebhook:rotate-secret',
    summary: 'Give it a new secret; webhook-signature has both signatures for a while',
    options: { ...outgoing, ...rotationOptions },
    examples: ['hookshelf outgoingwebhook:rotate-secret <id> --secret-file key.txt'],
    load: lazyChangeCommand(outgoingKind, 'rotateSecret'),
  },
  {
    name: 'outgoingwebhook:send', summary: 'Send one request now and print what came back',
    details: [
      'A disabled webhook is sent to as well, which the message says then. With --durable it is a',
      'delivery instead, which is retried until it succeeds; that to a disabled webhook waits.',
    ],
    needsActions: true, runsActions: true,
    options: {
      ...outgoing, payload: text('<json | @file | ->', 'the payload as JSON'),
      retries: text('<n>', 'further requests if it fails in a way that may pass, 0 to 10'),
      durable: flag('make a delivery, whatever the webhook listens to'),
      event: text('<event>', 'with --durable: the name of its event'),
      ...eventTermOptions,
    },
    examples: [
      `hookshelf outgoingwebhook:send <id> --payload '{"hello":"world"}'`,
      `hookshelf outgoingwebhook:send <id> --durable --payload '{"hello":"world"}' --in 15m`,
    ],
    load: async () => (await loadOutgoing()).sendOutgoing,
  },
  {
    name: 'outgoingwebhook:backfill',
    summary: 'Send it the kept events that it has missed, in the background',
    details: [
      'Those that its triggers and its condition let it hear, as they are now, and of which it had',
      'no delivery, oldest first. A job does it, which goes on after a restart: see job:list.',
      'Without a server it begins when one is started. With --wait the exit code is 1 when some',
      'could not be queued; what has not arrived yet, delivery:list --status pending shows.',
    ],
    options: {
      ...outgoing,
      ...backfillOptions,
      ...jobOptions,
    },
    examples: [
      'hookshelf outgoingwebhook:backfill <id> --since 2026-01-31T12:00:00Z --dry-run',
      "hookshelf outgoingwebhook:backfill <id> --since 2026-01-31T12:00:00Z --name 'order.*'",
    ],
    load: async () => (await loadOutgoing()).backfillOutgoing,
  },
];

const DELIVERY_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'event:emit', makesData: true,
    summary: 'Fire an event at the outgoing webhooks that listen',
    options: {
      name: { ...required(text('<event>', 'name of the event')), isOperand: true },
      payload: required(text('<json | @file | ->', 'its payload as JSON')),
      ...eventTermOptions,
    },
    examples: [
      `hookshelf event:emit --name order.paid --payload '{"order":7}'`,
      `hookshelf event:emit --name order.due --key 7 --payload '{"order":7}' --in 2h`,
    ],
    load: async () => (await loadDelivery()).emitEvent,
  },
  {
    name: 'event:list', summary: 'List the events that are kept, newest first',
    details: [
      'Those that fire no webhook are kept only where the setting events.keep is all.',
    ],
    options: eventListOptions,
    examples: [
      'hookshelf event:list --limit 20', 'hookshelf event:list --name "order.*" --heard false',
    ],
    load: async () => (await loadEvent()).listEvents,
  },
  {
    name: 'event:show', summary: 'Show an event with its deliveries, or its payload',
    options: {
      ...recordOption('events'), payload: flag('print its payload alone, byte for byte'),
    },
    examples: [
      'hookshelf event:show <id>', 'hookshelf event:show <id> --payload > payload.json',
    ],
    load: async () => (await loadEvent()).showEvent,
  },
  {
    name: 'event:watch', summary: 'Print events as they are made',
    details: [
      'It asks a running server, and goes on where it was when the connection breaks; Ctrl-C ends',
      'it. Events that fire no webhook come only where the setting events.keep is all.',
    ],
    options: { name: text('<event | prefix.*>', 'of this name, or of all that begin so') },
    examples: ['hookshelf event:watch', 'hookshelf event:watch --name "book.*"'],
    load: async () => (await import('./watch/watch-events.ts')).watchEvents,
  },
  {
    name: 'delivery:list', summary: 'List deliveries, newest first',
    options: deliveryListOptions,
    examples: [
      'hookshelf delivery:list --status failed',
      'hookshelf delivery:list --event book.created --limit 20',
      'hookshelf delivery:list --where payload.order.id=42',
    ],
    load: async () => (await loadDelivery()).listDeliveries,
  },
  {
    name: 'delivery:show', summary: 'Show a delivery, its attempts and what it sent',
    options: { ...delivery, body: flag('print the body that it sent alone, byte for byte') },
    examples: ['hookshelf delivery:show <id>', 'hookshelf delivery:show <id> --body > body.json'],
    load: async () => (await loadDelivery()).showDelivery,
  },
  {
    name: 'delivery:resend',
    summary: 'Send deliveries again, also delivered ones: one, or many',
    details: [
      'Many are sent by a job, which goes on after a restart: see job:list. Without a server it',
      'begins when one is started. With --wait the exit code is 1 when some could not be made due;',
      'what has been made due and has not arrived yet, delivery:list --status pending shows.',
    ],
    options: {
      identifier: { ...delivery.identifier, isRequired: false },
      ...resendOptions, ...bulkOptions,
    },
    examples: [
      'hookshelf delivery:resend <id>', 'hookshelf delivery:resend <id> --as new',
      'hookshelf delivery:resend --failed --hook <id> --dry-run',
    ],
    load: async () => (await loadDelivery()).resendDelivery,
  },
  {
    name: 'delivery:retry', summary: 'Deliver again: one, or all that failed',
    options: {
      identifier: { ...delivery.identifier, isRequired: false }, failed: flag('all that failed'),
    },
    oneOf: [['identifier', 'failed']],
    foreignOptions: new Map([
      ['hook', 'those of one webhook are for delivery:resend --hook <id> --failed'],
      ['as', 'delivery:resend has it: hookshelf delivery:resend <id> --as new'],
    ]),
    examples: ['hookshelf delivery:retry --failed'],
    load: async () => (await loadDelivery()).retryDelivery,
  },
  {
    name: 'delivery:cancel', summary: 'Cancel pending or failed deliveries: one, or many',
    details: [
      'Many are cancelled by a job, which goes on after a restart: see job:list. Without --status',
      'it takes those that are pending and those that have failed. With --wait the exit code is 1',
      'when some could not be cancelled.',
    ],
    options: {
      identifier: { ...delivery.identifier, isRequired: false },
      ...cancelOptions, ...bulkOptions,
    },
    examples: [
      'hookshelf delivery:cancel <id>',
      'hookshelf delivery:cancel --failed --hook <id> --dry-run',
    ],
    load: async () => (await loadDelivery()).cancelDelivery,
  },
];

const JOB_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'job:list', summary: 'List jobs, newest first: what is done to many records',
    options: {}, examples: ['hookshelf job:list'],
    load: lazyList(jobResource),
  },
  {
    name: 'job:show', summary: 'Show how far a job has got', options: job,
    examples: ['hookshelf job:show <id>'],
    load: lazyCall({ method: 'GET', path: '/api/jobs/{id}' }),
  },
  {
    name: 'job:cancel', summary: 'Cancel a job; what it has done stays done', options: job,
    examples: ['hookshelf job:cancel <id>'],
    load: async () => (await import('./job-commands.ts')).cancelJob,
  },
];

export const WEBHOOK_COMMANDS: readonly CommandSpec[] = [
  ...INCOMING_COMMANDS, ...REQUEST_COMMANDS, ...CONFIGURATION_COMMANDS, ...OUTGOING_COMMANDS,
  ...DELIVERY_COMMANDS, ...JOB_COMMANDS,
];
