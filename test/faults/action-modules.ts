/** Faults of the worker of action modules: what others wrote hurts us, or is blamed on others. */
import type { PlantedFault } from './fault.ts';

const FOLDER = 'webhooks/actions/modules';
const HEALTH = [`${FOLDER}/module-health.test.ts`];
const LIFE = [`${FOLDER}/worker-life.test.ts`];
const LOADING = [`${FOLDER}/load-action-modules.test.ts`];

export const ACTION_MODULE_FAULTS: readonly PlantedFault[] = [
  // Code of other users, or that never loads, is run.
  {
    file: `${FOLDER}/find-action-modules.ts`,
    text: 'for (const step of below) checkOwnership(step);', replacement: 'below.at(0);',
    tests: LOADING,
  },
  {
    file: `${FOLDER}/find-action-modules.ts`, text: 'checkOwnership(walk.nearest);',
    replacement: '', tests: LOADING,
  },
  {
    file: `${FOLDER}/find-action-modules.ts`, text: 'if (isFile) return path;',
    replacement: 'if (isFile || !isFile) return path;', tests: LOADING,
  },
  // A module that ends workers goes on, or others are switched off with it.
  {
    file: `${FOLDER}/module-health.ts`, text: 'this.#endTimesMs.length < ENDS_MAX',
    replacement: 'this.#endTimesMs.length <= ENDS_MAX', tests: HEALTH,
  },
  {
    file: `${FOLDER}/module-health.ts`, text: 'endMs > nowMs - WINDOW_MS',
    replacement: 'endMs <= nowMs', tests: HEALTH,
  },
  {
    file: `${FOLDER}/action-modules.ts`, text: 'const health = module?.health ?? this.',
    replacement: 'const health = this.', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-modules.ts`, text: "url !== '' && isInFile(frame, url)",
    replacement: "url === '' && isInFile(frame, url)", tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker.ts`, text: '    markExit(state);\n',
    replacement: '', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-modules.ts`, text: 'if (remainingMs > 0) throw new',
    replacement: 'if (remainingMs < 0) throw new', tests: LIFE,
  },
  // A worker that does not answer stays, or one that answers is ended.
  {
    file: `${FOLDER}/action-modules.ts`,
    text: 'if (place !== undefined) place.thread.giveUpCall(place.callId);',
    replacement: 'if (place === undefined) return;', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker-thread.ts`,
    text: "if (isAwaited) void this.endWithStack('blocked');",
    replacement: '', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker-thread.ts`,
    text: '    this.#answerTimer?.cancel();\n    this.#answerTimer = null;\n',
    replacement: '', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker-thread.ts`, text: '      endCall(null);\n', replacement: '',
    tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker-thread.ts`, text: '      onEnd(null);\n', replacement: '',
    tests: LIFE,
  },
  // Memory without a limit: of its heap, and of what is on its way.
  {
    file: `${FOLDER}/worker-inspector.ts`, text: 'set(Number(threadId), sessionId)',
    replacement: 'set(1, sessionId)', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker-thread.ts`,
    text: "if (await this.#isHeapTooLarge()) return void this.endWithStack('memory');",
    replacement: 'await this.#isHeapTooLarge();', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker.ts`, text: 'waitWhileOver(unreadLines, unreadLinesMax);',
    replacement: '', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-worker.ts`, text: 'waitWhileOver(unansweredKiB, unansweredKiBMax);',
    replacement: '', tests: LIFE,
  },
  // What a call has outlives it, is another one's, or is not what it was here.
  {
    file: `${FOLDER}/action-worker-thread.ts`, text: '      tools?.abortAll();\n',
    replacement: '', tests: LIFE,
  },
  {
    file: `${FOLDER}/call-tools.ts`,
    text: 'requestId !== null && this.#errors.has(requestId) ? this.#errors.get(requestId)\n'
      + '      : rebuildThrown(thrown)',
    replacement: 'requestId === -1 ? null : rebuildThrown(thrown)', tests: LIFE,
  },
  {
    file: `${FOLDER}/action-modules.ts`, text: 'context: { ...others, body: copyBytes(body) }',
    replacement: 'context: { ...others, body }', tests: LIFE,
  },
];
