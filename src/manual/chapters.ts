/**
 * The chapters of the manual, in the order in which they are listed. The text of a chapter is the
 * Markdown file of its name beside this one. `architecture.md` and `working.md` are for those who
 * have the sources: the package does not hold them.
 */

export type Chapter = {
  readonly name: string;
  /** The first heading of the text. */
  readonly title: string;
  readonly summary: string;
};

export const CHAPTERS: readonly Chapter[] = [
  {
    name: 'installing', title: 'Installing',
    summary: 'ways to install it, a first look, what it needs',
  },
  {
    name: 'service', title: 'Running as a service',
    summary: 'systemd, upgrade and downgrade, containers, TLS, commands run by root',
  },
  {
    name: 'operating', title: 'Operating',
    summary: 'signals, health, doctor, metrics, logs, memory, a failing disk, limits',
  },
  {
    name: 'metrics', title: 'Metrics and alerts',
    summary: 'every metric, a scrape job of Prometheus with a token, seven alert rules',
  },
  {
    name: 'console', title: 'The console',
    summary: 'the whole service in a browser: access, screens, keys, figures and the log',
  },
  {
    name: 'settings', title: 'Settings',
    summary: 'every setting with its default, and where settings come from',
  },
  {
    name: 'commands', title: 'Commands',
    summary: 'every command with its options, exit codes, how long a command waits',
  },
  {
    name: 'remote', title: 'Commands from elsewhere',
    summary: 'commands on the server of another machine: what works, tokens, settings',
  },
  {
    name: 'as-code', title: 'Your set-up in a repository',
    summary: 'webhooks in a file: its plan, secrets, a CI job, a server that applies it',
  },
  {
    name: 'follow', title: 'A copy on a second machine',
    summary: 'data:follow, a second or less behind: two boxes, and what is lost when',
  },
  {
    name: 'nodes', title: 'More than one machine',
    summary: 'several processes over one journal in PostgreSQL or etcd, and what that promises',
  },
  {
    name: 'endpoints', title: 'Endpoints',
    summary: 'every endpoint with its scope, and what all of them have in common',
  },
  {
    name: 'catalog', title: 'The catalog',
    summary: 'search, pages, errors, changing without overwriting, import and export',
  },
  {
    name: 'your-library', title: 'Bringing your library',
    summary: 'from Goodreads, Calibre, BibTeX and others, again without doubling, and out again',
  },
  {
    name: 'first-webhook', title: 'A first webhook',
    summary: 'GitHub or Stripe in two minutes, and what to do when a request is refused',
  },
  {
    name: 'from-adnanh', title: 'From adnanh/webhook in five minutes',
    summary: 'its hooks converted: commands, rules, secrets; what is different',
  },
  {
    name: 'senders', title: 'Senders',
    summary: 'whose webhooks are verified by name: where to paste what, what is covered',
  },
  {
    name: 'custom-sender', title: 'Describing a sender',
    summary: 'verifying webhooks of a sender that is not known by name',
  },
  {
    name: 'incoming', title: 'Incoming webhooks',
    summary: 'receiving webhooks: signatures, the checks, the built-in actions',
  },
  {
    name: 'answers', title: 'Answers of its own',
    summary: 'statuses, texts and headers that a sender wants in place of our JSON',
  },
  {
    name: 'filters', title: 'Filters and routes',
    summary: 'which requests an action runs for, several actions of one webhook, conditions',
  },
  {
    name: 'inbox', title: 'The inbox',
    summary: 'requests that are kept: what an answer means, order, duplicates, running again',
  },
  {
    name: 'watching', title: 'Developing against real webhooks',
    summary: 'requests as they come in, sent on to a program under development; the event stream',
  },
  {
    name: 'outgoing', title: 'Outgoing webhooks',
    summary: 'sending webhooks: a receiver that checks, signatures, templates',
  },
  {
    name: 'deliveries', title: 'Events and deliveries',
    summary: 'the model, what is promised and kept; finding, delaying, ordering, sending again',
  },
  {
    name: 'customers', title: 'Tokens for customers',
    summary: 'each sees, and repairs, what is his: tokens that are bound to webhooks',
  },
  {
    name: 'mcp', title: 'A door for agents',
    summary: 'programs that act for you, by the Model Context Protocol: what they see and may do',
  },
  {
    name: 'run-command', title: 'Hooks that run programs',
    summary: 'a script that runs when a webhook comes in: its arguments, limits and result',
  },
  {
    name: 'actions', title: 'Actions of your own',
    summary: 'JavaScript modules that run when a webhook comes in',
  },
  {
    name: 'embedding', title: 'Embedding',
    summary: 'hookshelf as a library, with types, also behind Express',
  },
  {
    name: 'security', title: 'Security',
    summary: 'tokens and scopes, secrets, addresses never connected to, root',
  },
  {
    name: 'data', title: 'The data directory',
    summary: 'files and formats, generations, backup and restore',
  },
  {
    name: 'performance', title: 'Performance',
    summary: 'what is measured, against what, and the figures',
  },
  {
    name: 'changelog', title: 'Changelog',
    summary: 'what the first release will hold, and what has changed since',
  },
];
