/** The part of `node:sqlite` that `bare-sqlite.ts` uses: the Node of our types has none. */
declare module 'node:sqlite' {
  export type SqlValue = string | number | null;

  export class StatementSync {
    all(...values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
    run(...values: readonly SqlValue[]): unknown;
  }

  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
  }
}
