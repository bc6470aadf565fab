/**
 * Faults of replication, engines and backup. Those that only real engines show are in
 * test/nodes/failures.
 */
import type { PlantedFault } from './fault.ts';

const APPENDING: readonly PlantedFault[] = [
  // An append that may be written is said to be refused.
  {
    file: 'store/replication/appending/appender.ts',
    text: 'this.#pending.sent === null ? refusal', replacement: 'true ? refusal',
    tests: ['store/replication/engine-journal.test.ts'],
  },
  // A batch that is in the log already is written once more.
  {
    file: 'store/engines/etcd/etcd-session.ts',
    text: '(isResent && await this.#isInLog(entry))', replacement: 'false',
    tests: ['store/engines/etcd/etcd-session.test.ts'],
  },
  // A batch that has filled the engine is said to be refused.
  {
    file: 'store/engines/etcd/etcd-session.ts',
    text: 'if (isFull(error) && await this.#isInLog(entry)) return null;', replacement: '',
    tests: ['store/engines/etcd/etcd-session.test.ts'],
  },
  // A write whose outcome is open is sent to another member.
  {
    file: 'store/engines/etcd/etcd-gateway.ts',
    text: 'path, body, isRepeatable: false', replacement: 'path, body, isRepeatable: true',
    tests: ['store/engines/etcd/etcd-session.test.ts'],
  },
  // One batch that is too large for the engine stops all writing.
  {
    file: 'store/replication/appending/append-refusals.ts',
    text: "if (error.code === 'too_large') return reported;", replacement: '',
    tests: ['store/replication/appending/append-refusals.test.ts'],
  },
  // A new session is not watched, since the session before it was.
  {
    file: 'store/replication/appending/append-watch.ts',
    text: 'if (session !== this.#session) this.#endWatch = null;', replacement: '',
    tests: ['store/replication/appending/append-watch.test.ts'],
  },
  // A small append that succeeds hides that large ones are refused.
  {
    file: 'store/replication/appending/append-refusals.ts',
    text: 'bytes >= this.#lasting.bytes', replacement: 'bytes >= 0',
    tests: ['store/replication/full-engine.test.ts'],
  },
  // The late answer of a session that was given up counts.
  {
    file: 'store/replication/engine-link.ts',
    text: "if (this.#dropped.has(session)) throw", replacement: 'if (false) throw',
    tests: ['store/replication/engine-link.test.ts'],
  },
  // A batch whose transactions are all refused is written as an empty entry.
  {
    file: 'store/replication/appending/appender.ts',
    text: 'return transactions.length === 0 ? null',
    replacement: 'return transactions.length < 0 ? null',
    tests: ['store/replication/appending/append-watch.test.ts'],
  },
];

const READING: readonly PlantedFault[] = [
  // Entries between the records and the start of a trimmed log are skipped.
  {
    file: 'store/replication/replicated-records.ts',
    text: 'head.floor > sequence', replacement: 'false',
    tests: ['store/replication/replicated-records.test.ts'],
  },
  // A reader that must not see stale records sees them when the proof fails.
  {
    file: 'store/replication/fresh-reads.ts',
    text: 'if (isProven) for (const', replacement: 'for (const',
    tests: ['store/replication/fresh-reads.test.ts'],
  },
  // The same when the proof throws: the reader is forgotten.
  {
    file: 'store/replication/fresh-reads.ts',
    text: 'if (!isProven) this.#waiting = [...readers, ...this.#waiting];', replacement: '',
    tests: ['store/replication/fresh-reads.test.ts'],
  },
  // An entry is applied although others before it are missing.
  {
    file: 'store/replication/log-chain.ts',
    text: 'first !== position.sequence + 1 || ', replacement: '',
    tests: ['store/replication/log-chain.test.ts'],
  },
  // An entry that lacks its last transactions is applied.
  {
    file: 'store/replication/log-entry.ts',
    text: 'assert(sequence === last);', replacement: '',
    tests: ['store/replication/log-entry.test.ts'],
  },
  // A reader is given transactions that are not applied here yet.
  {
    file: 'store/replication/engine-reader.ts',
    text: 'sequence > this.#sequence && sequence <= applied',
    replacement: 'sequence > this.#sequence',
    tests: ['store/replication/engine-journal.test.ts'],
  },
  // A node that was paused answers from what may be stale.
  {
    file: 'store/replication/pause-detector.ts',
    text: 'nowMs - this.#ranMs <= PAUSE_MS', replacement: 'nowMs - this.#ranMs <= WAIT_MS_MAX',
    tests: ['store/replication/pause-detector.test.ts'],
  },
  // Of several entries that are applied at once, only the last moves the position.
  {
    file: 'store/replication/replicated-records.ts',
    text: 'for (const entry of entries) this.advance(entry);',
    replacement: 'const last = entries.at(-1);\n      if (last !== undefined) this.advance(last);',
    tests: ['store/replication/catch-up.test.ts'],
  },
];

