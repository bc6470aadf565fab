/** The rows of `completion` and `completion:values`. */
import { VALUE_KINDS } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';

export const COMPLETION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'completion', isWithoutData: true,
    summary: 'Print a completion script for a shell',
    operand: {
      name: 'shell', meaning: 'the shell', isRequired: true, values: ['bash', 'zsh', 'fish'],
    },
    options: {},
    details: [
      'The folder has to be there. bash also needs its package bash-completion, and zsh the line',
      '  fpath=(~/.zfunc $fpath)',
      'in ~/.zshrc, before compinit.',
    ],
    examples: [
      'hookshelf completion bash > ~/.local/share/bash-completion/completions/hookshelf',
      'hookshelf completion zsh > ~/.zfunc/_hookshelf',
      'hookshelf completion fish > ~/.config/fish/completions/hookshelf.fish',
    ],
    load: async () => (await import('./print-script.ts')).printScript,
  },
  {
    name: 'completion:values', summary: 'Print what a value may be, a line each, for completion',
    operand: { name: 'kind', meaning: 'of value', isRequired: true, values: VALUE_KINDS },
    options: {}, examples: ['hookshelf completion:values incoming-webhooks'],
    load: async () => (await import('./list-values.ts')).listValues,
  },
];
