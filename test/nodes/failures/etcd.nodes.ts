/** Three nodes over etcd of three members, and everything that can break. */
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdRig } from '../life/engine-rigs.ts';
import { etcdMissing } from '../support/etcd-cluster.ts';
import { testFaults } from './form.ts';
import { NODE_FAULTS } from './node-faults.ts';
import type { Fault } from './node-faults.ts';

const WAITING_MS = 3000;

const FAULTS: Readonly<Record<string, Fault<EtcdRig>>> = {
  'nothing breaks': (life) => life.progress(200),
  ...NODE_FAULTS,
  'the leader is killed and comes back': async (life, { cluster }) => {
    const leader = await cluster.leader();
    await leader?.kill();
    await life.progress(30);
    leader?.start();
  },
  'the other members do not reach the leader': async (life, rig) => {
    const leader = await rig.cluster.leader();
    if (leader === null) throw new Error('etcd has a leader');
    const way = rig.wayTo(leader);
    way.hold('toServer', 'toClient');
    await life.progress(50);
    way.heal();
  },
  'the leader stands still for a while': async (life, { cluster }) => {
    const leader = await cluster.leader();
    leader?.freeze();
    await life.progress(20);
    leader?.thaw();
  },
  'two of three are killed and come back': async (_, { cluster }) => {
    const [first, second] = cluster.members;
    await Promise.all([first?.kill(), second?.kill()]);
    await delay(WAITING_MS);
    first?.start();
    second?.start();
  },
  'everything is killed at once': async (life, { cluster }) => {
    await Promise.all([
      ...life.shelves.map((shelf) => shelf.stop('SIGKILL')),
      ...cluster.members.map((member) => member.kill()),
    ]);
    await cluster.startAll();
    await Promise.all(life.shelves.map((shelf) => shelf.start()));
  },
};

testFaults({
  engine: 'etcd', skip: etcdMissing, start: () => EtcdRig.start(3), faults: FAULTS,
  short: [
    'a node is killed just after it sent a commit',
    'connections are cut before the answer to a commit', 'a node is cut off from the engine',
    'the leader is killed and comes back', 'two of three are killed and come back',
    'everything is killed at once',
  ],
});
