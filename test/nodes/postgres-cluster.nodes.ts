import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PostgresCluster, postgresMissing } from './support/postgres-cluster.ts';

const skip = postgresMissing;
const started: PostgresCluster[] = [];
after(async () => {
  for (const cluster of started) await cluster.stop();
});

test('a cluster confirms by its standbys, loses its primary, and goes on with another',
  { skip }, async () => {
    const cluster = await PostgresCluster.start({ standbys: 2 });
    started.push(cluster);
    const [first, second] = [cluster.at(1), cluster.at(2)];
    cluster.primary.query('create table kept (value int); insert into kept values (1)');

    await cluster.primary.kill();
    await first.promote();
    await second.kill('SIGINT');
    second.follow(first);
    first.set("synchronous_standby_names='ANY 1 (s2)'");
    await second.start();
    await cluster.streams(1, first);

    first.query('insert into kept values (2)');
    await cluster.primary.start();
    assert.equal(first.query('select value from kept order by value'), '1\n2');
    assert.equal(cluster.primary.query('select value from kept'), '1', 'it comes back as it was');

    await cluster.primary.kill('SIGINT');
    await cluster.primary.rewind(first);
    cluster.primary.follow(first);
    await cluster.primary.start();
    assert.equal(cluster.primary.query('select pg_is_in_recovery()'), 't');
  });
