/** The names of the store's files, and which of them a directory holds. */
import { join } from 'node:path';
import type { Files } from './files.ts';

/**
 * Names: `journal-G.jsonl` and `<collection>-G.json` as the format comments say, G being a decimal
 * number of at least six digits; `.tmp` behind a name: not finished, worth nothing;
 * `journal-G-<offset>.torn` (or `-<offset>-<count>`): what was cut off a torn end;
 * `journal-G.unsynced`: a sync of that journal failed.
 */
export type Inventory = {
  /** Generations, rising. */
  readonly journals: readonly number[];
  /** Names of collections by generation. */
  readonly snapshots: ReadonlyMap<number, readonly string[]>;
  readonly unsynced: readonly number[];
  readonly torn: readonly { readonly name: string; readonly generation: number }[];
  readonly temporary: readonly string[];
};

const NAME_PATTERN = new RegExp([
  /^([a-z]+(?:-[a-z]+)*)-(\d{6,15})/, /(?:\.(json|jsonl|unsynced)|-\d+(?:-\d+)?\.torn)(\.tmp)?$/,
].map(({ source }) => source).join(''));
const PROBE_NAME = 'probe.tmp';
/** What a backup holds: see backup/manifest.ts. */
export const MANIFEST_NAME = 'manifest.json';
/** What a node keeps of an engine's records: see replication/local-image.ts. */
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

/** `copyNumber`: an end torn at the same place before keeps its name. */
export function tornName(generation: number, offset: number, copyNumber = 1): string {
  const suffix = copyNumber === 1 ? '' : `-${copyNumber}`;
  return `journal-${formatGeneration(generation)}-${offset}${suffix}.torn`;
}

export function temporaryName(name: string): string {
  return `${name}.tmp`;
}

/** Whether a file of this name is data: a snapshot or journal, or something kept aside. */
export function isStoreName(name: string): boolean {
  return NAME_PATTERN.test(name) && !name.endsWith('.tmp');
}

/** Whether a directory is a node's, whose records an engine keeps, and holds none itself. */
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
  const torn: { name: string; generation: number }[] = [];
  const temporary: string[] = [];
  for (const name of files.listSync(directory)) {
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
      else torn.push({ name, generation });
    }
  }
  journals.sort((left, right) => left - right);
  return { journals, snapshots, unsynced, torn, temporary };
}

function formatGeneration(generation: number): string {
  return String(generation).padStart(6, '0');
}
