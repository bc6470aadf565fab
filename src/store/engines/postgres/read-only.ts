/** Explains why a server takes no writes: it is a standby, or its settings forbid them. */
import { AppError } from '../../../base/errors.ts';
import type { Connection } from './driver.ts';
import { READ_ONLY_CAUSE } from './statements.ts';

/** How to reset the setting, by the place it comes from (`pg_settings.source`). */
const RESET_BY_SOURCE: Readonly<Record<string, (database: string) => string>> = {
  'database': (database) => `alter database "${database}" reset default_transaction_read_only`,
  'user': () => 'alter role … reset default_transaction_read_only',
  'database user': (database) => `alter role … in database "${database}" reset `
    + 'default_transaction_read_only',
};
const RESET_ELSEWHERE =
  'in postgresql.conf, or by alter system reset default_transaction_read_only';

export async function explainReadOnly(
  connection: Connection, host: string, database: string,
): Promise<AppError> {
  const { rows: [row] } = await connection.query(READ_ONLY_CAUSE);
  if (row?.is_standby === true) {
    return new AppError('unavailable', `${host} is a standby, not the primary`);
  }
  if (row?.setting !== 'on') {
    return new AppError('unavailable', `PostgreSQL at ${host} takes no writes now `
      + '(transaction_read_only is on)');
  }
  const source = String(row.source);
  const reset = RESET_BY_SOURCE[source]?.(database) ?? RESET_ELSEWHERE;
  return new AppError('misconfigured', `PostgreSQL at ${host} is the primary, and is set to take `
    + `no writes: default_transaction_read_only is on (source: ${source}). Some services set it `
    + `when the disk fills: make room there. Else take it back: ${reset}, in a session that begins `
    + 'with set default_transaction_read_only = off');
}
