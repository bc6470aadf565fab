/** Types of the package `postgres` that driver.ts uses. It is installed by the user, if at all. */
declare module 'postgres' {
  import type { Socket } from 'node:net';

  export type PostgresRow = Readonly<Record<string, unknown>>;

  export type PostgresColumns = readonly (Buffer | null)[];

  /** A notice that comes with a reply, or an error. */
  export type PostgresNotice = {
    readonly severity?: string; readonly code?: string; readonly message?: string;
  };

  interface PostgresQuery<Row, Columns> extends Promise<readonly Row[]> {
    /** Rows as the bytes of their columns, in order: views of what was received. */
    raw(): Promise<readonly Columns[]>;
  }

  interface PostgresClient {
    unsafe(
      text: string, parameters: (string | number)[], options: { readonly prepare: boolean },
    ): PostgresQuery<PostgresRow, PostgresColumns>;
    /** Rows of one statement, or of each of several; `raw` is for several. */
    unsafe(
      text: string,
    ): PostgresQuery<PostgresRow | readonly PostgresRow[], readonly PostgresColumns[]>;
  }

  type PostgresOptions = {
    readonly socket: () => Promise<Socket>;
    readonly host: string; readonly port: number;
    readonly user: string; readonly database: string;
    readonly password: () => string;
    readonly ssl: false;
    readonly max: 1;
    readonly prepare: true;
    readonly fetch_types: false;
    readonly no_subscribe: true;
    readonly target_session_attrs: 'primary';
    readonly connect_timeout: number;
    readonly idle_timeout: null; readonly max_lifetime: null;
    readonly keep_alive: null; readonly sslnegotiation: null; readonly debug: false;
    readonly backoff: false; readonly max_pipeline: number; readonly publications: string;
    readonly connection: { readonly application_name: string };
    readonly onnotice: (notice: PostgresNotice) => void;
    readonly onnotify: (channel: string, payload: string) => void;
  };

  export default function postgres(options: PostgresOptions): PostgresClient;
}
