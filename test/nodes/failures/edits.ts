/** What is changed in the sources of other builds: faults, and what the next release may bring. */
import type { Violation } from '../checker/history.ts';
import type { Edit } from '../support/changed-build.ts';

type Plant = {
  readonly edits: readonly Edit[];
  /** What shows it. */
  readonly scenario: string;
  readonly rule: Violation['rule'];
};

const APPENDER = 'store/replication/appending/appender.ts';

/** Faults, and what shows each. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  'acknowledge before commit': {
    edits: [[APPENDER, 'const isCommitted = await this.#link.ask(session, '
      + 'session.append(logId, position, entry));',
    // Not all, or the life does not even begin.
    `if (entry.lines.includes('"title":"b')) this.#finishCommitted(pending, entry);
     const isCommitted = await this.#link.ask(session, session.append(logId, position, entry));`]],
    scenario: 'a connection is cut before a commit was sent', rule: 'once',
  },
  'drop the barrier': {
    edits: [['store/replication/engine-link.ts', 'const head = await this.barrier(session);',
      'const head = await this.ask(session, session.head());']],
    scenario: 'a phantom', rule: 'image',
  },
  'take a warning for success': {
    edits: [['store/engines/postgres/postgres-session.ts', 'if (warning !== null)', 'if (false)']],
    scenario: 'a wait is cancelled, and a standby promoted', rule: 'image',
  },
  'lose the chain check': {
    edits: [['store/replication/log-entry.ts',
      'if (chain === computeChain(position.chain, batchId, lines))',
      'if (chain !== batchId + lines)']],
    scenario: 'an old backup is restored while a node is away', rule: 'image',
  },
  'tail a standby': {
    edits: [['store/engines/postgres/postgres-session.ts', 'readPage(this.#deps.reader, sequence',
      `readPage({ async queryBytes(text, parameters) {
        const { default: connect } = await import('postgres');
        globalThis.tailed ??= connect(process.env.TAILED, { max: 1, fetch_types: false });
        return globalThis.tailed.unsafe(text, parameters, { prepare: true }).raw();
      } }, sequence`]],
    scenario: 'a standby replays nothing', rule: 'read',
  },
  'send again without looking whether it is there': {
    edits: [
      [APPENDER,
        'const isThere = await this.#link.ask(session, session.holds(sent));',
        'const isThere = false;'],
      [APPENDER,
        'missed.some(({ chain }) => chain === sent.chain)', 'false'],
      // The engine's session looks as well.
      ['store/engines/postgres/postgres-session.ts',
        'return this.holds(entry);', 'return false;'],
    ],
    scenario: 'the answer to a commit is lost', rule: 'once',
  },
  'refuse from an old image': {
    edits: [['store/replication/engine-journal.ts', '? this.#freshReads.catchUp()',
      '? Promise.resolve()']],
    scenario: 'a node does not hear of what another has written', rule: 'refusal',
  },
  'apply an entry twice': {
    edits: [['store/transactions/change-feed.ts', 'this.#notify(sequence, changes);',
      'this.#notify(sequence, changes), this.#notify(sequence, changes);']],
    scenario: 'everything is as ever', rule: 'stream',
  },
  'let new deliveries pass a backfill': {
    edits: [
      ['webhooks/deliveries/sending/delivery-attempter.ts',
        'after === null ? null : decodeHoldingJobId(after)',
        'after === null ? null : decodeHoldingJobId(after) && null'],
      // It takes long enough for something new to come.
      ['webhooks/bulk/run-job.ts', 'CHUNK_RECORDS_MAX = 100', 'CHUNK_RECORDS_MAX = 2'],
    ],
    scenario: 'a webhook is made late', rule: 'overtaken',
  },
  'forget who had a delivery by a backfill': {
    edits: [['webhooks/bulk/backfill.ts',
      'addLateDeliveries(transaction, eventId, [identifier], [hook]);', '']],
    scenario: 'a webhook is made late', rule: 'delivery',
  },
  'begin a cancelled event': {
    edits: [['webhooks/deliveries/delayed-events.ts',
      'if (!transaction.delete(delayedEventCollection.name, id)) return false;\n'
      + '  deleteEvent(transaction, id);',
      'if (transaction.find(delayedEventCollection.name, id) === undefined) return false;']],
    scenario: 'everything is as ever', rule: 'cancelled',
  },
  'begin an event a second early': {
    edits: [['webhooks/deliveries/delayed-events.ts',
      'return computeDueMs(deliverAt, createdAt, nowMs);',
      'return computeDueMs(deliverAt, createdAt, nowMs) - 1000;']],
    scenario: 'everything is as ever', rule: 'early',
  },
  'renew a lease late, and go on meanwhile': {
    edits: [
      ['nodes/lease-table.ts',
        'return this.#msSinceRenewal(now) < lengthMs - attemptMs - MARGIN_MS;',
        'return this.#renewal !== null;'],
      ['nodes/lease-table.ts',
        'return this.#lengths.lengthMs - MARGIN_MS - this.#msSinceRenewal(now);',
        'return 1_000_000;'],
    ],
    scenario: 'an owner is cut off until others have taken over', rule: 'delivery',
  },
};

export const NEXT_VERSION = '99.0.0';
/** A release that knows more: another collection, another member of books and of nodes. */
export const NEXT_RELEASE: readonly Edit[] = [
  ['base/version.ts', "VERSION = '", `VERSION = '${NEXT_VERSION}' || '`],
  ['app.ts', '[bookResource.collection,', "[{ name: 'n', key: 'id' }, bookResource.collection,"],
  ['app/nodes.ts', 'describeNode: () => ({', "describeNode: () => ({ zone: 'a', "],
  ['books/book.ts', 'subtitle: {', "shelfmark: { schema: { kind: 'string' } }, subtitle: {"],
];
/** A release that reads logs of another format. */
export const NEXT_FORMAT: readonly Edit[] = [
  ...NEXT_RELEASE, ['store/replication/log-entry.ts', 'LOG_FORMAT = 2', 'LOG_FORMAT = 3'],
];
