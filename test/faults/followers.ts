/** Faults of followers: the epochs, the log that is sent, the copy and its replacement. */
import type { PlantedFault } from './fault.ts';

const EPOCHS = ['store/epochs.test.ts'];
const FOLLOWING = ['followers/copy-follower.test.ts'];
const SENDING = ['followers/followers.test.ts'];
const REPLACING = ['crash/replacement.test.ts'];

export const FOLLOWER_FAULTS: readonly PlantedFault[] = [
  {
    // A log is followed past the point where its history parted from the copy's.
    file: 'store/epochs.ts',
    text: 'return position.sequence <= (epochs[index + 1]?.after ?? sequence);',
    replacement: 'return position.sequence <= sequence;', tests: EPOCHS,
  },
  {
    file: 'store/epochs.ts', text: 'position.sequence <= epoch.after', replacement: 'false',
    tests: EPOCHS,
  },
  {
    // Everybody's log gets epochs, also one that nobody follows.
    file: 'store/epochs.ts', text: 'this.#isDue = deps.collection.size > 0;',
    replacement: 'this.#isDue = true;', tests: EPOCHS,
  },
  {
    // An epoch whose transaction was refused is never written.
    file: 'store/epochs.ts', text: 'if (collection.findSlot(id) !== -1) {',
    replacement: 'if (collection.findSlot(id) !== -2) {', tests: EPOCHS,
  },
  {
    file: 'store/transactions/group-commit.ts',
    text: 'if (transaction.operations.length > 0) this.#options.onStaged?.(transaction);',
    replacement: 'this.#options.onStaged?.(transaction);', tests: EPOCHS,
  },
  {
    file: 'followers/followed-log.ts', text: 'while (!this.#isEnded && mayGoOn()) {',
    replacement: 'while (!this.#isEnded) {', tests: SENDING,
  },
  {
    file: 'followers/followed-log.ts',
    text: "if (thrown instanceof AppError && thrown.code === 'gone') return null;",
    replacement: "if (thrown instanceof AppError && thrown.code === 'gone') throw thrown;",
    tests: SENDING,
  },
  {
    // A heartbeat is no line.
    file: 'followers/followed-log.ts',
    text: 'HEARTBEAT_MS, () => {\n        this.#isMarked = false;',
    replacement: 'HEARTBEAT_MS, () => {', tests: SENDING,
  },
  {
    file: 'followers/followers.ts',
    text: 'if (this.#cutConnection(place.copy)) takeoversMs.push(clock.monotonicMs());',
    replacement: '', tests: SENDING,
  },
  {
    file: 'followers/followers.ts', text: 'if (connection?.log !== log) return;',
    replacement: 'if (connection === undefined) return;', tests: SENDING,
  },
  {
    file: 'followers/follower.ts',
    text: 'if (last !== undefined && nowMs - last.ms < MARK_EVERY_MS) return;',
    replacement: 'if (last !== undefined) return;', tests: ['followers/follower.test.ts'],
  },
  {
    // The lag of a copy that fails begins anew with every connection.
    file: 'followers/followers.ts',
    text: 'if (follower === undefined || follower.sequence > sequence) {',
    replacement: 'if (follower === undefined || follower.sequence >= sequence) {', tests: SENDING,
  },
  {
    file: 'followers/follower.ts', text: 'lastBefore?.ms ?? lastSeenMs',
    replacement: 'lastBefore?.ms ?? nowMs', tests: SENDING,
  },
  {
    file: 'followers/followers.ts',
    text: '      this.#checkOpen();\n      this.#checkRoom(place);\n',
    replacement: '      this.#checkOpen();\n', tests: SENDING,
  },
  {
    file: 'followers/followers.ts',
    text: 'if (this.#listTakeovers(copy).length < TAKEOVERS_MAX) return;', replacement: 'return;',
    tests: SENDING,
  },
  {
    file: 'followers/followers.ts', text: 'if (!mayFollow()) throw',
    replacement: 'if (mayFollow === null) throw', tests: SENDING,
  },
  {
    file: 'followers/copy-follower.ts', text: 'yield chunk;\n      timer = watch();',
    replacement: 'yield chunk;', tests: FOLLOWING,
  },
  {
    file: 'followers/copy-follower.ts', text: "if (thrown.code !== 'not_found') return;",
    replacement: 'return;', tests: FOLLOWING,
  },
  {
    // What a restored server replaces is deleted.
    file: 'followers/copy-follower.ts', text: '        isOtherHistory);',
    replacement: '        false);', tests: FOLLOWING,
  },
  {
    // A copy whose state could not be read again counts as empty.
    file: 'followers/copy-follower.ts', text: '        await copy.recover();\n', replacement: '',
    tests: FOLLOWING,
  },
  {
    file: 'followers/copy-follower.ts',
    text: 'if (isOtherHistory && beginnings > 0) throw createTwoServersError(thrown);',
    replacement: '', tests: FOLLOWING,
  },
  {
    file: 'followers/copy-follower.ts', text: 'if (!mayPass(thrown)) throw thrown;',
    replacement: 'if (!(thrown instanceof AppError)) throw thrown;', tests: FOLLOWING,
  },
  {
    file: 'store/copy/copy.ts', text: 'this.#listOldStates().length >= OLD_STATES_MAX',
    replacement: 'false', tests: ['store/copy/copy.test.ts'],
  },
  {
    // The mark of a server counts, though transactions are missing before it.
    file: 'store/copy/copy.ts', text: 'if (wrong === undefined) return;',
    replacement: 'if (wrong !== undefined) return;', tests: FOLLOWING,
  },
  {
    // A copy forgets that the epoch it takes has come from its server.
    file: 'store/copy/copy.ts', text: 'await this.#noteEpochs(state, transactions);',
    replacement: '', tests: FOLLOWING,
  },
  {
    file: 'store/copy/copy.ts',
    text: 'if (state === null || note.epochs.includes(getLastEpoch(state))) {',
    replacement: 'if (state === null || note.epochs.length > 0) {',
    tests: ['store/copy/copy.test.ts'],
  },
  {
    file: 'store/copy/copy.ts', text: 'if (files.listSync(directory).some(isStoreName)) {',
    replacement: "if (files.listSync(directory).some((name) => name === '')) {",
    tests: ['store/copy/copy.test.ts'],
  },
  {
    file: 'store/copy/receive-backup.ts', text: 'await checkDirectory(files, folder, manifest);',
    replacement: '', tests: ['store/copy/copy.test.ts'],
  },
  {
    // A start sees a replacement that is not whole.
    file: 'store/generations/replacement.ts', text: 'if (!isWhole) unfinished.push(generation);',
    replacement: '', tests: REPLACING,
  },
  {
    // The old files go before the names of the new ones are on disk.
    file: 'store/generations/replacement.ts',
    text: '      // A crash may have come before the names were on disk.\n'
      + '      await files.syncDirectory(directory);\n',
    replacement: '', tests: REPLACING,
  },
  {
    file: 'store/store.ts', text: 'await finishReplacements(files, directory);', replacement: '',
    tests: REPLACING,
  },
  {
    // A copy that died is told as one that follows.
    file: 'cli/commands/operation/doctor-followers.ts',
    text: ': Number(behindTransactions) > 0;', replacement: ': false;',
    tests: ['cli/commands/doctor-followers.test.ts'],
  },
  {
    file: 'cli/commands/operation/doctor-followers.ts',
    text: "scope === 'follow' && revokedAt === undefined", replacement: "scope === 'follow'",
    tests: ['cli/commands/doctor-followers.test.ts'],
  },
  {
    // What reads secrets is open while the rest of the API is.
    file: 'access/scope.ts',
    text: "return scope === 'follow';", replacement: 'return scope === null;',
    tests: ['access/guard.test.ts'],
  },
  {
    file: 'access/scope.ts', text: "admin: ['emit', 'read', 'write', 'admin'],",
    replacement: "admin: ['emit', 'read', 'write', 'admin', 'follow'],",
    tests: ['access/guard.test.ts'],
  },
];
