/** One deploy at a time, by a real server with real scripts: fifty pushes, and two runs. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { until } from '../support/until.ts';
import { CommandHooks } from './command-hooks.ts';

const PUSHES = 50;

type Pushed = Awaited<ReturnType<CommandHooks['call']>> & { readonly number: number };

/** A server with a script `deploy` that notes its push, and ends when there is a file `go`. */
class Deploys extends CommandHooks {
  readonly #go = join(this.folder, 'go');
  readonly #notes = join(this.folder, 'notes');
  readonly #lock = join(this.folder, 'lock');

  async open(): Promise<void> {
    // A second deploy beside one fails at the folder, and is noted by what it leaves.
    this.add('deploy', `mkdir '${this.#lock}' || { echo overlap >> '${this.#notes}'; exit 9; }
echo "begin $1" >> '${this.#notes}'
until [ -e '${this.#go}' ]; do sleep 0.02; done
echo "end $1" >> '${this.#notes}'
rmdir '${this.#lock}'`);
    await this.start();
  }

  get notes(): readonly string[] {
    return existsSync(this.#notes) ? readFileSync(this.#notes, 'utf8').trim().split('\n') : [];
  }

  letGo(): void {
    writeFileSync(this.#go, '');
  }

  /** What a deploy leaves that was ended by force. */
  unlock(): void {
    rmSync(this.#lock, { recursive: true, force: true });
  }

  async push(number: number): Promise<Pushed> {
    return { ...await this.call('deploy', { method: 'POST', body: { number } }), number };
  }

  async begun(number: number): Promise<void> {
    await until(`deploy ${number} has begun`, () => this.notes.includes(`begin ${number}`));
  }

  async count(query: string): Promise<number> {
    const { headers } = await this.ask(`/api/deliveries?kind=route&limit=1&${query}`);
    return Number(headers['x-total-count']);
  }
}

const OPTIONS = {
  command: 'deploy', arguments: ['{{ payload.number }}'], timeout: 60, maxCommands: 1,
  coalesce: true,
};

async function openDeploys(context: TestContext): Promise<Deploys> {
  const deploys = new Deploys();
  context.after(async () => {
    deploys.letGo();
    await deploys.server.stop();
  });
  await deploys.open();
  return deploys;
}

test('of fifty pushes whose senders wait two are deployed, the others told so', async (t) => {
  const deploys = await openDeploys(t);
  await deploys.hook('deploy', OPTIONS, { inbox: 'all' });
  const answers = [deploys.push(1)];
  await deploys.begun(1);
  let waiting: Promise<Pushed> | null = null;
  for (let number = 2; number <= PUSHES; number += 1) {
    const next = deploys.push(number);
    answers.push(next);
    // The next one is sent when one of two is told, so that from the fourth on all are in order.
    const told: Pushed | null = waiting === null ? null : await Promise.race([waiting, next]);
    if (told !== null) assert.deepEqual([told.status, told.data], [200, { coalesced: true }]);
    if (told?.number !== number) waiting = next;
  }
  deploys.letGo();
  const [first, last] = [await answers[0], await answers.at(-1)];
  assert.deepEqual([first?.data['exitCode'], last?.data['exitCode']], [0, 0]);
  assert.deepEqual(deploys.notes, ['begin 1', 'end 1', `begin ${PUSHES}`, `end ${PUSHES}`]);
  assert.deepEqual(
    [await deploys.count('status=coalesced'), await deploys.count('status=delivered')],
    [PUSHES - 2, 2]);
});

test('of fifty pushes that are accepted two are deployed, through kill -9 as well', async (t) => {
  const deploys = await openDeploys(t);
  await deploys.hook('deploy', OPTIONS, { inbox: 'all', answer: 'accepted' });
  for (let number = 1; number <= PUSHES; number += 1) {
    assert.equal((await deploys.push(number)).status, 200);
  }
  await deploys.begun(1);
  await until('all between are coalesced', async () =>
    await deploys.count('status=coalesced') === PUSHES - 2);
  await deploys.server.stop('SIGKILL');
  // The deploy goes on without its server. The next start ends it before anything runs.
  deploys.unlock();
  await deploys.start();
  await until('it has begun again', () => deploys.notes.length === 2);
  deploys.letGo();
  await until('two are done', async () => await deploys.count('status=delivered') === 2);
  assert.deepEqual(deploys.notes,
    ['begin 1', 'begin 1', 'end 1', `begin ${PUSHES}`, `end ${PUSHES}`]);
  assert.equal(await deploys.count('status=coalesced'), PUSHES - 2);
});

test('a server that stops begins no deploy that waits, and runs those at its next start',
  async (t) => {
    const deploys = await openDeploys(t);
    const options = { ...OPTIONS, coalesce: false };
    await deploys.hook('deploy', options, { inbox: 'all', answer: 'accepted' });
    for (let number = 1; number <= 3; number += 1) await deploys.push(number);
    await deploys.begun(1);
    const stopping = deploys.server.stop();
    await until('it stops', async () =>
      await deploys.ask('/health').then(() => false, () => true));
    deploys.letGo();
    assert.equal((await stopping).code, 0);
    assert.deepEqual(deploys.notes, ['begin 1', 'end 1']);
    await deploys.start();
    await until('all are done', async () => await deploys.count('status=delivered') === 3);
    assert.deepEqual(deploys.notes,
      ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
  });
