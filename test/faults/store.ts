/** Faults of the store. */
import type { PlantedFault } from './fault.ts';

const JOURNAL: readonly PlantedFault[] = [
  {
    file: 'store/journal/journal-line-encoder.ts',
    text: 'this.#addText(text, bytes.length + 1);', replacement: 'this.#addText(text, 0);',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-line-encoder.ts',
    text: '"durable":${sequence},${member}', replacement: '"durable":${sequence - 1},${member}',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-line.ts',
    text: 'index >= CRC_START', replacement: 'index > CRC_START',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-line.ts',
    text: 'if (sequence !== durable) return null;', replacement: '',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-line.ts',
    text: 'assert(reader.readInteger() === sequence);', replacement: 'reader.readInteger();',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-line.ts',
    text: 'this.#buffer[knownEnd] === 0x22 && ', replacement: '',
    tests: ['store/journal/journal-line.test.ts'],
  },
  {
    file: 'store/journal/journal-file.ts',
    text: 'this.#files.datasyncSync(this.#descriptor);\n      return {',
    replacement: 'return {',
    tests: ['crash/faults.test.ts'],
  },
  {
    file: 'store/journal/journal-file.ts',
    text: 'const position = this.#length + bytesWritten;',
    replacement: 'const position = this.#length;',
    tests: ['crash/faults.test.ts'],
  },
  {
    file: 'store/journal/journal-file.ts',
    text: 'await this.#files.datasync(this.#descriptor);', replacement: '',
    tests: ['store/transactions/group-commit.test.ts'],
  },
  {
    file: 'store/journal/journal-writer.ts',
    text: "if (this.#failure?.code === 'unknown_outcome') {", replacement: 'if (false) {',
    tests: ['store/journal/journal-writer.test.ts'],
  },
  {
    file: 'store/journal/journal-writer.ts',
    text: "if (failure?.kind === 'unknown') throw this.#fail(failure);", replacement: '',
    tests: ['store/journal/journal-writer.test.ts'],
  },
  {
    file: 'store/journal/failure-log.ts',
    text: "failure?.code === 'unknown_outcome') this.#report()",
    replacement: "failure?.code === 'never') this.#report()",
    tests: ['store/journal/failure-log.test.ts'],
  },
  {
    file: 'store/journal/journal-writer.ts',
    text: 'this.#pooledLeft -= 1;', replacement: '',
    tests: ['store/journal/journal-writer.test.ts'],
  },
  {
    file: 'store/journal/journal-writer.ts',
    text: 'this.#sequence + index + 1, this', replacement: 'this.#sequence + index, this',
    tests: ['store/journal/journal-writer.test.ts'],
  },
  {
    file: 'store/journal/journal-writer.ts',
    text: 'this.#file = file;\n    this.#isMarked', replacement: 'this.#isMarked',
    tests: ['store/generations/compaction.test.ts'],
  },
];

const TRANSACTIONS: readonly PlantedFault[] = [
  {
    file: 'store/transactions/group-commit.ts',
    text: 'this.#quietTurns >= QUIET_TURNS', replacement: 'this.#quietTurns >= 1',
    tests: ['store/transactions/group-commit.test.ts'],
  },
  {
    file: 'store/transactions/group-commit.ts',
    text: 'journal.sequence - transactions.length;',
    replacement: 'journal.sequence - transactions.length - 1;',
    tests: ['store/generations/journal-reader.test.ts'],
  },
  {
    file: 'store/transactions/group-commit.ts',
    text: 'if (isCommitted) complete();', replacement: 'if (true) complete();',
    tests: ['store/transactions/group-commit.test.ts', 'store/transactions/rebase.test.ts'],
  },
  {
    file: 'store/transactions/group-commit.ts',
    text: 'for (const submission of this.#deferred.splice(0)) submission.reject(laterError);',
    replacement: '',
    tests: ['store/transactions/rebase.test.ts'],
  },
  {
    file: 'store/transactions/staging.ts',
    text: 'if (holder === undefined || holder.id === id) return;',
    replacement: 'if (holder === undefined) return;',
    tests: ['store/transactions/group-commit.test.ts'],
  },
  {
    file: 'store/transactions/staging.ts',
    text: 'if (stagedOperation === undefined) {', replacement: 'if (true) {',
    tests: ['store/transactions/group-commit.test.ts'],
  },
  {
    file: 'store/transactions/staging.ts',
    text: 'owner.batch.number > this.dependsOn.number',
    replacement: 'owner.batch.number < this.dependsOn.number',
    tests: ['store/transactions/staging.test.ts'],
  },
  {
    file: 'store/transactions/staging.ts',
    text: 'releaseBytes(operation);', replacement: '',
    tests: ['store/transactions/staging.test.ts'],
  },
  {
    file: 'store/transactions/staged-records.ts',
    text: 'this.#gathering.get(id) ?? this.#inFlight.get(id)',
    replacement: 'this.#inFlight.get(id) ?? this.#gathering.get(id)',
    tests: ['store/transactions/staged-records.test.ts'],
  },
  {
    file: 'store/transactions/staged-records.ts',
    text: 'if (!this.#gathering.has(id)) yield item;', replacement: 'yield item;',
    tests: ['store/transactions/staged-records.test.ts'],
  },
  {
    file: 'store/transactions/staged-records.ts',
    text: 'if (this.#inFlight.size > 0) this.#inFlight = new Map();', replacement: '',
    tests: ['store/transactions/staged-records.test.ts'],
  },
  {
    file: 'store/transactions/group-commit.ts',
    text: 'transaction.seal();', replacement: '',
    tests: ['store/transactions/group-commit.test.ts'],
  },
];

