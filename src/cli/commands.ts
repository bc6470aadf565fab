/**
 * Every command as data, in the order of `help`. A row here, and a function that its `load` names,
 * are all that a new command needs.
 */
import type { CommandSpec } from './commands/context.ts';
import { VALUE_KINDS } from './arguments/spec.ts';
import type { OptionSpec, OptionSpecs } from './arguments/spec.ts';
import { WEBHOOK_COMMANDS } from './commands/webhooks/table.ts';

const book: OptionSpec = {
  type: 'string', placeholder: '<id>', isRequired: true, isOperand: true, completes: 'books',
  meaning: 'id of the book, or a beginning or end that no other has',
};
const bookInput: OptionSpec = {
  type: 'string', placeholder: '<json | @file | ->', isRequired: true,
  meaning: 'the book as JSON: in place, from a file, or from standard input',
};
const format: OptionSpec = {
  type: 'string', placeholder: '<format>', values: ['json', 'jsonl', 'csv'],
  meaning: 'json, jsonl or csv; the file name says it otherwise',
};
const queryOptions: OptionSpecs = {
  q: { type: 'string', placeholder: '<words>', meaning: 'all words must match' },
  author: { type: 'string', placeholder: '<words>', meaning: 'words of an author\'s name' },
  isbn: { type: 'string', placeholder: '<isbn>', meaning: 'ISBN-10 or ISBN-13' },
  'in-language': { type: 'string', placeholder: '<tag>', meaning: 'language, such as en or pt-BR' },
  keyword: { type: 'string', placeholder: '<keyword>', meaning: 'a whole keyword' },
  'published-from': {
    type: 'string', placeholder: '<date>', meaning: 'YYYY, YYYY-MM or YYYY-MM-DD',
  },
  'published-to': { type: 'string', placeholder: '<date>', meaning: 'the same, inclusive' },
  sort: {
    type: 'string', placeholder: '<key>', suggests: ['id', 'title', 'datePublished', 'updatedAt'],
    meaning: 'id, title, datePublished or updatedAt; a leading - reverses (--sort=-title)',
  },
};

const loadBook = () => import('./commands/books/book.ts');
const loadTransfer = () => import('./commands/books/transfer.ts');
const loadData = () => import('./commands/operation/data.ts');

const BOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'book:list', summary: 'List books, or search them',
    options: {
      ...queryOptions,
      limit: { type: 'string', placeholder: '<n>', meaning: 'print at most n books' },
    },
    examples: ['hookshelf book:list --q "le guin" --limit 10', 'hookshelf book:list --sort title'],
    load: async () => (await loadBook()).listBooks,
  },
  {
    name: 'book:show', summary: 'Show one book', options: { identifier: book },
    examples: [
      'hookshelf book:show 01980000-0000-7000-8000-000000000001', 'hookshelf book:show 8c21f0',
    ],
    load: async () => (await loadBook()).showBook,
  },
  {
    name: 'book:add', makesData: true,
    summary: 'Add a book', options: { input: bookInput },
    examples: [
      `hookshelf book:add --input '{"title":"Emma","authors":[{"name":"Jane Austen"}]}'`,
      'hookshelf book:add --input @emma.json', 'hookshelf book:add --input - < emma.json',
    ],
    load: async () => (await loadBook()).addBook,
  },
  {
    name: 'book:update', summary: 'Change members of a book (JSON Merge Patch)',
    details: ['A member that is null is removed; members that are absent stay as they are.'],
    options: {
      identifier: book,
      input: { ...bookInput, meaning: 'the members to change, as JSON' },
    },
    examples: [
      `hookshelf book:update <id> --input '{"numberOfPages":474,"subtitle":null}'`,
    ],
    load: async () => (await loadBook()).updateBook,
  },
  {
    name: 'book:delete', summary: 'Delete a book', options: { identifier: book },
    examples: ['hookshelf book:delete <id>'],
    load: async () => (await loadBook()).deleteBook,
  },
  {
    name: 'book:import', makesData: true,
    summary: 'Import books from a file',
    details: [
      'Ids and dates that are given are kept; books whose id exists are skipped. A bad record is',
      'reported with its line and the rest goes on. Exit code 1 when any was skipped.',
    ],
    options: {
      file: {
        type: 'string', placeholder: '<path | ->', completes: 'file',
        meaning: 'file to read, - for standard input',
      },
      sample: { type: 'boolean', meaning: 'import the sample catalog of the program instead' },
      format,
      'dry-run': { type: 'boolean', meaning: 'check every record and change nothing' },
      replace: { type: 'boolean', meaning: 'replace books whose id exists' },
    },
    oneOf: [['file', 'sample']],
    examples: [
      'hookshelf book:import --sample',
      'hookshelf book:import --file data/samples/books.json',
      'hookshelf book:import --file books.csv --dry-run',
      'zcat books.jsonl.gz | hookshelf book:import --file - --format jsonl',
    ],
    load: async () => (await loadTransfer()).importBooks,
  },
  {
    name: 'book:export', summary: 'Export all books',
    options: {
      file: {
        type: 'string', placeholder: '<path | ->', completes: 'file',
        meaning: 'file to write (standard output)',
      },
      format,
    },
    examples: ['hookshelf book:export --file books.csv', 'hookshelf book:export | jq length'],
    load: async () => (await loadTransfer()).exportBooks,
  },
];

