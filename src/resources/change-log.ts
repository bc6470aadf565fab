/**
 * Logs who changed what: one info line for each change of the configuration that somebody has asked
 * for. It names the members that change, and never their values, which may be secrets.
 */
import { encodeJson } from '../base/json/encode.ts';
import type { JsonObject } from '../base/schema.ts';
import type { Exchange } from '../server/http-route.ts';
import type { Change } from '../store/store-port.ts';
import { decodeRecord } from './record.ts';
import type { WriteOptions } from './repository.ts';

type ChangeRequest = Pick<Exchange, 'caller' | 'log'>;

/**
 * Runs a write of records of a kind, and logs the change of each once that is on disk. `kind` is
 * their noun; `isRestored`: the write puts a record back.
 */
export async function logWrite<T>(
  request: ChangeRequest, kind: string, write: (options: WriteOptions) => Promise<T>,
  isRestored = false,
): Promise<T> {
  // The change is described inside the transaction: later the bytes may be others.
  const changes = new Map<string, DescribedChange>();
  const result = await write({
    onStaged(change) {
      const description = describeChange(kind, change);
      changes.set(change.id,
        isRestored ? { ...description, verb: 'restored', members: null } : description);
    },
  });
  for (const change of changes.values()) logChange(request, change);
  return result;
}

export type DescribedChange = {
  /** The noun of the record's kind. */
  readonly kind: string;
  readonly verb: 'created' | 'changed' | 'deleted' | 'restored';
  readonly identifier: string;
  readonly name: string | null;
  /** The members that differ; null of a record that is deleted or put back. */
  readonly members: readonly string[] | null;
};

export function describeChange(
  kind: string, { id: identifier, before, after }: Pick<Change, 'id' | 'before' | 'after'>,
): DescribedChange {
  const earlier = before === null ? null : decodeRecord(before);
  const later = after === null ? null : decodeRecord(after);
  const { name, pathSegment } = later ?? earlier ?? {};
  return {
    kind, identifier, name: readText(name) ?? readText(pathSegment),
    verb: later === null ? 'deleted' : earlier === null ? 'created' : 'changed',
    members: later === null ? null : listChangedNames(earlier ?? {}, later),
  };
}

/** Logs nothing of a record that was written as it was. */
export function logChange(
  { caller: who, log }: ChangeRequest, { verb, name, members, kind, identifier }: DescribedChange,
): void {
  if (members?.length === 0) return;
  log.info(`${kind} ${verb}`, {
    who, kind, identifier, ...name === null ? {} : { name }, ...members === null ? {} : { members },
  });
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Members that the service writes by itself. */
const SERVICE_MEMBERS =
  ['identifier', 'createdAt', 'updatedAt', 'hash', 'boundHash', 'boundScope', 'replacedSecrets'];

function listChangedNames(earlier: JsonObject, later: JsonObject): readonly string[] {
  const names = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return names.filter((name) => !SERVICE_MEMBERS.includes(name)
    && encodeJson(earlier[name]) !== encodeJson(later[name]));
}
