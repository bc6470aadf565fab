/** Finds out how durable a commit is, from a PostgreSQL server's settings and the URL. */
import { AppError } from '../../../base/errors.ts';
import type { PostgresAddress } from './postgres-url.ts';
import type { Row } from './driver.ts';
import { readNumber, readText } from './rows.ts';

export type Durability = {
  /** A text for people. */
  readonly description: string;
  /** Whether commits wait for standbys. */
  readonly needsStandbys: boolean;
};

const VERSION_MIN = 130_000;

/** Checks the row of INSPECT. Throws `misconfigured` for a server whose commits may be lost. */
export function checkDurability(
  row: Row, { durability }: PostgresAddress,
): Durability {
  const version = readText(row, 'version_text');
  if (readNumber(row, 'version') < VERSION_MIN) {
    throw new AppError('misconfigured', `this is PostgreSQL ${version}; 13 or later is needed`);
  }
  const encoding = readText(row, 'encoding');
  if (!/^UTF-?8$/i.test(encoding)) {
    throw new AppError('misconfigured', `the database has the encoding ${encoding}; make one with `
      + 'createdb -E UTF8 -T template0');
  }
  const warning = readText(row, 'fsync') === 'on' ? ''
    : ' (and runs with fsync = off: what it has confirmed is lost when the power fails)';
  const server = `${readText(row, 'product').split(' ')[0] ?? 'PostgreSQL'} ${version}${warning}`;
  const standbys = readText(row, 'standbys').trim();
  if (durability === 'engine') {
    return { needsStandbys: false,
      description: `${server}: the service keeps several copies by itself, `
      + 'as durability=engine says' };
  }
  if (standbys !== '') {
    return { needsStandbys: true, description: `${server}: each commit waits for its standbys `
      + `(synchronous_standby_names = '${standbys}'), and survives the loss of one machine` };
  }
  if (durability === 'primary') {
    return { needsStandbys: false,
      description: `${server}: each commit is on the disk of one machine, `
      + 'and is lost with it, as durability=primary says' };
  }
  throw new AppError('misconfigured', 'PostgreSQL confirms commits that only one machine has: '
    + "synchronous_standby_names is empty. Name its standbys there, as in 'ANY 1 (s1, s2)'; or add "
    + 'durability=engine or durability=primary to the URL: engine, when the service keeps several '
    + 'copies by itself (as Aurora and CockroachDB do); primary, when one machine is enough for '
    + 'you');
}
