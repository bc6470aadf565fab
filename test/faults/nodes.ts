/**
 * Faults of the nodes that share a log, and of access to a data directory: its owner, its lock, its
 * maintenance. Faults that only several real processes show are in nodes/failures/edits.ts.
 */
import type { PlantedFault } from './fault.ts';

const SCHEDULED_BACKUPS = ['maintenance/scheduled-backups.test.ts'];
const FORMS: readonly PlantedFault[] = [
  {
    // Older nodes stop at records that they do not know.
    file: 'app/form-upkeep.ts',
    text: "if (replica.logFormat === FORMER_LOG_FORMAT) await keepOldForm(store);", replacement: '',
    tests: ['app/form-upkeep.test.ts'],
  },
  {
    // The new form begins while an older node is there.
    file: 'app/form-upkeep.ts',
    text: 'if (forms < RECORD_FORM) this.#quietSinceMs = this.#deps.clock.monotonicMs();',
    replacement: '', tests: ['app/form-upkeep.test.ts'],
  },
  {
    file: 'app/form-upkeep.ts',
    text: 'const { forms = 1 } = bytes', replacement: 'const { forms = RECORD_FORM } = bytes',
    tests: ['app/form-upkeep.test.ts'],
  },
  {
    // The old form stays for ever in a directory that nobody shares.
    file: 'app/form-upkeep.ts',
    text: 'if (replica === null) return beginNewForm(store, () => true);',
    replacement: 'if (replica === null) return;', tests: ['app/form-upkeep.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-changes.ts',
    text: 'delivery.embeddedBody !== null && !mustWriteOldForm(findStaged(transaction));',
    replacement: 'delivery.embeddedBody !== null;',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
  {
    file: 'webhooks/sending/request-builder.ts',
    text: 'if (mustWriteOldForm(findStaged(transaction))) {', replacement: 'if (false) {',
    tests: ['webhooks/deliveries/written-records.test.ts'],
  },
];

const CONVERSION: readonly PlantedFault[] = [
  {
    // Records are written that an older node beside us cannot read.
    file: 'webhooks/deliveries/record-conversion.ts',
    text: '&& !mustWriteOldForm(findCommitted(this.#deps.store));', replacement: ';',
    tests: ['webhooks/deliveries/record-conversion.test.ts'],
  },
  {
    // All nodes do the same work at once.
    file: 'webhooks/deliveries/record-conversion.ts',
    text: 'if (ownership.isMaintainer()) void', replacement: 'void',
    tests: ['webhooks/deliveries/record-conversion.test.ts'],
  },
  {
    // The records stay as they are until the next start.
    file: 'webhooks/deliveries/record-conversion.ts',
    text: 'store.collection(recordFormCollection.name).onChange(convertIfMaintainer),',
    replacement: '', tests: ['webhooks/deliveries/record-conversion.test.ts'],
  },
  {
    // An event stays in the former form until its deliveries, and with them its webhooks, are gone.
    file: 'webhooks/deliveries/record-conversion.ts',
    text: 'fanOuts.onIdle(convertIfMaintainer);', replacement: '',
    tests: ['webhooks/deliveries/record-conversion.test.ts'],
  },
  {
    file: 'webhooks/deliveries/convert-deliveries.ts',
    text: 'isComplete = false;', replacement: '',
    tests: ['webhooks/deliveries/record-conversion.test.ts'],
  },
];

const LEASES: readonly PlantedFault[] = [
  {
    // Another node claims before the owner has surely ended: an event is delivered twice.
    file: 'nodes/lease-table.ts',
    text: 'return renewedMs + lease.lengthMs + MARGIN_MS - monotonicMs;',
    replacement: 'return renewedMs + lease.lengthMs - monotonicMs;',
    tests: ['nodes/lease-table.test.ts'],
  },
  {
    // Results of the last owner count in the next one's term.
    file: 'nodes/lease-table.ts',
    text: 'const term = (this.lease(shard)?.term ?? 0) + 1;',
    replacement: 'const term = this.lease(shard)?.term ?? 1;',
    tests: ['nodes/lease-table.test.ts'],
  },
  {
    // A machine that slept goes on with work that others have taken over.
    file: 'nodes/lease-table.ts',
    text: 'Math.max(now.monotonicMs - renewal.monotonicMs, now.wallMs - renewal.wallMs)',
    replacement: 'now.monotonicMs - renewal.monotonicMs',
    tests: ['nodes/lease-table.test.ts'],
  },
  {
    // The beats of a process that has ended renew leases for the one after it.
    file: 'nodes/lease-table.ts',
    text: 'shard?.lease.node === id && shard.lease.run === run',
    replacement: 'shard?.lease.node === id',
    tests: ['nodes/lease-table.test.ts'],
  },
  {
    // A result is written after the shard was lost and claimed again.
    file: 'nodes/shard-lease.ts',
    text: ' && term === this.term', replacement: '',
    tests: ['nodes/membership.test.ts'],
  },
  {
    // A shard is released while an attempt on it is under way.
    file: 'nodes/shard-balance.ts',
    text: 'givenUpMs !== null && attemptCount === 0)', replacement: 'givenUpMs !== null)',
    tests: ['nodes/membership.test.ts'],
  },
  {
    // Each look gives up more shards, until a node has none.
    file: 'nodes/shard-balance.ts',
    text: '.giveUp - givenUpShards.length;', replacement: '.giveUp;',
    tests: ['nodes/membership.test.ts'],
  },
  {
    // The first node takes all free shards, and the others go without.
    file: 'nodes/shard-balance.ts',
    text: 'free - claimMin - othersLack', replacement: 'free - claimMin',
    tests: ['nodes/shard-balance.test.ts'],
  },
  {
    // Two nodes do the work that is done once for all.
    file: 'nodes/node-ownership.ts',
    text: '\n      && this.#table.remainingMs(this.now()) > 0;', replacement: ';',
    tests: ['nodes/membership.test.ts'],
  },
  {
    // Attempts begin by records that are being loaded anew.
    file: 'nodes/node-ownership.ts',
    text: 'this.isActive && !this.#isReloading()', replacement: 'this.isActive',
    tests: ['nodes/membership.test.ts'],
  },
  {
    // A log is moved under a node that may still be working on it.
    file: 'nodes/lease-holders.ts',
    text: 'validMs: Math.max(validMs, lengthMs + MARGIN_MS)', replacement: 'validMs',
    tests: ['nodes/lease-holders.test.ts'],
  },
  {
    // A node deletes the record of the one that it is a copy of.
    file: 'nodes/membership.ts',
    text: 'if (this.#isOwnRecord(node, this.table.nodes.get(node)?.record ?? null)) {',
    replacement: '{',
    tests: ['nodes/membership.test.ts'],
  },
];

const READS: readonly PlantedFault[] = [
  {
    // A read that waited is served from records that are being loaded.
    file: 'nodes/read-consistency.ts',
    text: 'replica.waitAfterPause().then(() => assertNotReloading(exchange))',
    replacement: 'replica.waitAfterPause()',
    tests: ['nodes/read-consistency.test.ts'],
  },
  {
    // A sender's own header delays or refuses its webhooks.
    file: 'nodes/read-consistency.ts',
    text: 'sequenceHeader !== undefined && !isWebhookCall(exchange.path)',
    replacement: 'sequenceHeader !== undefined',
    tests: ['nodes/read-consistency.test.ts'],
  },
  {
    // The response to a write names no sequence, so that the next read may miss it.
    file: 'nodes/read-consistency.ts',
    text: "!SAFE_METHODS.includes(request.method ?? '') || isWebhookCall(path)",
    replacement: "!SAFE_METHODS.includes(request.method ?? '')",
    tests: ['nodes/read-consistency.test.ts'],
  },
];

const WITHOUT_RECORDS: readonly PlantedFault[] = [
  {
    // While a node loads its records anew, nobody can see its state.
    file: 'nodes/read-consistency.ts',
    text: "'getStatus', 'getStatistics',", replacement: "'getState', 'getStatistics',",
    tests: ['nodes/apps.test.ts'],
  },
];

const DIRECTORY: readonly PlantedFault[] = [
  {
    // Two processes that lock in different ways both write.
    file: 'store/lock/directory-lock.ts',
    text: 'if (!isHeldOtherwise) return lock;', replacement: 'if (true) return lock;',
    tests: ['store/lock/directory-lock.test.ts'],
  },
  {
    file: 'store/lock/exclusive-lock.ts',
    text: ' || await isHeldByFlock()', replacement: '',
    tests: ['store/lock/exclusive-lock.test.ts'],
  },
  {
    // An owner that has not written its name yet counts as dead.
    file: 'store/lock/exclusive-lock.ts',
    text: 'while (isEmpty(files, path) && ', replacement: 'while (false && ',
    tests: ['store/lock/exclusive-lock.test.ts'],
  },
  {
    // The owner in another container, where its pid means nothing, counts as dead.
    file: 'store/lock/lock-owner.ts',
    text: 'if (owner.hasSocket && files.existsSync(socket)) return hasListener(socket, files);',
    replacement: '',
    tests: ['store/lock/directory-lock.test.ts'],
  },
  {
    // A lock that is free names the process that had it.
    file: 'store/lock/directory-lock.ts',
    text: 'this.#files.truncateSync(this.#descriptor, 0);', replacement: '',
    tests: ['store/lock/directory-lock.test.ts'],
  },
];

const MAINTENANCE: readonly PlantedFault[] = [
  {
    // A token that may read books lists the identifiers of tokens.
    file: 'maintenance/identifier-routes.ts',
    text: 'store, collections.filter(isInApi), listed, {',
    replacement: 'store, collections, listed, {',
    tests: ['cli/commands/identifiers.test.ts'],
  },
  {
    // A part of an identifier that names one exactly completes to others as well.
    file: 'maintenance/identifier-routes.ts',
    text: 'if (exactMatch !== undefined && mayFind(exactMatch)) return [exactMatch];',
    replacement: '',
    tests: ['maintenance/identifier-routes.test.ts'],
  },
  {
    // A part of the identifier of a forward completes to it where an event is asked for.
    file: 'app.ts', text: 'new Map([[eventCollection.name, isEvent]])', replacement: 'new Map()',
    tests: ['cli/commands/identifiers.test.ts'],
  },
  {
    // The search through a large catalog holds up all other requests.
    file: 'maintenance/identifier-routes.ts',
    text: 'if (slot % TURN_KEYS === TURN_KEYS - 1) await nextTurn();', replacement: '',
    tests: ['maintenance/identifier-routes.test.ts'],
  },
  {
    file: 'maintenance/backup-folder.ts', text: '.filter(({ madeMs }) => madeMs <= nowMs)',
    replacement: '.filter(({ madeMs }) => !Number.isNaN(madeMs))', tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'maintenance/backup-folder.ts', text: 'status.mtimeMs <= untilMs',
    replacement: 'status.mtimeMs > 0', tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'maintenance/backup-folder.ts', text: 'if (bavail * bsize >= bytes) return;',
    replacement: 'if (bavail >= 0) return;', tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'maintenance/scheduled-backups.ts', text: 'if (!isMaker()) {',
    replacement: 'if (this.#isClosed) {', tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'maintenance/scheduled-backups.ts', text: 'this.#forget();', replacement: '',
    tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'maintenance/scheduled-backups.ts', text: 'backups.length - keep,',
    replacement: 'backups.length - keep - 1,', tests: SCHEDULED_BACKUPS,
  },
  {
    file: 'store/backup/backup.ts', text: 'await verify(part);', replacement: '',
    tests: SCHEDULED_BACKUPS,
  },
  {
    // Each backup leaves the files of the data directory open.
    file: 'maintenance/maintenance-routes.ts',
    text: 'sources.close();', replacement: '',
    tests: ['maintenance/maintenance-routes.test.ts'],
  },
];

export const NODE_FAULTS: readonly PlantedFault[] = [
  ...FORMS, ...CONVERSION, ...LEASES, ...READS, ...WITHOUT_RECORDS, ...DIRECTORY, ...MAINTENANCE,
];
