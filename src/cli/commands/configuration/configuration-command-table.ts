/** The rows of the commands for the configuration as a file: `apply`, `config:*`. */
import { flag, required, text } from '../../arguments/option-spec.ts';
import type { OptionSpecs } from '../../arguments/option-spec.ts';
import { KEEP_OPTION_VALUES } from '../../../webhooks/configuration/keepable-members.ts';
import type { CommandSpec } from '../command-context.ts';

export const CONFIGURATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'apply', makesData: true, needsActions: true,
    summary: 'Make action configurations and webhooks what a file says',
    details: [
      'All of it or nothing. The plan is printed first, and on a terminal you are asked. Exit code',
      '1 after a no. Of a dry run: 0 when nothing would change, 3 when something would.',
      'In the file {"$env":"NAME"} and {"$file":"path"} stand for any string.',
    ],
    options: {
      file: {
        ...required(text('<path | ->', 'the file, - for standard input')), completes: 'file',
      },
      'dry-run': flag('print the plan, and change nothing'),
      prune: flag('delete what an earlier apply of the same set made and the file no longer has'),
      set: text('<name>', 'the set that what is made belongs to (default)'),
      'no-overlap': flag('end a secret that changes at once, not after a day beside the new one'),
      keep: {
        ...text('<member>', 'what stored webhooks keep, such as secret; all: what a customer may '
          + 'change; rotation: a secret where the file has one from before its rotation'),
        values: KEEP_OPTION_VALUES, isRepeatable: true,
      },
      yes: flag('ask nothing; needed without a terminal to lose a secret or what still waits, '
        + 'and to undo a rotation of a secret'),
    } satisfies OptionSpecs,
    examples: [
      'hookshelf apply --file shelf.json', 'hookshelf apply --file shelf.json --dry-run',
      'hookshelf apply --file shelf.json --prune --yes --server https://hooks.example.com '
        + '--token-file token',
    ],
    load: async () => (await import('./apply-command.ts')).applyFile,
  },
  {
    name: 'config:export',
    summary: 'Print action configurations and webhooks as a file for apply',
    details: [
      'Secrets, values of headers and URLs with credentials are {"$env":"NAME"} in it; what to set',
      'is listed on standard error.',
    ],
    options: { 'only-applied': flag('only what apply has made') },
    examples: ['hookshelf config:export > shelf.json'],
    load: async () => (await import('./export-command.ts')).exportConfiguration,
  },
  {
    name: 'config:convert', isWithoutData: true,
    summary: 'Print the hooks of another program as a file for apply',
    details: [
      'What has no counterpart is listed on standard error, with its place and what to do; exit',
      'code 3 then. Where that changes what runs, the webhook is disabled in the file.',
    ],
    operand: {
      name: 'hooks.json', meaning: 'files of hooks, JSON or YAML, - for standard input',
      isRequired: true, isRepeatable: true, completes: 'file',
    },
    options: {
      from: {
        ...required(text('<program>', 'whose hooks they are: adnanh, for adnanh/webhook')),
        values: ['adnanh'],
      },
      'environment-file': {
        ...text('<file>', 'write the variables that the hooks need into it, secrets among them'),
        completes: 'file',
      },
    },
    examples: [
      'hookshelf config:convert --from adnanh hooks.json > shelf.json',
      'hookshelf config:convert --from adnanh a.yaml b.yaml --environment-file hooks.env '
        + '> shelf.json',
    ],
    load: async () => (await import('./adnanh/convert-command.ts')).convertConfiguration,
  },
];
