/**
 * The log in PostgreSQL, in the schema `hookshelf`:
 *
 * - `head`: one row, the end of the log. `chain` is '' at sequence 0. `floor` is the sequence of
 *   the oldest journal row that is left (0: none was removed).
 * - `journal`: a row a batch, for the transactions `first` to `sequence`; `lines` are the lines of
 *   the file journal (journal/journal-line.ts) as they are.
 * - `snapshot`: an image of the store at `sequence` and `chain`, in `parts` parts. The row is
 *   written once all parts are, so `complete` is always true; readers check it all the same.
 * - `snapshot_part`: `lines` is the part as text. A part that is no text (UTF-8 without NUL), or
 *   that begins with `base64:` itself, is `base64:` and the base64 of its bytes. `sha256` is the
 *   digest of the bytes; the reader checks it.
 * - `node`: a row a node; its durable update proves that all before it is durable (the barrier).
 *
 * Valid is what the head leads to: rows are written with the head in one transaction, so a row
 * beyond it cannot be. A server may show rows that its standbys lack (a phantom: its power failed
 * before they confirmed); they are told apart by the chain, and by the barrier.
 */
import { ENTRY_COLUMNS, HEAD_COLUMNS } from './rows.ts';

/** Sent only where the schema is missing: a user without the right may be given the schema. */
export const MAKE_SCHEMA = 'create schema if not exists hookshelf';

export const MAKE_TABLES = `
create table if not exists hookshelf.head (one bool primary key default true check (one),
  log uuid not null, format int not null, sequence bigint not null, chain text not null,
  floor bigint not null) with (fillfactor=10);
create table if not exists hookshelf.journal (sequence bigint primary key, first bigint not null,
  batch uuid unique not null, chain text not null, lines text not null);
create table if not exists hookshelf.snapshot (sequence bigint primary key, chain text not null,
  parts int not null, complete bool not null);
create table if not exists hookshelf.snapshot_part (sequence bigint, part int, sha256 text,
  lines text, primary key (sequence, part));
create table if not exists hookshelf.node (node uuid primary key, beat bigint not null)`;

/** Lets one of several starting nodes create the tables. The transaction's end frees the lock. */
export const MAKE_ALONE = "select pg_advisory_xact_lock(hashtext('hookshelf'))";

export const HAS_TABLES = "select to_regclass('hookshelf.node') is not null as is_there, "
  + "exists (select 1 from pg_namespace where nspname = 'hookshelf') as has_schema";

/**
 * Settings of a connection, which override the server's: those must neither cancel an append that
 * waits for its standbys nor hide the warning of one that was cancelled. Two time-outs of 2 s are
 * meant to cancel, and cancel no commit: that of an idle transaction frees the lock of a node that
 * stopped while it held it, and that of a lock lets the other nodes report that they cannot write.
 */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  client_min_messages: 'warning',
  default_transaction_isolation: 'read committed',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '2s',
  statement_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  search_path: 'pg_catalog',
  // The same statements run all the time: reading a page took 186 µs of the server with a new plan
  // each time, and 106 µs with one plan.
  plan_cache_mode: 'force_generic_plan',
  // Packing a batch of 64 books took 424 µs of the server by its own compression, and 168 by this.
  default_toast_compression: 'lz4',
};

/**
 * Sets the settings that this version has. A value that is not among those of its setting
 * (`enumvals`) is left out: a server may have been built without lz4.
 */
export const SET_SESSION = 'select set_config(s.name, v.value, false) from pg_settings s join '
  + `(values ${formatPairs(SESSION_SETTINGS)}) v (name, value) on s.name = v.name `
  + 'where position(v.value in coalesce(s.enumvals::text, v.value)) > 0';

export const INSPECT = "select current_setting('server_version_num')::int as version, "
  + "current_setting('server_version') as version_text, "
  + "current_setting('server_encoding') as encoding, "
  + "current_setting('transaction_read_only') as is_read_only, "
  + "coalesce(current_setting('synchronous_standby_names', true), '') as standbys, "
  + "coalesce(current_setting('fsync', true), 'on') as fsync, "
  + "version() as product";

/** The start time of the server: connections that read the same lead to the same server. */
export const IDENTITY = 'select extract(epoch from pg_postmaster_start_time())::text as started';

/** For `explainReadOnly`. */
export const READ_ONLY_CAUSE = "select pg_is_in_recovery() as is_standby, setting, source "
  + "from pg_settings where name = 'default_transaction_read_only'";

/**
 * Leaves `mark`, a UUID, in the connection, and returns the mark that was left there before. Where
 * that is not our last one, a pooler has given us another connection (server-checks.ts). It has no
 * parameters, as a pooler may lose what is prepared for them.
 */
export const markStatement = (mark: string): string =>
  "select current_setting('hookshelf.connection', true) as found, "
  + `set_config('hookshelf.connection', '${mark}', false)`;

export const LISTEN = 'listen hookshelf';
export const UNLISTEN = 'unlisten hookshelf';

const HEAD = HEAD_COLUMNS.join(', ');
export const READ_HEAD = `select ${HEAD} from hookshelf.head`;
/** The parameters are HEAD_COLUMNS in order. Returns no row if there is a head already. */
export const CREATE_HEAD = `insert into hookshelf.head (${HEAD}) values ($1, $2, $3, $4, $5) `
  + 'on conflict (one) do nothing returning sequence';
