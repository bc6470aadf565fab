/**
 * Stages an apply in one transaction, with all checks that single writes have, and returns the plan
 * of exactly what it has staged: so the plan that is shown is the one that is done. A dry run is
 * staged as well; the caller gives it up.
 *
 * The order lets names go from one record to another: what is pruned goes first, then records give
 * up names that others get. Checks that a later record may put right come last.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError, type FieldError } from '../../base/errors.ts';
import { invalid } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { joinFirst } from '../../base/text/error-message.ts';
import type { Steps } from '../../base/turns.ts';
import { describeChange, type DescribedChange } from '../../resources/change-log.ts';
import { putNextVersion } from '../../resources/record.ts';
import type { Repository } from '../../resources/repository.ts';
import type { Change, Transaction, TransactionInputs } from '../../store/store-port.ts';
import { stageMark } from '../applied-records.ts';
import {
  findUnresolved, type ConfigurationDocument, type DocumentRecord,
} from './configuration-document.ts';
import { isSameMemory } from '../work/item-spec.ts';
import { isReplacedSecret, markGivenSecret, overlapSecrets } from '../members/rotate-secret.ts';
import { sendsSecret } from '../outgoing/signing-member.ts';
import { describeMembers, listChangedMembers } from './configuration-plan.ts';
import type { ConfigurationPlan, PlannedChange } from './document-schema.ts';
import { KEEPABLE_MEMBERS, ROTATION, isKeepable } from './keepable-members.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';
import type { ConfiguredRecord, StoredConfiguration } from './stored-configuration.ts';

type Repositories = Readonly<Record<RecordKind['member'], Repository>>;

export type ConfiguredRecords = {
  readonly repositories: Repositories;
  /** How many requests or deliveries wait for a webhook. */
  readonly countWaiting: (kind: RecordKind, id: string) => number;
};

/** A record of the document with the identifier that it gets if it is new. */
type ApplicableRecord = DocumentRecord & { readonly newId: string };

/** Members to store of valid records, and the stored record that they were parsed for. */
type ParsedRecords = Map<ApplicableRecord, {
  readonly bytes: Buffer | null; readonly fields: JsonObject;
}>;

export type ApplicableDocument = Omit<ConfigurationDocument, 'records'> & {
  readonly records: readonly ApplicableRecord[];
};

/**
 * Parses the records of a document before its transaction, in steps: to parse thousands of them
 * takes most of an apply, and a transaction is one turn of the event loop.
 */
export function* parseAhead(
  repositories: Repositories, document: ApplicableDocument,
  stored: StoredConfiguration, nowMs: number,
): Steps<ParsedRecords> {
  const beforeByName = indexByName(stored);
  const parsedRecords: ParsedRecords = new Map();
  for (const record of document.records) {
    const before = beforeByName.get(record.kind)?.get(record.name) ?? null;
    const { body } = keepMembers(record, before, document, nowMs);
    try {
      if (findUnresolved(body, record.pointer).length === 0) {
        const { fields } =
          repositories[record.kind.member].stager.parse(body, before, 'apply', nowMs);
        parsedRecords.set(record, { bytes: before?.bytes ?? null, fields });
      }
    } catch (thrown) {
      // The transaction parses it again, and tells all errors.
      if (!(thrown instanceof AppError)) throw thrown;
    }
    yield;
  }
  return parsedRecords;
}

/** `removedRecords` are told to their repositories once the transaction is on disk. */
export type StagedApply = {
  readonly plan: ConfigurationPlan;
  readonly removedRecords: readonly { readonly kind: RecordKind; readonly id: string }[];
  /** To be logged once the transaction is on disk. */
  readonly descriptions: readonly DescribedChange[];
  /** Lists all outgoing webhooks as they are after it, and the identifiers of those it changes. */
  readonly foreseeOutgoing: () => ForeseenOutgoing;
};

type ForeseenOutgoing = {
  readonly webhooks: readonly JsonObject[]; readonly changedIds: ReadonlySet<string>;
};

/**
 * Stages what makes the configuration the document's, and what is pruned. Throws `invalid` with
 * pointers into the document, and `conflict`.
 */
