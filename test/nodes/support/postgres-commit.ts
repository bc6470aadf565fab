/** Commits that wait for a standby, one after the other, on a connection of their own. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { openConnection } from '../../../src/store/engines/postgres/driver.ts';
import type { Connection } from '../../../src/store/engines/postgres/driver.ts';
import type { PostgresServer } from './postgres-cluster.ts';

const CONNECT_MS_MAX = 1000;
/** It needs no table, and is in the log that standbys confirm. */
const COMMIT = "select pg_logical_emit_message(true, 'probe', '')";

/** Each call commits at the server that is the primary then: true once standbys have it. */
export function createPostgresCommit(primary: () => PostgresServer): () => Promise<boolean> {
  let opened: { readonly server: PostgresServer; readonly connection: Connection } | null = null;
  return async () => {
    const server = primary();
    if (opened?.server !== server || opened.connection.lossError !== null) {
      opened?.connection.close();
      opened = { server, connection: await open(server) };
    }
    return (await opened.connection.query(COMMIT)).warning === null;
  };
}

async function open({ socket: path, name }: PostgresServer): Promise<Connection> {
  const connection = await openConnection({
    open: async () => {
      const socket = connect({ path });
      await once(socket, 'connect');
      return socket;
    },
    user: 'postgres', database: 'postgres', password: null, host: name,
    timeoutMs: CONNECT_MS_MAX,
  });
  await connection.query("set application_name = 'probe'");
  return connection;
}
