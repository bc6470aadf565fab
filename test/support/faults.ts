/** Ways in which each kind of call may fail, and hooks that make the calls fail. */
import type { Call, CallKind, Fault } from './simulated-files.ts';

export const FAULTS: Readonly<Record<CallKind, readonly Fault[]>> = {
  'open': [{ code: 'EMFILE' }, { code: 'ENOSPC' }],
  'read': [{ code: 'EIO' }, { bytes: 7 }],
  'write': [
    { code: 'ENOSPC' }, { code: 'ENOSPC', bytes: 20 }, { code: 'EIO', bytes: 250 },
    { bytes: 1 }, { bytes: 60 },
  ],
  'datasync': [
    { code: 'EIO' }, { code: 'EIO', survival: { kind: 'kept' } },
    { code: 'EIO', survival: { kind: 'random', seed: 3, pageBytes: 64 } },
  ],
  'truncate': [{ code: 'EIO' }],
  'rename': [{ code: 'EIO' }, { code: 'ENOSPC' }],
  'unlink': [{ code: 'EIO' }],
  'list': [{ code: 'EIO' }],
  'sync-directory': [{ code: 'EIO' }],
  'make-directory': [{ code: 'EACCES' }],
};

/** What is done when a call of some kind has failed, and may fail too. */
export const CLEANUPS: readonly {
  readonly also: CallKind; readonly after: readonly CallKind[];
}[] = [
  { also: 'truncate', after: ['write'] },
  { also: 'datasync', after: ['write', 'rename'] },
  { also: 'open', after: ['datasync'] },
  { also: 'unlink', after: ['write', 'datasync', 'rename', 'sync-directory'] },
];

export type FaultAt = {
  /** The call, counted from 0, that fails. */
  readonly number: number;
  readonly fault: Fault;
  /** The next call of this kind fails too. */
  readonly also: CallKind | null;
};

/** A hook that makes calls fail, and the calls it has seen. */
export function failAt({ number, fault, also }: FaultAt): {
  readonly calls: readonly Call[]; readonly onCall: (call: Call) => Fault | null;
} {
  const calls: Call[] = [];
  let next = also;
  return {
    calls,
    onCall: (call) => {
      const position = calls.push(call) - 1;
      if (position === number) return fault;
      if (position < number || call.kind !== next) return null;
      next = null;
      return { code: 'EIO' };
    },
  };
}