export function stageApply(
  { repositories, countWaiting }: ConfiguredRecords, parsedRecords: ParsedRecords,
  transaction: Transaction, document: ApplicableDocument, stored: StoredConfiguration,
  inputs: TransactionInputs,
): StagedApply {
  const context = { repositories, transaction, inputs };
  const writes = planWrites(context, parsedRecords, document, stored);
  // The writes of new records have no list of changed members, and stay.
  const changes = ({ changedMembers }: PlannedWrite): boolean => changedMembers?.length !== 0;
  const changedWrites = writes.filter(changes);
  const unlistedRecords = listUnlisted(document, stored);
  const prunedRecords = document.isPruning ? unlistedRecords : [];
  const removals = prunedRecords.map(({ kind, record }) => ({
    kind, change: repositories[kind.member].stager.remove(transaction, record, inputs),
  }));
  freeNames(context, writes);
  const puts = stageWrites(context,
    writes.filter((write) => changes(write) || isMarkMoved(write)), document.set);
  for (const { kind, change } of [...puts, ...removals]) {
    repositories[kind.member].stager.check(transaction, change, inputs);
  }
  const descriptions = [...puts, ...removals]
    .map(({ kind, change }) => describeChange(kind.noun, change));
  return {
    descriptions,
    plan: {
      changes: [
        ...changedWrites.map((write) => describeWrite(write, inputs.nowMs)),
        ...prunedRecords.map(({ kind, record: { id, name } }): PlannedChange => {
          const waiting = countWaiting(kind, id);
          return {
            sign: '-', kind: kind.noun, name: name ?? id, ...waiting === 0 ? {} : { waiting },
          };
        }),
      ],
      unchanged: writes.length - changedWrites.length,
      ...describeOff(writes),
      ...document.isPruning ? {} : describeUnlisted(unlistedRecords),
      ...describeKept(writes),
    },
    removedRecords: prunedRecords.map(({ kind, record: { id } }) => ({ kind, id })),
    foreseeOutgoing: () => ({
      webhooks: foreseeOutgoing(writes, prunedRecords.map(({ record }) => record), stored),
      changedIds: new Set(changedWrites.map(getWrittenId)),
    }),
  };
}

function foreseeOutgoing(
  writes: readonly PlannedWrite[], prunedRecords: readonly ConfiguredRecord[],
  { records }: StoredConfiguration,
): readonly JsonObject[] {
  const isOutgoing = ({ member }: RecordKind): boolean => member === 'outgoingWebhooks';
  const ids = new Set([...writes.map(getWrittenId), ...prunedRecords.map(({ id }) => id)]);
  const otherRecords = [...records].flatMap(([kind, list]) => isOutgoing(kind) ? list : [])
    .filter(({ id }) => !ids.has(id));
  return [
    ...otherRecords.map(({ id, members }) => ({ ...members, identifier: id })),
    ...writes.filter(({ record: { kind } }) => isOutgoing(kind))
      .map((write) => ({ ...write.fields, identifier: getWrittenId(write) })),
  ];
}

function getWrittenId({ before, record }: Pick<PlannedWrite, 'before' | 'record'>): string {
  return before?.id ?? record.newId;
}

/** More errors are not collected: for a wrong name the right one is searched, which takes long. */
const ERRORS_MAX = 100;

type StageContext = {
  readonly repositories: Repositories;
  readonly transaction: Transaction;
  readonly inputs: TransactionInputs;
};

type PlannedWrite = {
  readonly record: ApplicableRecord;
  readonly before: ConfiguredRecord | null;
  readonly fields: JsonObject;
  /** The names of the members that change; null for a new record. */
  readonly changedMembers: readonly string[] | null;
  /** The names of the members that stay as they are stored, although the document differs. */
  readonly keptMembers: readonly string[];
};

function planWrites(
  { repositories, inputs }: StageContext, parsedRecords: ParsedRecords,
  document: ApplicableDocument, stored: StoredConfiguration,
): readonly PlannedWrite[] {
  const { records, overlaps } = document;
  const beforeByName = indexByName(stored);
  const errors = [...document.errors];
  const writes = records.flatMap((record) => {
    if (errors.length >= ERRORS_MAX) return [];
    const { kind, name } = record;
    const before = beforeByName.get(kind)?.get(name) ?? null;
    const { body, keptMembers } = keepMembers(record, before, document, inputs.nowMs);
    const ahead = parsedRecords.get(record);
    const isSame = ahead !== undefined && isSameVersion(ahead.bytes, before?.bytes ?? null);
    if (!isSame) errors.push(...findUnresolved(body, record.pointer));
    return collectErrors({ record, keptMembers }, errors, () => {
      const members = isSame ? ahead.fields
        : repositories[kind.member].stager.parse(body, before, 'apply', inputs.nowMs).fields;
      if (before === null) {
        return { record, before, fields: members, changedMembers: null, keptMembers };
      }
      const fields = markGivenSecret(
        replaceSecret(kind, before.members, members, overlaps ? inputs.nowMs : null),
        record.body['secret']);
      const changedMembers =
        listChangedMembers({ kind, name, before: before.members, after: fields });
      return { record, before, fields, changedMembers, keptMembers };
    });
  });
  if (errors.length > 0) throw invalid(errors);
  return writes;
}