/**
 * $1 node. Returns the head as this statement has read it, before its own row is durable. Where
 * there is no head yet, the join still gives a row, of nulls.
 */
export const BARRIER = 'with own as (insert into hookshelf.node (node, beat) values ($1, 1) '
  + 'on conflict (node) do update set beat = node.beat + 1 returning beat) '
  + `select ${HEAD} from own left join hookshelf.head on true`;

/**
 * $1 expected sequence, $2 its chain, $3 new sequence, $4 its chain, $5 batch id, $6 lines, $7 log.
 * Returns the standbys that commits wait for, as the setting may change while the server runs.
 */
export const appendStatement = (notifies: boolean): string =>
  'with h as (update hookshelf.head set sequence=$3, chain=$4 '
  + 'where sequence=$1 and chain=$2 and log=$7 returning sequence), '
  + 'r as (insert into hookshelf.journal (sequence, first, batch, chain, lines) '
  + 'select sequence, $1::bigint+1, $5, $4, $6 from h returning sequence) '
  + "select coalesce(current_setting('synchronous_standby_names', true), '') as standbys"
  + `${notifies ? ", pg_notify('hookshelf', sequence::text)" : ''} from r`;

const ENTRY = ['lines', ...ENTRY_COLUMNS].join(', ');
export const HOLDS_ENTRY = 'select 1 from hookshelf.journal where batch = $1 and chain = $2';
/** $1 the sequence before, $2 most entries, $3 bytes that end the page; one entry at least. */
export const READ_AFTER = `select ${ENTRY} from (select ${ENTRY}, sum(octet_length(lines)) over `
  + '(order by sequence) - octet_length(lines) as before from (select * from hookshelf.journal '
  + 'where sequence > $1 order by sequence limit $2) page) sized '
  + 'where before < $3 order by sequence';

// Any two numbers that nobody else is likely to lock in this database.
const APPEND_LOCK = '1752394571, 1';

/**
 * Prepares the statements of `lockStatement`, once for each connection: planning them took a third
 * of its time. A pooler may have given us a connection on which they are prepared already. The
 * first one takes the lock and returns no row, since its void result is not null: so the head is
 * the first row of the answer.
 */
export const PREPARE_LOCK = 'deallocate all; prepare hookshelf_lock as select 1 where '
  + `pg_advisory_xact_lock(${APPEND_LOCK}) is null; prepare hookshelf_head as select ${HEAD} from `
  + `hookshelf.head for update; prepare hookshelf_after (bigint, bigint, bigint) as ${READ_AFTER}`;

/**
 * Locks the head's row, and returns it first, then the entries after a sequence: one message for
 * both. It leaves the transaction open, and nobody can append before that ends: the caller sends
 * an append with its commit, or a rollback. Nodes take an advisory lock before the row: a node that
 * waited for the row itself would wake each time that the row changes hands, and search for its
 * newest version.
 */
export const lockStatement = (after: number, entriesMax: number, bytesMax: number): string =>
  'begin; execute hookshelf_lock; execute hookshelf_head; '
  + `execute hookshelf_after (${after}, ${entriesMax}, ${bytesMax})`;

export const RAISE_FLOOR = 'update hookshelf.head set floor = $1 where floor < $1';
/** $1 the sequence before which entries go, $2 most entries to remove at once. */
export const TRIM = 'delete from hookshelf.journal where sequence in (select sequence from '
  + 'hookshelf.journal where sequence < $1 order by sequence limit $2) returning sequence';

export const LIST_SNAPSHOTS = 'select sequence, chain, parts from hookshelf.snapshot '
  + 'where complete order by sequence desc';
/** $1 sequence and $2 chain of the snapshot, $3 number of the part. */
export const READ_PART = 'select p.sha256, p.lines from hookshelf.snapshot_part p '
  + 'join hookshelf.snapshot s on s.sequence = p.sequence and s.chain = $2 and s.complete '
  + 'where p.sequence = $1 and p.part = $3';
/** $1 sequence of the snapshot, $2 number of the part, $3 its digest, $4 its lines. */
export const WRITE_PART = 'insert into hookshelf.snapshot_part (sequence, part, sha256, lines) '
  + 'values ($1, $2, $3, $4) on conflict (sequence, part) do update '
  + 'set sha256 = excluded.sha256, lines = excluded.lines';
/** Completes a snapshot only if all parts are there: another node may have removed some. */
export const COMPLETE_SNAPSHOT = 'insert into hookshelf.snapshot '
  + '(sequence, chain, parts, complete) select $1::bigint, $2, $3::int, true '
  + 'where (select count(*) from hookshelf.snapshot_part '
  + 'where sequence = $1::bigint and part < $3::int) = $3::int on conflict (sequence) do update '
  + 'set chain = excluded.chain, parts = excluded.parts, complete = true returning sequence';
/** Removes parts that unfinished attempts before the snapshot at $1 have left. */
export const REMOVE_REMAINS = 'delete from hookshelf.snapshot_part p where p.sequence < $1 '
  + 'and not exists (select 1 from hookshelf.snapshot s where s.sequence = p.sequence)';
export const REMOVE_SNAPSHOT = 'with s as (delete from hookshelf.snapshot where sequence = $1 '
  + 'and chain = $2 returning sequence) delete from hookshelf.snapshot_part '
  + 'where sequence in (select sequence from s)';

function formatPairs(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`).join(', ');
}