const DATA_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'data:verify', summary: 'Read everything in the data directory and report damage',
    options: {}, examples: ['hookshelf data:verify'],
    load: async () => (await loadData()).verifyData,
  },
  {
    name: 'data:compact', summary: 'Write a new generation and drop old journals',
    options: {}, examples: ['hookshelf data:compact'],
    load: async () => (await loadData()).compactData,
  },
  {
    name: 'data:backup', summary: 'Copy a consistent generation, of a live server too',
    options: {
      to: {
        type: 'string', placeholder: '<dir or .tar>', isRequired: true, completes: 'file',
        meaning: 'directory or .tar file to make',
      },
    },
    examples: ['hookshelf data:backup --to /backup/books-monday'],
    load: async () => (await loadData()).backupData,
  },
  {
    name: 'data:restore', makesData: true,
    summary: 'Put a verified backup in place of the data',
    details: ['Stop the server first. What was there is kept in <data>/before-<time>/.'],
    options: {
      from: {
        type: 'string', placeholder: '<dir or .tar>', isRequired: true, completes: 'file',
        meaning: 'backup to read',
      },
      replace: { type: 'boolean', meaning: 'needed where there is data already' },
    },
    examples: ['hookshelf data:restore --from /backup/books-monday --replace'],
    load: async () => (await loadData()).restoreData,
  },
];

const SERVE: CommandSpec = {
  name: 'serve', makesData: true,
  summary: 'Serve the catalog and the webhooks (also without a command)',
  options: {
    port: {
      type: 'string', short: 'p', placeholder: '<port>',
      meaning: 'port to listen on (8000); 0 asks the kernel for one',
    },
    host: { type: 'string', placeholder: '<address>', meaning: 'address to listen on (127.0.0.1)' },
    'allow-anonymous': {
      type: 'boolean', meaning: 'serve without a token on any host, to anybody who can reach it',
    },
    'max-memory': {
      type: 'string', placeholder: '<MB>', meaning: 'cap of the heap, for a constrained machine',
    },
  },
  needsActions: true,
  examples: ['hookshelf serve', 'hookshelf -p 9000', 'hookshelf serve --data /var/lib/hookshelf'],
  load: async () => (await import('./commands/serve/serve.ts')).serve,
};

const OTHER_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'settings:show', summary: 'Show every setting, its value and where it came from',
    options: {},
    examples: ['hookshelf settings:show', 'HOOKSHELF_HTTP_TIMEOUT=9 hookshelf settings:show'],
    load: async () => (await import('./commands/operation/settings.ts')).showSettings,
  },
  {
    name: 'doctor', summary: 'Check directory, lock, port, disk, limits, clock and proxy',
    options: {}, examples: ['hookshelf doctor'],
    load: async () => (await import('./commands/operation/doctor.ts')).examine,
  },
  {
    name: 'help', isWithoutData: true,
    summary: 'Help on all commands, or on one',
    operand: { name: 'command', meaning: 'the command', isRequired: false },
    options: {}, examples: ['hookshelf help book:import'],
    load: async () => (await import('./commands/help.ts')).help,
  },
  {
    name: 'version', isWithoutData: true,
    summary: 'Print the version (--version and -V do so, too)',
    options: {},
    examples: ['hookshelf version', 'hookshelf version --json'],
    load: async () => (await import('./commands/version.ts')).printVersion,
  },
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
    load: async () => (await import('./commands/completion/completion.ts')).completion,
  },
  {
    name: 'completion:values', summary: 'Print what a value may be, a line each, for completion',
    operand: { name: 'kind', meaning: 'of value', isRequired: true, values: VALUE_KINDS },
    options: {}, needsActions: true, examples: ['hookshelf completion:values incoming-webhooks'],
    load: async () => (await import('./commands/completion/values.ts')).listValues,
  },
];

export const COMMANDS: readonly CommandSpec[] = [
  SERVE, ...BOOK_COMMANDS, ...WEBHOOK_COMMANDS, ...DATA_COMMANDS, ...OTHER_COMMANDS,
];

/** What `hookshelf` does when no command is named. */
export const STANDARD_COMMAND = SERVE;
