/** Real processes: an apply is done whole or not at all, whatever ends the server or its disk. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { numberedDocument, readNumber } from '../support/numbered-document.ts';
import { PROGRAM } from '../support/program.ts';
import { createRandom } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask, type Reply } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const PATH = '/api/configuration';
const SEED = 20261127;
const KILLS = IS_LONG ? 40 : 6;
/** Long enough that a kill may come while the line of an apply is being written. */
const PADDING = 'x'.repeat(400);
/** No file may grow past 64 KiB, or half of that: the shells differ. */
const LIMITED = ['/bin/sh', '-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, PROGRAM];

function apply(server: Running, number: number, description: string): Promise<Reply> {
  return ask(`${server.url}${PATH}`, {
    method: 'PUT', body: numberedDocument(number, description),
  });
}

async function read(server: Running, description: string): Promise<number> {
  return readNumber((await ask(`${server.url}${PATH}`)).text, description);
}

test('kill -9 in the middle of applies leaves the last that was answered, or the next, whole', () =>
  inFolder(async (data) => {
    const random = createRandom(SEED);
    let server = await startServer(['--data', data]);
    let number = 0;
    assert.equal((await apply(server, number, PADDING)).status, 200);
    for (let kill = 0; kill < KILLS; kill += 1) {
      let isKilled = false;
      const applies = (async (): Promise<void> => {
        while (!isKilled) {
          const reply = await apply(server, number + 1, PADDING).catch(() => null);
          if (reply === null) return;
          assert.equal(reply.status, 200, reply.text);
          number += 1;
        }
      })();
      await pause(20 + random() * 150);
      isKilled = true;
      await server.stop('SIGKILL');
      await applies;
      server = await startServer(['--data', data]);
      const found = await read(server, PADDING);
      assert.ok(found === number || found === number + 1, `${found} after ${number}`);
      number = found;
    }
    await server.stop();
  }));

test('an apply for which the disk has no room is 507, and nothing of it is done', () =>
  inFolder(async (data) => {
    const limited = await startServer(['--data', data], { program: LIMITED });
    let number = 0;
    let reply = await apply(limited, number, PADDING);
    for (; reply.status === 200 && number < 20; number += 1) {
      reply = await apply(limited, number + 1, PADDING);
    }
    assert.equal(reply.status, 507, reply.text);
    number -= 1;
    assert.equal(await read(limited, PADDING), number);
    await limited.stop();
    const server = await startServer(['--data', data]);
    try {
      assert.equal(await read(server, PADDING), number);
      assert.equal((await apply(server, number + 1, PADDING)).status, 200);
    } finally {
      await server.stop();
    }
  }));