/** The body of a record with the stored values of the members that `keep` leaves to others. */
function keepMembers(
  { kind, body }: DocumentRecord, before: ConfiguredRecord | null,
  { keep }: Pick<ConfigurationDocument, 'keep'>, nowMs: number,
): { readonly body: JsonObject; readonly keptMembers: readonly string[] } {
  if (before === null || keep.length === 0) return { body, keptMembers: [] };
  const { members } = before;
  const wholeBody: Record<string, JsonValue> = { ...body };
  const keptMembers = KEEPABLE_MEMBERS
    .filter((name) => name === 'secret' ? keepsSecret(body, members, keep, nowMs)
      : isKeepable(kind.member, name, keep))
    .filter((name) => encodeJson(body[name] ?? null) !== encodeJson(members[name] ?? null));
  for (const name of keptMembers) wholeBody[name] = members[name] ?? null;
  return { body: wholeBody, keptMembers };
}

/** The stored secret is not kept where requests hold it and go to another target now. */
function keepsSecret(
  body: JsonObject, stored: JsonObject, keep: readonly string[], nowMs: number,
): boolean {
  if (stored['secret'] === undefined) return false;
  const isMoved = !keep.includes('targetUrl') && body['targetUrl'] !== stored['targetUrl'];
  if (isMoved && sendsSecret(body)) return false;
  return keep.includes('secret')
    || keep.includes(ROTATION) && isReplacedSecret(stored, body['secret'], nowMs);
}

function isSameVersion(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : isSameMemory(left, right);
}

/** Whether the document gives the secret of a rotation, which is then noted as the given one. */
function isMarkMoved({ before, fields }: PlannedWrite): boolean {
  return encodeJson(before?.members['replacedSecrets']) !== encodeJson(fields['replacedSecrets']);
}

/** `fields` with what becomes of a secret that they change; null: it ends at once. */
function replaceSecret(
  kind: RecordKind, before: JsonObject, fields: JsonObject, nowMs: number | null,
): JsonObject {
  if (before['secret'] === fields['secret']) return fields;
  const { previousSecret: _, ...alone } = fields;
  return nowMs === null ? alone : kind.dropUnusedPrevious(overlapSecrets(alone, before, nowMs));
}

function indexByName(
  { records }: StoredConfiguration,
): ReadonlyMap<RecordKind, ReadonlyMap<string, ConfiguredRecord>> {
  return new Map([...records].map(([kind, list]) => [kind,
    new Map(list.flatMap((record) => record.name === null ? [] : [[record.name, record]]))]));
}

type UnlistedRecord = { readonly kind: RecordKind; readonly record: ConfiguredRecord };

/**
 * The records that an apply of the set created and the document does not have, which are those to
 * prune: webhooks first, then the configurations that they name.
 */
function listUnlisted(
  { records, set }: ApplicableDocument, stored: StoredConfiguration,
): readonly UnlistedRecord[] {
  const names = new Map(RECORD_KINDS.map((kind) => [kind,
    new Set(records.filter((record) => record.kind === kind).map(({ name }) => name))]));
  return RECORD_KINDS.toReversed().flatMap((kind) => (stored.records.get(kind) ?? [])
    .filter((record) => record.set === set
      && (record.name === null || names.get(kind)?.has(record.name) !== true))
    .map((record) => ({ kind, record })));
}

/**
 * Stages, without its name, each record whose name another record takes, so that two may swap them:
 * a unique value may not be that of two records even for a moment. The name here is the member
 * `name`, and not what a document finds the record by.
 */
function freeNames(
  { transaction, inputs }: StageContext, writes: readonly PlannedWrite[],
): void {
  // The names and path segments of incoming webhooks are values of one unique index.
  const wantedNames = new Map(RECORD_KINDS.map((kind) => [kind, new Set(writes
    .filter(({ record }) => record.kind === kind)
    .flatMap(({ fields }) => [fields['name'], fields['pathSegment']]))]));
  for (const { record: { kind }, before, fields } of writes) {
    const name = before?.members['name'];
    if (before === null || typeof name !== 'string' || name === fields['name']) continue;
    if (wantedNames.get(kind)?.has(name) !== true) continue;
    const { id, bytes, members: { name: _, ...rest } } = before;
    putNextVersion(transaction, kind.collection, id, bytes, rest, inputs.nowMs);
  }
}

