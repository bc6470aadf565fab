import type { Given, Place } from './place.ts';

/** What a setting visibly changes in a server that was started with it. */
export type Row = {
  readonly value: unknown;
  /** Further settings, without and with the value. */
  readonly beside?: Given;
  /** What is seen, as the table compares it. */
  readonly observe: (place: Place) => Promise<unknown>;
  readonly changed: unknown;
  /** What is seen by default; not given where waiting for that would take too long. */
  readonly standard?: unknown;
  /** By default it sees nothing that other rows do, and shares a server with them. */
  readonly isShared?: true;
};

export type Rows = Readonly<Record<string, Row>>;