const RECORDS: readonly PlantedFault[] = [
  {
    file: 'store/records/arena.ts',
    text: 'this.dropIfDead(chunk);', replacement: '',
    tests: ['store/records/arena.test.ts'],
  },
  {
    file: 'store/records/arena.ts',
    text: 'this.#isFrozen ? this.#chunks.length : this.#freeIds.pop()',
    replacement: 'this.#freeIds.pop()',
    tests: ['store/records/arena.test.ts'],
  },
  {
    file: 'store/records/arena.ts',
    text: 'json.length * 3', replacement: 'json.length',
    tests: ['store/records/arena.test.ts'],
  },
  {
    file: 'store/records/key-order.ts',
    text: 'if (step === 0) return 0;', replacement: '',
    tests: ['store/records/key-order.test.ts'],
  },
  {
    file: 'store/records/key-order.ts',
    text: 'copySlots(right, left.slots, left.count);',
    replacement: 'copySlots(right, left.slots, 0);',
    tests: ['store/records/key-order.test.ts'],
  },
  {
    file: 'store/records/key-order.ts',
    text: 'if (isArrayBlock(block) && epoch === this.#epoch) return block;',
    replacement: 'if (isArrayBlock(block)) return block;',
    tests: ['store/records/key-order.test.ts', 'store/generations/snapshot.test.ts'],
  },
  {
    file: 'store/records/record-table.ts',
    text: 'this.#firstEmpty = slot + 1;', replacement: 'this.#firstEmpty = slot;',
    tests: ['store/records/record-table.test.ts'],
  },
  {
    file: 'store/records/record-table.ts',
    text: 'if (page.epoch === this.#epoch) return page;', replacement: 'if (true) return page;',
    tests: ['store/records/record-table.test.ts'],
  },
  {
    file: 'store/records/lru-cache.ts',
    text: 'if (!this.#young.has(id) && !this.#old.has(id)) return;',
    replacement: 'if (!this.#young.has(id)) return;',
    tests: ['store/records/lru-cache.test.ts'],
  },
  {
    file: 'store/records/unique-index.ts',
    text: 'if (this.#idByValue.get(value) === id) this', replacement: 'this',
    tests: ['store/records/unique-index.test.ts'],
  },
  {
    file: 'store/records/walk.ts',
    text: 'if (isFound && !this.#isDescending)', replacement: 'if (isFound)',
    tests: ['store/records/collection.test.ts'],
  },
  {
    file: 'store/records/walk.ts',
    text: 'this.#last.chunk === chunk && this.#last.end === offset',
    replacement: 'this.#last.chunk === chunk',
    tests: ['store/records/collection.test.ts'],
  },
  {
    file: 'store/records/collection.ts',
    text: 'this.order.remove(this.#keyPosition);', replacement: '',
    tests: ['store/records/collection.test.ts'],
  },
  {
    file: 'store/records/key-order.ts',
    text: 'position -= BLOCK_SLOTS / 2;', replacement: '',
    tests: ['store/records/key-order.test.ts'],
  },
];

const DISK: readonly PlantedFault[] = [
  {
    file: 'store/disk/read-write.ts',
    text: 'await files.write(descriptor, remainder, position + total)',
    replacement: 'await files.write(descriptor, remainder, position)',
    tests: ['store/disk/read-write.test.ts'],
  },
  {
    file: 'store/disk/read-write.ts',
    text: 'if (end >= filled) end = -1;', replacement: '',
    tests: ['store/disk/read-write.test.ts'],
  },
  {
    file: 'store/disk/disk-error.ts',
    text: "['ENOSPC', 'EDQUOT', 'EFBIG']", replacement: "['ENOSPC', 'EFBIG']",
    tests: ['store/disk/disk-error.test.ts'],
  },
  {
    file: 'store/disk/inventory.ts',
    text: 'journals.sort((left, right) => left - right);', replacement: 'journals.sort();',
    tests: ['store/disk/inventory.test.ts'],
  },
  {
    file: 'store/disk/inventory.ts',
    text: " || formatGeneration(generation) !== digits", replacement: '',
    tests: ['store/disk/inventory.test.ts'],
  },
  {
    file: 'store/disk/space-probe.ts',
    text: 'await this.#files.datasync(descriptor);', replacement: '',
    tests: ['store/disk/space-probe.test.ts'],
  },
];

