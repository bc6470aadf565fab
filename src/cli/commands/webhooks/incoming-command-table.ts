/** The rows of the commands of incoming webhooks. */
import { flag, recordOption, text } from '../../arguments/option-spec.ts';
import type { OptionSpecs } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import {
  incomingChangeOptions, incomingListOptions, newIncomingOptions, rotationOptions,
} from '../route-options.ts';
import { capitalize, lazyChangeCommand } from './webhook-options.ts';

const loadIncoming = () => import('./incoming-commands.ts');
const incomingKind = async () => (await loadIncoming()).INCOMING;
const loadSetup = () => import('./incoming-diagnosis.ts');

const incoming = recordOption('incoming-webhooks');
/** The webhook need not be named with a request that it has kept. */
const incomingOrRequest = {
  identifier: { ...incoming.identifier, isRequired: false },
  request: { ...text('<id>', 'a kept request; see request:list'), completes: 'requests' },
} as const satisfies OptionSpecs;

export const INCOMING_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'incomingwebhook:list', summary: 'List incoming webhooks',
    options: incomingListOptions,
    examples: ['hookshelf incomingwebhook:list', 'hookshelf incomingwebhook:list --state failing'],
    load: async () => (await loadIncoming()).listIncoming,
  },
  {
    name: 'incomingwebhook:show', summary: 'Show one, how to set up its sender, and calls to copy',
    options: incoming,
    examples: ['hookshelf incomingwebhook:show deploy'],
    load: async () => (await loadIncoming()).showIncoming,
  },
  {
    name: 'incomingwebhook:create', makesData: true,
    summary: 'Create an incoming webhook',
    options: newIncomingOptions,
    oneOf: [['action-config', 'routes']],
    examples: [
      'hookshelf incomingwebhook:create --path-segment ci --action-config to-ci --generate-secret',
      'hookshelf incomingwebhook:create --path-segment a --action-config to-log --secret-file -',
      'hookshelf incomingwebhook:create --path-segment b --action-config to-log --token-header '
        + 'X-Token --generate-secret',
    ],
    load: lazyChangeCommand(incomingKind, 'create'),
  },
  {
    name: 'incomingwebhook:update', summary: 'Change an incoming webhook',
    options: { ...incoming, ...incomingChangeOptions },
    examples: ['hookshelf incomingwebhook:update deploy --allowed-methods POST,PUT'],
    load: lazyChangeCommand(incomingKind, 'update'),
  },
  ...(['enable', 'disable', 'delete'] as const).map((verb): CommandSpec => ({
    name: `incomingwebhook:${verb}`, summary: `${capitalize(verb)} an incoming webhook`,
    options: incoming,
    examples: [`hookshelf incomingwebhook:${verb} deploy`],
    load: lazyChangeCommand(incomingKind, verb),
  })),
  {
    name: 'incomingwebhook:rotate-secret',
    summary: 'Give it a new secret; the old one counts for a while',
    options: { ...incoming, ...rotationOptions },
    examples: ['hookshelf incomingwebhook:rotate-secret deploy --overlap-hours 48'],
    load: lazyChangeCommand(incomingKind, 'rotateSecret'),
  },
  {
    name: 'incomingwebhook:await-secret',
    summary: 'Take the secret that the sender brings with its handshake, for ten minutes',
    details: [
      'For senders such as Asana, which choose the secret and tell it when they are told to send',
      'here: run this first. Whoever comes first decides the secret, so it is taken once.',
    ],
    options: incoming,
    examples: ['hookshelf incomingwebhook:await-secret tasks'],
    load: async () => (await loadIncoming()).awaitIncomingSecret,
  },
  {
    name: 'incomingwebhook:presets', summary: 'List the senders whose requests can be verified',
    options: {}, isWithoutData: true,
    examples: ['hookshelf incomingwebhook:presets'],
    load: async () => (await loadSetup()).listPresets,
  },
  {
    name: 'incomingwebhook:test',
    summary: 'Send a request as the sender would, print the answer',
    details: [
      'Exit code 1 when the answer is no success, or only the sender can sign.',
      'With --server it comes over the network and allowedAddresses applies to this machine; else',
      'it comes through the control socket, where it does not.',
    ],
    needsActions: true, runsActions: true,
    options: {
      ...incoming,
      event: text('<name>', 'what happened, as the sender names it'),
      payload: text('<json | @file | ->', 'the payload; a sample of the sender when not given'),
      handshake: flag('ask what the sender asks before it sends'),
    },
    examples: ['hookshelf incomingwebhook:test deploy --event push'],
    load: async () => (await loadSetup()).testIncoming,
  },
  {
    name: 'incomingwebhook:diagnose', summary: 'Say why a request is refused',
    details: ['Exit code 0 when the request would be accepted, 1 when not.'],
    options: {
      ...incomingOrRequest,
      'headers-file': {
        ...text('<path | ->', 'its headers, one `Name: value` a line'), completes: 'file',
      },
      'body-file': { ...text('<path | ->', 'its body, byte for byte'), completes: 'file' },
      method: text('<method>', 'POST when not given'),
      url: text('<url>', 'what was called; its query counts'),
      client: text('<address>', 'who called'),
      at: text('<time>', 'when it came, such as 2026-01-31T12:00:00Z; now when not given'),
    },
    oneOf: [['request', 'headers-file']],
    examples: [
      'hookshelf incomingwebhook:diagnose --request <id>',
      'hookshelf incomingwebhook:diagnose deploy --headers-file h.txt --body-file b.json',
    ],
    load: async () => (await loadSetup()).diagnoseIncoming,
  },
  {
    name: 'incomingwebhook:match', summary: 'Say which routes a request would run, and why not',
    details: ['Exit code 0 when a route would run, 1 when none.'],
    options: {
      ...incomingOrRequest,
      payload: text('<json | @file | ->', 'the payload, in place of a kept request'),
      event: text('<name>', 'what happened, as the sender names it'),
      header: { ...text("<'Name: value'>", 'a header; repeatable'), isRepeatable: true },
      query: text('<query>', 'what stands after ? in the URL'),
      method: text('<method>', 'POST when not given'),
    },
    oneOf: [['request', 'payload']],
    examples: ['hookshelf incomingwebhook:match deploy --event push --payload @push.json'],
    load: async () => (await loadSetup()).matchIncoming,
  },
];
