/** Faults of the command line: arguments, exit codes, secrets, output, servers, completion. */
import type { PlantedFault } from './fault.ts';

export const CLI_FAULTS: readonly PlantedFault[] = [
  // arguments, and exit codes
  {
    file: 'cli/arguments/parse-arguments.ts',
    text: 'else if (option.isRepeatable === true) earlier.push',
    replacement: "else if (option.type === 'string') earlier.push",
    tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/arguments/parse-arguments.ts',
    text: 'option.values !== undefined && !option.values.includes(value)',
    replacement: 'option.values === undefined && value === undefined',
    tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/arguments/parse-arguments.ts', text: 'if (count === 1) continue;',
    replacement: 'if (count > 0) continue;', tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/arguments/parse-arguments.ts',
    text: 'value >= minimum && value <= maximum', replacement: 'value >= minimum',
    tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/report-error.ts', text: "thrown.code === 'usage' ? EXIT_USAGE",
    replacement: "thrown.code === 'internal' ? EXIT_USAGE",
    tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/job-commands.ts',
    text: "job['status'] === 'done' && job['failed'] === 0",
    replacement: "job['status'] === 'done'",
    tests: ['cli/commands/requests.test.ts', 'e2e/bulk-replay.test.ts'],
  },
  {
    file: 'cli/commands/option-members.ts',
    text: "(name) => name, (name) => `${name}-file`,", replacement: '(name) => name,',
    tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  // secrets
  {
    file: 'cli/commands/option-input.ts', text: '!holdsSecret(value)) return;',
    replacement: 'holdsSecret(value)) return;', tests: ['cli/commands/webhook-input.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/outgoing-commands.ts', text: 'isSecretName(name)',
    replacement: "name === 'secret'", tests: ['cli/arguments/parse-arguments.test.ts'],
  },
  {
    file: 'cli/commands/option-input.ts', text: "replace(/\\r?\\n$/, '')",
    replacement: 'trim()', tests: ['cli/faults.test.ts'],
  },
  {
    file: 'cli/report-error.ts', text: 'const lines = redactUrls(messageOf(thrown))',
    replacement: 'const lines = messageOf(thrown)', tests: ['cli/terminal/output.test.ts'],
  },
  {
    file: 'cli/remote-server.ts',
    text: 'if (environmentFile === null || mayUseEnvironment) return environmentFile;',
    replacement: 'return environmentFile;', tests: ['cli/remote-server.test.ts'],
  },
  {
    file: 'cli/remote-server.ts', text: '`${path} does not hold a token: one line',
    replacement: '`${path} does not hold a token: ${token}: one line',
    tests: ['cli/remote-server.test.ts'],
  },
  {
    file: 'cli/api-client/remote-target.ts', text: 'path.startsWith(WEBHOOKS_PATH) ? {}',
    replacement: "path === '' ? {}", tests: ['cli/api-client/remote-target.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/curl-call.ts',
    text: "ownHeaders.filter(([, value]) => !value.includes(MASK))", replacement: 'ownHeaders',
    tests: ['cli/commands/curl-call.test.ts'],
  },
  // output, to terminals, pipes and files
  {
    file: 'cli/terminal/output.ts', text: "if (systemCodeOf(error) !== 'EPIPE') ", replacement: '',
    tests: ['e2e/cli-process.test.ts'],
  },
  {
    file: 'cli/terminal/output.ts', text: 'await this.write(`${escapeControls(text)}\\n`);',
    replacement: 'await this.write(`${text}\\n`);', tests: ['cli/terminal/output.test.ts'],
  },
  {
    file: 'cli/terminal/output-file.ts', text: 'CREATE_ONLY, 0o600',
    replacement: 'CREATE_ONLY, 0o644',
    tests: ['cli/terminal/output-file.test.ts'],
  },
  {
    file: 'cli/commands/books/import-export.ts', text: 'await file.discard();',
    replacement: 'await file.commit();', tests: ['cli/faults.test.ts'],
  },
  {
    file: 'cli/commands/books/import-report.ts', text: 'return Number(skipped) > 0 ? 1 : 0;',
    replacement: 'return Number(imported) > 0 ? 1 : 0;',
    tests: ['cli/commands/books.test.ts'],
  },
  // a running server, and none
  {
    file: 'cli/api-client/api-client.ts', text: "|| method !== 'GET') throw thrown;",
    replacement: ') throw thrown;', tests: ['cli/api-client/waits.test.ts'],
  },
  {
    file: 'cli/commands/resource-commands.ts', text: "{ 'if-match': headers.etag }",
    replacement: '{}', tests: ['cli/faults.test.ts'],
  },
  {
    file: 'cli/create-command-context.ts',
    text: 'if (names?.length === 0 || names?.some(isDataName) === true) return;',
    replacement: 'if (names !== null) return;', tests: ['e2e/cli-data-directory.test.ts'],
  },
  {
    file: 'cli/commands/webhooks/watch/watch-requests.ts',
    text: 'if (hasPassedHere(watch.pseudonym, request)) throw createLoopError(request);',
    replacement: '', tests: ['e2e/request-watch.test.ts'],
  },
  // completion
  {
    file: 'cli/commands/completion/zsh.ts', text: '${listValueOptions(commands).join(\'|\')}) ;;',
    replacement: '--data) ;;', tests: ['cli/commands/completion.test.ts'],
  },
  {
    file: 'cli/commands/completion/bash.ts',
    text: "[[ \"$current\" == -* ]] && kind=''", replacement: '',
    tests: ['cli/commands/completion.test.ts'],
  },
  {
    file: 'cli/commands/completion/list-values.ts',
    text: "'incoming-webhooks': ['/api/incoming-webhooks', 'name', 'pathSegment', 'identifier'],",
    replacement: "'incoming-webhooks': ['/api/incoming-webhooks', 'identifier'],",
    tests: ['cli/commands/completion.test.ts'],
  },
];
