/** Asks a relay for a job and waits for its end. */
import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import type { Answer, Relay } from '../relay.ts';

export async function endedJob(relay: Relay, path: string, body: object): Promise<Answer['json']> {
  const asked = await relay.ask('POST', path, body);
  assert.equal(asked.status, 202, asked.text);
  let job = asked.json;
  await until('the job has ended', async () => {
    job = (await relay.ask('GET', String(asked.headers['location']))).json;
    return job['status'] !== 'running';
  }, { seen: () => JSON.stringify(job) });
  return job;
}
