/** What is queued for a target that is down stays within the memory that a server is given. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { closedPort } from '../support/servers.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { startServer } from './processes.ts';

const MEGABYTES = 256;
/** More than the memory. */
const POSTS = 320;
const AT_ONCE = 4;
const PAYLOAD = JSON.stringify({ text: 'x'.repeat(1_000_000) });
const MEBIBYTE = 1 << 20;
/** An eighth of the memory. */
const PENDING_BYTES_MAX = MEGABYTES / 8 * MEBIBYTE;

test('a queueing webhook takes what fits, then says 503, and memory and disk stay bounded',
  { timeout: 120_000 }, () => inFolder(async (data) => {
    const server = await startServer(['--data', data, '--max-memory', String(MEGABYTES)], {
      program: [process.execPath, PROGRAM],
    });
    try {
      const url = `http://127.0.0.1:${await closedPort()}/`;
      const options = { url, mode: 'queue' };
      await addRecord(`${server.url}/api/action-configurations`,
        { identifier: 'later', actionType: 'http-forward', options });
      await addRecord(`${server.url}/api/incoming-webhooks`,
        { pathSegment: 'later', actionConfiguration: 'later' });
      const statuses = await postAll(`${server.url}/webhook/in/later`);
      const accepted = statuses.filter((status) => status === 200).length;
      assert.ok(accepted >= 16 && accepted * PAYLOAD.length <= PENDING_BYTES_MAX, `${accepted}`);
      assert.equal(statuses.filter((status) => status === 503).length, POSTS - accepted);
      const figures = (await ask(`${server.url}/metrics`)).text;
      const resident = Number(/^process_resident_memory_bytes (\S+)$/m.exec(figures)?.[1]);
      assert.ok(resident < MEGABYTES * MEBIBYTE, `${resident / MEBIBYTE} MiB resident`);
      const totals = await ask(`${server.url}/api/deliveries/reconcile`);
      assert.equal(JSON.parse(totals.text).accepted, accepted);
      const onDisk = readdirSync(data).map((name) => statSync(join(data, name)).size)
        .reduce((sum, size) => sum + size, 0);
      // Each attempt of a delivery writes it anew, and a generation is kept beside the next.
      assert.ok(onDisk < 8 * PENDING_BYTES_MAX, `${onDisk / MEBIBYTE} MiB on disk`);
    } finally {
      await server.stop();
    }
  }));

async function postAll(url: string): Promise<number[]> {
  const statuses: number[] = [];
  let left = POSTS;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left > 0) {
      left -= 1;
      const { status, headers } = await ask(url, { method: 'POST', raw: PAYLOAD });
      assert.ok(status === 200 || Number(headers['retry-after']) > 0, `${status}`);
      statuses.push(status);
    }
  }));
  return statuses;
}
