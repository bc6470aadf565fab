/** Three nodes over PostgreSQL with two standbys, and everything that can break. */
import { PostgresRig } from '../life/engine-rigs.ts';
import { postgresMissing } from '../support/driver.ts';
import { testFaults } from './form.ts';
import { POSTGRES_FAULTS } from './postgres-faults.ts';

testFaults({
  engine: 'PostgreSQL', skip: postgresMissing, start: () => PostgresRig.start(3),
  faults: POSTGRES_FAULTS,
  short: [
    'a node is killed just after it sent a commit', 'connections are cut just after a commit',
    'connections are cut before the answer to a commit',
    'a node is killed in the middle of attempts', 'a node is cut off from the engine',
    'the primary is killed, a standby is promoted, the old one comes back',
    'both standbys are killed and come back',
    'a phantom: what waited is seen after a crash, and lost by a promotion',
    'a false success: a wait is cancelled, then the standbys come back',
    'everything is killed at once',
  ],
});