const GENERATIONS: readonly PlantedFault[] = [
  {
    // An older program reads a journal with records that it does not know.
    file: 'store/generations/file-journal.ts',
    text: 'if (this.#isOfOlderFormat && !keepsFormat) await this.#beginJournal();', replacement: '',
    tests: ['crash/upgrade.test.ts'],
  },
  {
    file: 'store/generations/file-journal.ts',
    text: 'this.#beginJournal().then(() => this.#append(request), request.onEnded);',
    replacement: 'this.#append(request);', tests: ['crash/upgrade.test.ts'],
  },
  {
    // Reading alone takes the directory from the older release.
    file: 'store/generations/file-journal.ts',
    text: 'if (this.#isOfOlderFormat && !keepsFormat)', replacement: 'if (this.#isOfOlderFormat)',
    tests: ['crash/upgrade.test.ts'],
  },
  {
    file: 'store/generations/compaction.ts',
    text: 'await startJournalFile(files, directory, file, writer.sequence);',
    replacement: '', tests: ['crash/upgrade.test.ts'],
  },
  {
    file: 'store/generations/compaction.ts',
    text: 'await files.syncDirectory(directory);', replacement: '',
    tests: ['crash/compaction.test.ts', 'crash/simulation.test.ts'],
  },
  {
    file: 'store/generations/compaction.ts',
    text: 'if (other === generation || other === previous) continue;',
    replacement: 'if (other === generation) continue;',
    tests: ['store/generations/compaction.test.ts'],
  },
  {
    file: 'store/generations/compaction.ts',
    text: 'inventory.journals.filter((other) => other < previous)',
    replacement: 'inventory.journals.filter((other) => other <= previous)',
    tests: ['store/generations/compaction.test.ts'],
  },
  {
    file: 'store/generations/gradual-deletion.ts',
    text: 'if (files.linkCountSync(descriptor) > 1) return;', replacement: '',
    tests: ['store/generations/gradual-deletion.test.ts'],
  },
  {
    file: 'store/generations/replay.ts',
    text: 'line.durable > this.#sequence;', replacement: 'line.durable > this.#sequence + 1;',
    tests: ['store/generations/recovery.test.ts', 'crash/torn.test.ts'],
  },
  {
    file: 'store/generations/replay.ts',
    text: 'if (line.durable > this.#durable) this.#unprovenAt = offset;',
    replacement: 'this.#unprovenAt = offset;',
    tests: ['crash/faults.test.ts', 'crash/recovery.test.ts'],
  },
  {
    file: 'store/generations/repair.ts',
    text: 'await rewriteUnproven(files, last);', replacement: '',
    tests: ['crash/faults.test.ts', 'crash/recovery.test.ts'],
  },
  {
    file: 'store/generations/repair.ts',
    text: 'files.renameSync(temporaryPath, tornPath);\n    files.syncDirectorySync(directory);',
    replacement: 'files.renameSync(temporaryPath, tornPath);',
    tests: ['crash/torn.test.ts', 'crash/recovery.test.ts'],
  },
  {
    file: 'store/generations/snapshot.ts',
    text: 'position === this.#size && this.#isInOrder', replacement: 'position === this.#size',
    tests: ['store/generations/snapshot.test.ts'],
  },
  {
    file: 'store/generations/snapshot-writer.ts',
    text: 'table.offsetOf(slot) === frozenSpan.offset && ', replacement: '',
    tests: ['store/generations/snapshot-writer.test.ts'],
  },
  {
    file: 'store/generations/journal-reader.ts',
    text: 'if (line.sequence !== this.#sequence + 1) throw goneError();', replacement: '',
    tests: ['store/generations/journal-reader.test.ts'],
  },
  {
    file: 'store/generations/journal-reader.ts',
    text: 'if (!this.#isReading) this.#files', replacement: 'this.#files',
    tests: ['store/generations/journal-reader.test.ts'],
  },
  {
    file: 'store/generations/snapshot-writer.ts',
    text: 'index < block.count;', replacement: 'index < block.count - 1;',
    tests: ['store/generations/snapshot-writer.test.ts'],
  },
];

const LOCK: readonly PlantedFault[] = [
  {
    file: 'store/lock/directory-lock.ts',
    text: 'files.truncateSync(descriptor, 0);\n    const liveness', replacement: 'const liveness',
    tests: ['store/lock/directory-lock.test.ts'],
  },
  {
    file: 'store/lock/exclusive-lock.ts',
    text: 'listLockNumbers(directory, files).at(-1) !== number || ', replacement: '',
    tests: ['store/lock/exclusive-lock.test.ts'],
  },
  {
    file: 'store/lock/lock-owner.ts',
    text: 'return owner.startTime === readStartTime(files, owner.pid);',
    replacement: 'return true;',
    tests: ['store/lock/directory-lock.test.ts'],
  },
  {
    file: 'store/lock/liveness.ts',
    text: 'removeSocket(path, files);\n    await', replacement: 'await',
    tests: ['store/lock/directory-lock.test.ts'],
  },
];

export const STORE_FAULTS: readonly PlantedFault[] = [
  ...JOURNAL, ...TRANSACTIONS, ...RECORDS, ...DISK, ...GENERATIONS, ...LOCK,
];
