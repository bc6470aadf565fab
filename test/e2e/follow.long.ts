/** Copies that follow a server, with real processes that are killed on both sides. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COLLECTIONS } from '../../src/app.ts';
import { computeDigest, sumCollections } from '../../src/store/moving/collection-sums.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { recoverState } from '../../src/store/generations/recovery.ts';
import { collectOutput, type Ended } from '../support/children.ts';
import { IS_LONG } from '../support/long.ts';
import { makeToken } from '../support/make-token.ts';
import { below, createRandom } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { createCertificate, type Certificate } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, start, startServer, type Running } from './processes.ts';

type Place = {
  readonly folder: string;
  /** The data directory of the server. */
  readonly data: string;
  readonly copy: string;
  readonly tokenFile: string;
  readonly writeToken: string;
};

async function prepare(folder: string): Promise<Place> {
  const data = join(folder, 'server');
  const tokenFile = join(folder, 'follow.token');
  writeFileSync(tokenFile, (await makeToken(data, 'follow')).token, { mode: 0o600 });
  const { token } = await makeToken(data, 'admin');
  return { folder, data, copy: join(folder, 'copy'), tokenFile, writeToken: token };
}

function followWords({ copy, tokenFile }: Place, server: Running): readonly string[] {
  return ['data:follow', '--server', server.url, '--token-file', tokenFile, '--to', copy];
}

async function followOnce(place: Place, server: Running): Promise<Ended> {
  return hookshelf([...followWords(place, server), '--once']);
}

/** Starts a follower that goes on until it is killed. */
function follow(place: Place, server: Running) {
  const child = start(followWords(place, server));
  const { stderr, ended } = collectOutput(child);
  return {
    notes: stderr, ended,
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function addBook({ writeToken }: Place, server: Running, title: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${writeToken}` };
  const reply = await ask(`${server.url}/api/books`, { method: 'POST', headers, body: { title } })
    .catch(() => null);
  return reply?.status === 201;
}

async function readFollowers(
  { writeToken }: Place, server: Running,
): Promise<readonly Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${writeToken}` };
  const { text } = await ask(`${server.url}/api/status`, { headers });
  return JSON.parse(text).followers;
}

async function read(directory: string) {
  return recoverState({ directory, files: createNodeFiles(), specs: COLLECTIONS });
}

/** The titles of the books in a directory, in the order in which they came. */
async function readTitles(directory: string): Promise<readonly string[]> {
  const books = (await read(directory)).collections.get('books');
  assert.ok(books !== undefined);
  const text = Buffer.concat(books.walk().nextSlices(1e9)).toString();
  const records: { title: string }[] = JSON.parse(`[${text}]`);
  return records.map(({ title }) => title);
}

async function digestOf(directory: string): Promise<string> {
  const { collections, sequence } = await read(directory);
  return `${sequence} ${computeDigest(await sumCollections(collections))}`;
}

async function verify(directory: string): Promise<void> {
  const verified = await hookshelf(['data:verify', '--data', directory]);
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /nothing is damaged/);
}

/** Four are all kinds: with a copy that is level, one that is not, compactions, a killed server. */
const ROUNDS = IS_LONG ? 40 : 4;

test('what a copy has is a beginning of what was acknowledged, whoever is killed', () =>
  inFolder(async (folder) => {
    const place = await prepare(folder);
    const random = createRandom(7);
    // The follower has to find the server again.
    let server = await startServer(['--data', place.data]);
    const port = new URL(server.url).port;
    const acknowledged: string[] = [];
    let attempts = 0;
    let isWriting = true;
    const write = async (): Promise<void> => {
      while (isWriting) {
        attempts += 1;
        const title = String(attempts);
        if (await addBook(place, server, title)) acknowledged.push(title);
      }
    };
    const writing = write();
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const follower = follow(place, server);
        if (round === 0 || round % 2 === 1) {
          await until('it is level', () => follower.notes().includes('level'),
            { seen: follower.notes });
        }
        const count = acknowledged.length + below(random, 60);
        await until('more is written', () => acknowledged.length >= count);
        if (round % 3 === 2) {
          await server.stop('SIGKILL');
          server = await startServer(['--data', place.data, '--port', port]);
          const last = acknowledged.length;
          await until('the copy goes on by itself', async () =>
            (await readFollowers(place, server)).some(({ isConnected, sequence }) =>
              isConnected === true && Number(sequence) > last), { seen: follower.notes });
        }
        if (round % 2 === 0) {
          for (let times = 0; times < 3; times += 1) {
            const compacted = await hookshelf(['data:compact', '--data', place.data]);
            assert.equal(compacted.code, 0, compacted.stderr);
          }
        }
        await follower.kill();
        await verify(place.copy);
        const titles = await readTitles(place.copy);
        const sent = new Set(titles);
        const last = Number(titles.at(-1) ?? 0);
        const missing = acknowledged.filter((title) => Number(title) < last && !sent.has(title));
        assert.deepEqual(missing, [], 'nothing is missing in between');
        assert.equal(titles.length, sent.size, 'nothing is there twice');
      }
      isWriting = false;
      await writing;
      const level = await followOnce(place, server);
      assert.equal(level.code, 0, level.stderr);
      await server.stop();
      assert.deepEqual(await readTitles(place.copy), await readTitles(place.data));
    } finally {
      isWriting = false;
      await server.stop('SIGKILL');
    }
    const successor = await startServer(['--data', place.copy]);
    assert.ok(await addBook(place, successor, 'after'));
    await successor.stop();
    assert.equal((await readTitles(place.copy)).at(-1), 'after');
  }));

