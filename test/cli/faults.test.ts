/** What goes wrong while a command is at work: somebody else writes, or the server goes away. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { WrapApiClient } from '../../src/cli/create-command-context.ts';
import type { ApiClient } from '../../src/cli/api-client/api-client.ts';
import { WAYS, inPlace } from './place.ts';
import type { Place } from './place.ts';

/** The command's own session, with some of its calls replaced. */
const sessionWith = (replace: (session: ApiClient) => Partial<ApiClient>): WrapApiClient =>
  (session) => ({ ...session, ...replace(session) });

const ENDINGS: readonly (readonly [ending: string, cutBytes: number, problem: RegExp])[] = [
  ['with an error', 20, /^hookshelf: .*the server went away/],
  ['within a book', 20, /^hookshelf: the answer is no whole list: line \d: the file ends within/],
  ['before its first byte', Infinity, /^hookshelf: the answer is no whole list: it is empty/],
];

for (const way of WAYS) {
  test(`an update refuses to overwrite what somebody else wrote meanwhile, ${way}`, () =>
    inPlace(way, async (place) => {
      await place.run(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
      const path = '/api/action-configurations/to-log';
      const wrapSession = sessionWith((session) => ({
        async request(call) {
          const answer = await session.request(call);
          if (call.method === 'GET' && call.path === path) {
            await session.request({
              method: 'PATCH', path, body: { options: { level: 'error' } },
            });
          }
          return answer;
        },
      }));
      const words = ['actionconfig:update', 'to-log', '--options', '{"level":"debug"}'];
      const { code, stderr } = await place.run(words, { wrapSession });
      assert.equal(code, 1);
      assert.match(stderr, /^hookshelf: the stored action configuration is another version/);
      const { stdout } = await place.run(['actionconfig:show', 'to-log', '--json']);
      assert.deepEqual(JSON.parse(stdout).options, { level: 'error' });
    }));

  test(`a new secret is shown though the URL cannot be fetched, ${way}`, () =>
    inPlace(way, async (place) => {
      await place.run(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
      const wrapSession = sessionWith((session) => ({
        async request(call) {
          if (call.path.endsWith('/examples')) {
            throw new AppError('unavailable', 'the server went away');
          }
          return session.request(call);
        },
      }));
      const words = ['incomingwebhook:create', '--action-config', 'to-log', '--path-segment',
        'deploy', '--generate-secret'];
      const { code, stdout, stderr } = await place.run(words, { wrapSession });
      assert.equal(code, 1);
      assert.match(stderr, /the server went away/);
      assert.match(stdout,
        /^created incoming webhook [^:\n]+\nsecret \(shown this once\): [0-9a-f]{64}\n$/);
    }));

  for (const [ending, cutBytes, problem] of ENDINGS) {
    test(`an export that breaks off ${ending} leaves the file that was there, ${way}`, () =>
      inPlace(way, async (place) => {
        await addTwoBooks(place);
        const folder = readdirSync(place.folder);
        const file = join(place.folder, 'books.json');
        const during: string[] = [];
        const wrapSession = sessionWith((session) => ({
          async stream(call) {
            const answer = await session.stream(call);
            const bytes = await readWhole(answer);
            const broken = new PassThrough().on('error', () => {});
            broken.write(bytes.subarray(0, Math.max(0, bytes.length - cutBytes)));
            setImmediate(() => {
              during.push(readFileSync(file, 'utf8'));
              if (ending === 'with an error') broken.destroy(new Error('the server went away'));
              else broken.end();
            });
            return Object.assign(broken, { statusCode: 200 }) as unknown as typeof answer;
          },
        }));
        writeFileSync(file, 'what was there');
        const words = ['book:export', '--file', file];
        const { code, stderr } = await place.run(words, { wrapSession });
        assert.equal(code, 1);
        assert.match(stderr, problem);
        assert.deepEqual(during, ['what was there']);
        assert.equal(readFileSync(file, 'utf8'), 'what was there');
        assert.deepEqual(readdirSync(place.folder), [...folder, 'books.json'].sort());
        assert.equal((await place.run(words)).code, 0);
        assert.equal(JSON.parse(readFileSync(file, 'utf8')).length, 2);
      }));
  }

  test(`an export to a file is whole though nobody reads standard output, ${way}`, () =>
    inPlace(way, async (place) => {
      await addTwoBooks(place);
      const file = join(place.folder, 'books.json');
      let closeOutput = (): void => {};
      const wrapSession = sessionWith((session) => ({
        stream(call) {
          closeOutput();
          return session.stream(call);
        },
      }));
      const { code } = await place.run(['book:export', '--file', file], {
        wrapSession, onStart: (close) => {
          closeOutput = close;
        },
      });
      assert.equal(code, 0);
      assert.equal(JSON.parse(readFileSync(file, 'utf8')).length, 2);
    }));
}

test('an export that fails, also to close its client, leaves no temporary file', () =>
  inPlace('without a server', async (place) => {
    await addTwoBooks(place);
    const wrapSession = sessionWith((session) => ({
      stream: () => Promise.reject(new AppError('unavailable', 'the server went away')),
      async close() {
        await session.close();
        throw new AppError('unavailable', 'the data cannot be closed');
      },
    }));
    const file = join(place.folder, 'books.json');
    const { code } = await place.run(['book:export', '--file', file], { wrapSession });
    assert.equal(code, 1);
    assert.deepEqual(readdirSync(place.folder), ['data']);
  }));

test('a list of duplicates that breaks off is told', () =>
  inPlace('without a server', async (place) => {
    for (let count = 0; count < 2; count += 1) await addTwoBooks(place);
    const wrapSession = sessionWith((session) => ({
      async stream(call) {
        const answer = await session.stream(call);
        const broken = Readable.from([(await readWhole(answer)).subarray(0, -20)]);
        return Object.assign(broken, { statusCode: 200 }) as unknown as typeof answer;
      },
    }));
    const { code, stderr } = await place.run(['book:duplicates', '--by', 'title'], { wrapSession });
    assert.equal(code, 1);
    assert.match(stderr, /the answer is no whole list/);
  }));

async function readWhole(answer: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function addTwoBooks(place: Place): Promise<void> {
  for (const title of ['One', 'Two']) {
    await place.run(['book:add', '--input', JSON.stringify({ title })]);
  }
}

const SECRETS: readonly (readonly [given: string, secret: string])[] = [
  ['s3cret', 's3cret'], ['s3cret\n', 's3cret'], ['s3cret\r\n', 's3cret'],
  ['s3cret\n\n', 's3cret\n'], ['s3cret\r\n\r\n', 's3cret\r\n'], ['s3cret \n', 's3cret '],
  ['\ns3cret\n', '\ns3cret'],
];
test('drops exactly one newline at the end of a secret', () =>
  inPlace('without a server', async (place) => {
    await place.run(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    for (const [index, [given, secret]] of SECRETS.entries()) {
      const words = ['incomingwebhook:create', '--path-segment', `hook-${index}`,
        '--action-config', 'to-log', '--secret-file', '-'];
      const { code, stderr } = await place.run(words, { input: given });
      assert.equal(code, 0, stderr);
      const [journal = ''] = readdirSync(place.data).filter((name) => name.startsWith('journal'));
      const lines = readFileSync(join(place.data, journal), 'utf8').split('\n');
      const line = lines.find((one) => one.includes(`"pathSegment":"hook-${index}"`));
      assert.ok(line?.includes(`"secret":${JSON.stringify(secret)}`), JSON.stringify(given));
    }
  }));
