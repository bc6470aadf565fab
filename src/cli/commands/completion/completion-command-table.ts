/** The rows of `completion` and `completion:words`. */
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
    name: 'completion:words', isWithoutData: true,
    summary: 'Print what may stand at the end of a line, for completion',
    details: [
      'The operands are the words of a command line up to the cursor, the last one maybe empty.',
      'Each line of the answer is a word, a tab and what the word means; file or folder alone says',
      'that the shell completes names of its own files or folders.',
    ],
    operand: {
      name: 'words', meaning: 'of the line', isRequired: false, isRepeatable: true,
    },
    options: {}, examples: ['hookshelf completion:words -- book:export --format j'],
    load: async () => (await import('./print-words.ts')).printWords,
  },
];