function describeOff(writes: readonly PlannedWrite[]): Pick<ConfigurationPlan, 'off'> {
  const off = writes.filter(({ record: { body }, before }) =>
    before?.members['enabled'] === false && (body['enabled'] ?? null) === null)
    .map(({ record: { kind: { noun }, name } }) =>
      `${noun} ${name} stays off: hookshelf ${noun.replace(' ', '')}:enable ${name}`);
  return off.length === 0 ? {} : { off };
}

function describeUnlisted(
  records: readonly UnlistedRecord[],
): Pick<ConfigurationPlan, 'unlisted'> {
  const unlisted = records.map(({ kind, record: { id, name } }) => `${kind.noun} ${name ?? id}`);
  return unlisted.length === 0 ? {} : { unlisted };
}

/** A line for all that keep the same members: of many customers that is mostly the secret alone. */
function describeKept(writes: readonly PlannedWrite[]): Pick<ConfigurationPlan, 'kept'> {
  const groups = new Map<string, KeptGroup>();
  for (const { record: { kind: { noun }, name }, keptMembers } of writes) {
    if (keptMembers.length === 0) continue;
    const members = keptMembers.join(', ');
    const group = groups.get(noun + members) ?? { noun, members, names: [] };
    group.names.push(name);
    groups.set(noun + members, group);
  }
  const kept = [...groups.values()].map(describeKeptAlike);
  return kept.length === 0 ? {} : { kept };
}

/** The names of webhooks of one kind that keep the same members. */
type KeptGroup = {
  readonly noun: string; readonly members: string; readonly names: string[];
};

function describeKeptAlike({ noun, members, names }: KeptGroup): string {
  const kept = `what is stored, not what the file says: ${members}`;
  const wayOut = 'or apply without keep, to change that';
  return names.length === 1 ? `${noun} ${names.join()} keeps ${kept}; update it, ${wayOut}`
    : `${names.length} ${noun}s keep ${kept} (${joinFirst(names)}); update them, ${wayOut}`;
}

type StagedChange = { readonly kind: RecordKind; readonly change: Change };

function stageWrites(
  context: StageContext, writes: readonly PlannedWrite[], set: string,
): readonly StagedChange[] {
  const errors: FieldError[] = [];
  const changes = writes.flatMap((write) => errors.length >= ERRORS_MAX ? []
    : collectErrors(write, errors, () => stageWrite(context, write, set)));
  if (errors.length > 0) throw invalid(errors);
  return changes;
}

function stageWrite(
  { repositories, transaction, inputs }: StageContext,
  { record, before, fields }: PlannedWrite, set: string,
): StagedChange {
  const { kind } = record;
  const id = getWrittenId({ before, record });
  const { stager } = repositories[kind.member];
  const version = stager.encode(id, fields, before?.bytes ?? null, inputs.nowMs);
  const { change } = stager.put(transaction, version, inputs);
  if (before === null) {
    const createdAt = formatTimestamp(version.updatedMs);
    stageMark(transaction, { collection: kind.collection.name, id, createdAt }, set);
  }
  return { kind, change };
}

function describeWrite(
  { record: { kind, name }, before, fields, changedMembers: members }: PlannedWrite, nowMs: number,
): PlannedChange {
  if (before === null || members === null) return { sign: '+', kind: kind.noun, name };
  const change = { kind, name, before: before.members, after: fields };
  return {
    sign: '~', kind: kind.noun, name, members, ...describeMembers(change, members, nowMs),
  };
}

/**
 * The result of `run` in an array, which is empty when it throws `invalid`: then its errors are
 * added with their places in the document. Any other error is thrown with the record's name.
 */
function collectErrors<T>(
  { record: { kind, name, pointer }, keptMembers }: Pick<PlannedWrite, 'record' | 'keptMembers'>,
  errors: FieldError[], run: () => T,
): readonly T[] {
  try {
    return [run()];
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    if (thrown.code !== 'invalid') {
      const { code, message, details } = thrown;
      throw new AppError(code, `${kind.noun} ${name}: ${message}`, details, thrown);
    }
    const { errors: problems = [{ pointer: '', detail: thrown.message }] } = thrown.details;
    for (const problem of problems) {
      const place = pointer + problem.pointer;
      // The document's own errors, such as of a reference that is none here, say more.
      if (!errors.some((other) => other.pointer === place)) {
        const isKept = keptMembers.some((member) => problem.pointer.split('/')[1] === member);
        const detail = isKept ? `${problem.detail} (it is stored so, and kept)` : problem.detail;
        errors.push({ pointer: place, detail });
      }
    }
    return [];
  }
}
