/** The inventory of a directory: which of the store's files it holds, and how they are named. */
import { join } from 'node:path';
import type { Files } from './files.ts';

/**
 * G is a generation, a decimal number of at least six digits.
 *
 *   journal-G.jsonl            a journal (journal-line.ts)
 *   <collection>-G.json        a snapshot (snapshot.ts)
 *   journal-G-<offset>.torn    a torn end that was cut off; a further one ends in `-<count>.torn`
 *   journal-G.unsynced         a sync of that journal failed
 *   journal-G.replacing        G takes the place of all older ones (replacement.ts)
 *   <name>.tmp                 not finished, worthless
 *   manifest.json              lists the files of a backup (backup/manifest.ts)
 *   backup.pending             empty; marks a backup that is not whole (backup/backup.ts)
 */
export type Inventory = {
  readonly journals: readonly number[];
  /** The names of collections that have a snapshot, by generation. */
  readonly snapshots: ReadonlyMap<number, readonly string[]>;
  readonly unsynced: readonly number[];
  readonly replacing: readonly number[];
  readonly torn: readonly { readonly name: string; readonly generation: number }[];
  readonly temporary: readonly string[];
  /** The manifest, and the mark of a backup that is not whole: the other files are a backup. */
  readonly backupNotes: readonly string[];
};

const NAME_PATTERN = new RegExp([
  /^([a-z]+(?:-[a-z]+)*)-(\d{6,15})/,
  /(?:\.(json|jsonl|unsynced|replacing)|-\d+(?:-\d+)?\.torn)(\.tmp)?$/,
].map(({ source }) => source).join(''));
const PROBE_NAME = 'probe.tmp';
export const MANIFEST_NAME = 'manifest.json';
/** The note in the directory of a copy (copy-note.ts). */
export const COPY_NOTE_NAME = 'copy.json';
/** The mark of a backup that is not whole: see backup/backup.ts. */
export const BACKUP_PENDING = 'backup.pending';
/** The folder of a node's local snapshots of an engine's records: see replication/. */
export const REPLICA_FOLDER = 'replica';

export function journalName(generation: number): string {
  return `journal-${formatGeneration(generation)}.jsonl`;
}

export function snapshotName(collection: string, generation: number): string {
  return `${collection}-${formatGeneration(generation)}.json`;
}

export function unsyncedName(generation: number): string {
  return `journal-${formatGeneration(generation)}.unsynced`;
}

export function replacingName(generation: number): string {
  return `journal-${formatGeneration(generation)}.replacing`;
}

/** The name of a torn end. `copyNumber` is above 1 after earlier ones at the same offset. */
export function tornName(generation: number, offset: number, copyNumber = 1): string {
  const suffix = copyNumber === 1 ? '' : `-${copyNumber}`;
  return `journal-${formatGeneration(generation)}-${offset}${suffix}.torn`;
}

export function temporaryName(name: string): string {
  return `${name}.tmp`;
}

/** The name of the folder for what was there before a restore at `nowMs`. */
export function nameOldState(nowMs: number): string {
  return `before-${new Date(nowMs).toISOString().replaceAll(':', '-')}`;
}

/** Whether a file of this name holds data: a snapshot, a journal, or a torn end. */
export function isStoreName(name: string): boolean {
  return NAME_PATTERN.test(name) && !name.endsWith('.tmp');
}

/** Whether there are snapshots, journals or what belongs to them. */
export function holdsData(files: Files, directory: string): boolean {
  return files.listSync(directory).some((name) => isStoreName(name) || isBackupNote(name));
}

/** Whether a directory belongs to a node of an engine, and holds no records of its own. */
export function isReplicaDirectory(files: Files, directory: string): boolean {
  return files.existsSync(join(directory, REPLICA_FOLDER))
    && !files.listSync(directory).some(isStoreName);
}

/** Whether a file of this name is part of a backup: a snapshot or a journal. */
export function isBackupName(name: string): boolean {
  return isStoreName(name) && (name.endsWith('.json') || name.endsWith('.jsonl'));
}

export function readInventory(files: Files, directory: string): Inventory {
  const journals: number[] = [];
  const snapshots = new Map<number, string[]>();
  const unsynced: number[] = [];
  const replacing: number[] = [];
  const torn: { name: string; generation: number }[] = [];
  const temporary: string[] = [];
  const backupNotes: string[] = [];
  for (const name of files.listSync(directory)) {
    if (isBackupNote(name)) backupNotes.push(name);
    if (name === PROBE_NAME) temporary.push(name);
    const [, stem = '', digits = '', kind = 'torn', temporarySuffix] =
      NAME_PATTERN.exec(name) ?? [];
    const generation = Number(digits);
    if (stem === '' || formatGeneration(generation) !== digits) continue;
    if (temporarySuffix !== undefined) {
      temporary.push(name);
    } else if (kind === 'json') {
      snapshots.set(generation, [...snapshots.get(generation) ?? [], stem].sort());
    } else if (stem === 'journal') {
      if (kind === 'jsonl') journals.push(generation);
      else if (kind === 'unsynced') unsynced.push(generation);
      else if (kind === 'replacing') replacing.push(generation);
      else torn.push({ name, generation });
    }
  }
  journals.sort((left, right) => left - right);
  return { journals, snapshots, unsynced, replacing, torn, temporary, backupNotes };
}

/** The names of all snapshots and journals: what a state is read from. */
export function listStateNames({ snapshots, journals }: Inventory): string[] {
  return [
    ...[...snapshots].flatMap(([generation, collections]) =>
      collections.map((collection) => snapshotName(collection, generation))),
    ...journals.map(journalName),
  ];
}

function isBackupNote(name: string): boolean {
  return name === MANIFEST_NAME || name === BACKUP_PENDING;
}

function formatGeneration(generation: number): string {
  return String(generation).padStart(6, '0');
}