const SNAPSHOTS: readonly PlantedFault[] = [
  // The log is trimmed so far that only the newest snapshot can be used.
  {
    file: 'store/replication/snapshot-transfer.ts',
    text: 'complete[SNAPSHOTS_RETAINED - 1]', replacement: 'complete[0]',
    tests: ['store/replication/snapshots.test.ts'],
  },
  // Whoever may write to the engine names any file to be overwritten.
  {
    file: 'store/replication/local-snapshot.ts',
    text: 'if (!isStoreName(snapshotName(file.collection, generation))) return [];',
    replacement: '',
    tests: ['store/replication/snapshot-faults.test.ts'],
  },
  // A part of a snapshot that was changed in the engine is loaded.
  {
    file: 'store/replication/snapshot-transfer.ts',
    text: 'if (sha256(content.bytes) !== content.sha256) {', replacement: 'if (false) {',
    tests: ['store/replication/snapshot-transfer.test.ts'],
  },
  // A node starts from records that a fail-over has taken out of the log.
  {
    file: 'store/replication/snapshot-keeper.ts',
    text: 'entry !== undefined && isSamePosition(entry, { sequence, chain })',
    replacement: 'entry !== undefined',
    tests: ['store/replication/snapshots.test.ts'],
  },
];

const BACKUP: readonly PlantedFault[] = [
  // A backup that was cut off is taken for a whole one.
  {
    file: 'store/backup/pending-marks.ts',
    text: 'if (files.existsSync(join(directory, BACKUP_PENDING))) {', replacement: 'if (false) {',
    tests: ['store/backup/manifest.test.ts', 'store/backup/backup.test.ts', 'crash/backup.test.ts'],
  },
  // A restore over data that nobody allowed to replace.
  {
    file: 'store/backup/restore.ts',
    text: 'if (!isReplacing && listData(files, directory).length > 0) {',
    replacement: 'if (false) {',
    tests: ['store/backup/backup.test.ts'],
  },
  // A backup with fewer records than its manifest says is restored.
  {
    file: 'store/backup/restore.ts',
    text: 'if (archive.manifest !== null) checkContents(archive.manifest, report);',
    replacement: '',
    tests: ['store/backup/manifest.test.ts'],
  },
  // A backup in a directory is swapped for another directory while it is written.
  {
    file: 'store/backup/backup.ts',
    text: 'await fillEmptyDirectory(files, sources, directory.path, target)',
    replacement: 'await fillEmptyDirectory(files, sources, target, target)',
    tests: ['store/backup/swapped.test.ts'],
  },
  // A backup holds what is not known to be on disk.
  {
    file: 'store/backup/backup.ts',
    text: 'bytes: name === currentJournal ? inUse.length : null', replacement: 'bytes: null',
    tests: ['store/backup/backup.test.ts'],
  },
  // Records that were changed on their way to another store pass for those that were moved.
  {
    file: 'store/backup/collection-sums.ts',
    text: 'actualSum?.records === records && actualSum.sha256 === sha256',
    replacement: 'actualSum?.records === records',
    tests: ['store/backup/collection-sums.test.ts'],
  },
  // No other program unpacks a backup: the checksums of its headers are wrong.
  {
    file: 'store/backup/tar.ts',
    text: 'let sum = CHECKSUM_BYTES * 0x20;', replacement: 'let sum = 0;',
    tests: ['store/backup/tar.test.ts'],
  },
  // A file that fills its last block is followed by an empty block.
  {
    file: 'store/backup/tar.ts',
    text: '(TAR_BLOCK_BYTES - bytes % TAR_BLOCK_BYTES) % TAR_BLOCK_BYTES',
    replacement: 'TAR_BLOCK_BYTES - bytes % TAR_BLOCK_BYTES',
    tests: ['store/backup/tar.test.ts'],
  },
  // A backup with a file that was changed since is restored.
  {
    file: 'store/backup/manifest.ts',
    text: 'if (sum.sha256 !== sha256)', replacement: 'if (false)',
    tests: ['store/backup/manifest.test.ts'],
  },
  // A crash takes the old data, which a restore has set aside.
  {
    file: 'store/backup/restore.ts',
    text: 'files.syncDirectorySync(oldDataDirectory);', replacement: '',
    tests: ['crash/restore.test.ts'],
  },
];

export const REPLICATION_FAULTS: readonly PlantedFault[] = [
  ...APPENDING, ...READING, ...SNAPSHOTS, ...BACKUP,
];
