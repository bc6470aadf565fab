/** Faults of hook commands: how they run, and what is left of them. */
import type { PlantedFault } from './fault.ts';

const FOLDER = 'webhooks/actions/commands';
const RUNNER_TESTS = [`${FOLDER}/command-runner.test.ts`];
const RECOVERY_TESTS = [`${FOLDER}/recover-command-runs.test.ts`];

export const COMMAND_FAULTS: readonly PlantedFault[] = [
  {
    file: `${FOLDER}/command-process.ts`, text: 'shell: false', replacement: 'shell: true',
    tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-process.ts`, text: 'env: start.environment,',
    replacement: 'env: { ...process.env, ...start.environment },', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-process.ts`, text: 'await killSession(this.#pid, this.#clock)',
    replacement: 'this.#pid > 0', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-process.ts`, text: "      this.#signal('SIGKILL');\n",
    replacement: '', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-process.ts`, text: '    offerToMemoryKiller(pid);\n',
    replacement: '', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-process.ts`, text: '        child.unref();\n', replacement: '',
    tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-runner.ts`,
    text: 'stdio: coverDescriptors([stdin, ...ends], this.#inheritedDescriptors, empty),',
    replacement: 'stdio: coverDescriptors([stdin, ...ends], [], empty),', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-runner.ts`, text: 'isTemporary ? \'unavailable\' : \'invalid\'',
    replacement: '\'unavailable\'', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-output.ts`, text: 'withoutCutEnd(bytes)', replacement: 'bytes',
    tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/command-output.ts`, text: 'this.#bytesLeft -= length;',
    replacement: '', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/output-pipes.ts`, text: "process.platform === 'linux'",
    replacement: "process.platform === 'win32'", tests: RUNNER_TESTS,
  },
  {
    file: 'base/files/remove-tree.ts', text: '    await removeStubbornTree(path);\n',
    replacement: '', tests: RUNNER_TESTS,
  },
  {
    file: 'base/files/remove-tree.ts', text: 'subfolder.length <= root.length + PATH_LENGTH_MAX',
    replacement: 'subfolder.length > 0', tests: RUNNER_TESTS,
  },
  {
    file: `${FOLDER}/recover-command-runs.ts`,
    text: "startTime !== '' && startTime === noted.startTime", replacement: "startTime !== ''",
    tests: RECOVERY_TESTS,
  },
  {
    file: `${FOLDER}/recover-command-runs.ts`,
    text: 'if (!isInThisNamespace(files, noted)) return [];', replacement: '',
    tests: RECOVERY_TESTS,
  },
  {
    file: `${FOLDER}/recover-command-runs.ts`, text: 'sessionId === noted.pid\n',
    replacement: 'sessionId !== noted.pid\n', tests: RECOVERY_TESTS,
  },
  {
    file: `${FOLDER}/recover-command-runs.ts`, text: 'killSession(sessionId, clock)',
    replacement: 'true', tests: RECOVERY_TESTS,
  },
  {
    file: `${FOLDER}/process-table.ts`, text: 'readlinkSync(`/proc/${pid}/fd/${descriptor}`)',
    replacement: 'String(pid)', tests: RECOVERY_TESTS,
  },
];