test('a copy is a second behind, and the server says so of it', () => inFolder(async (folder) => {
  const place = await prepare(folder);
  const server = await startServer(['--data', place.data]);
  const follower = follow(place, server);
  try {
    await until('it is level', () => follower.notes().includes('level'), { seen: follower.notes });
    for (let count = 0; count < 5; count += 1) assert.ok(await addBook(place, server, 'x'));
    await until('the server knows', async () => {
      const [view] = await readFollowers(place, server);
      return view?.['behindTransactions'] === 0 && view['isConnected'] === true;
    });
    await until('the copy has them', async () => (await readTitles(place.copy)).length === 5,
      { msMax: 5000 });
    const headers = { authorization: `Bearer ${place.writeToken}` };
    const { text } = await ask(`${server.url}/metrics`, { headers });
    assert.match(text, /^hookshelf_followers_connected 1$/m);
    assert.match(text, /^hookshelf_follower_lag_seconds\{copy="[-0-9a-f]+",name="[^"]+"\} 0$/m);
    const doctor = await hookshelf(['doctor', '--data', place.data]);
    assert.match(doctor.stdout, /followers +ok +1 copy follows, level/);
    await follower.kill();
    assert.ok(await addBook(place, server, 'y'));
    await until('the server knows', async () => {
      const [view] = await readFollowers(place, server);
      return view?.['isConnected'] === false && Number(view['behindTransactions']) > 0;
    });
    const warned = await hookshelf(['doctor', '--data', place.data]);
    assert.match(warned.stdout, /followers +warning/);
    const again = await followOnce(place, server);
    assert.equal(again.code, 0, again.stderr);
  } finally {
    await follower.kill();
    await server.stop();
  }
}));

test('only a token of the scope follow reads the log, and only over a safe way', () =>
  inFolder(async (folder) => {
    const place = await prepare(folder);
    const server = await startServer(['--data', place.data, '--allow-anonymous']);
    try {
      for (const token of [null, place.writeToken]) {
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        for (const path of ['/api/follow/backup', '/api/follow/log']) {
          const { status } = await ask(server.url + path, { headers });
          assert.equal(status, token === null ? 401 : 403, path);
        }
      }
      const words = ['data:follow', '--token-file', place.tokenFile, '--to', place.copy, '--once'];
      const unsafe = await hookshelf([...words, '--server', 'http://books.example.com']);
      assert.deepEqual([unsafe.code, /https:/.test(unsafe.stderr)], [2, true]);
      const nowhere = await hookshelf(words.filter((word) => !word.endsWith('.token')
        && word !== '--token-file'));
      assert.equal(nowhere.code, 2);
      assert.match(nowhere.stderr, /--server/);
      const long = await hookshelf([...words, '--server', server.url, '--name', 'x'.repeat(101)]);
      assert.deepEqual([long.code, /at most 100 characters/.test(long.stderr)], [2, true]);
      assert.ok(!existsSync(place.copy));
      writeFileSync(place.tokenFile, 'other');
      const unknown = await followOnce(place, server);
      assert.deepEqual([unknown.code, /the scope follow/.test(unknown.stderr)], [1, true]);
      const elsewhere = await followOnce(place, { ...server, url: `${server.url}/sub` });
      assert.deepEqual([elsewhere.code, /address right/.test(elsewhere.stderr)], [1, true]);
    } finally {
      await server.stop();
    }
  }));

test('over TLS a follower takes a good certificate alone, and says how to mend another', () =>
  inFolder(async (folder) => {
    const place = await prepare(folder);
    const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const install = ({ cert, key }: Certificate): void => {
      writeFileSync(certPath, cert);
      writeFileSync(keyPath, key);
    };
    const [good, expired, foreign] = [createCertificate(),
      createCertificate(undefined, { fromDays: -9, toDays: -1 }),
      createCertificate(['elsewhere.example'])];
    install(good);
    const authorities = join(folder, 'authorities.pem');
    writeFileSync(authorities, [good, expired, foreign].map(({ cert }) => cert).join(''));
    const server = await startServer(['--data', place.data], { environment: {
      HOOKSHELF_SERVER_TLS_CERT: certPath, HOOKSHELF_SERVER_TLS_KEY: keyPath,
    } });
    const followTrusting = (): Promise<Ended> => hookshelf(
      [...followWords(place, server), '--once'],
      { environment: { NODE_EXTRA_CA_CERTS: authorities } });
    try {
      const level = await followTrusting();
      assert.equal(level.code, 0, level.stderr);
      assert.equal(await digestOf(place.copy), await digestOf(place.data));
      const distrusting = await followOnce(place, server);
      assert.equal(distrusting.code, 1);
      assert.match(distrusting.stderr, /trusted with NODE_EXTRA_CA_CERTS=<file>\n$/);
      for (const [number, [certificate, says]] of ([
        [expired, /refused \(CERT_HAS_EXPIRED\): renew it on the server, or set the clock/],
        [foreign, /refused \(ERR_TLS_CERT_ALTNAME_INVALID\): it is for other names; name the s/],
      ] as const).entries()) {
        install(certificate);
        server.child.kill('SIGHUP');
        await until('it is read', () =>
          server.stderr().split('the certificate was read again').length === number + 2);
        const { code, stderr } = await followTrusting();
        assert.equal(code, 1);
        assert.match(stderr, says);
      }
      await verify(place.copy);
    } finally {
      await server.stop();
    }
  }));
