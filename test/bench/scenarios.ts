/** Runs the scenarios that are named, or all, and prints their ratios: started by run.ts. */
import { cpus, release } from 'node:os';
import { removeTemporaryFolders } from './books.ts';
import { durablePost, durablePostBusy, getAll, getOne, getOneBusy } from './catalog.ts';
import { client } from './client.ts';
import { deliver, deliverBusy } from './deliveries.ts';
import { growth } from './growth.ts';
import { print } from './harness.ts';
import { accept, inboxAll, inboxFailed, search } from './inbox.ts';
import { journalGrowth } from './journal-growth.ts';
import { inboxKept } from './kept.ts';
import { million } from './million.ts';
import { queries } from './queries.ts';
import { customAction, enqueue, forward, incoming, incomingBusy } from './relay.ts';
import { incomingSenders } from './senders.ts';
import { startUp } from './start.ts';

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  'start': startUp,
  'get-one': getOne,
  'get-one-busy': getOneBusy,
  'get-all': getAll,
  'durable-post': durablePost,
  'durable-post-busy': durablePostBusy,
  'incoming': incoming,
  'incoming-busy': incomingBusy,
  'custom-action': customAction,
  'incoming-senders': incomingSenders,
  'accept': accept,
  'inbox-failed': inboxFailed,
  'inbox-all': inboxAll,
  'inbox-kept': inboxKept,
  'search': search,
  'client': client,
  'forward': forward,
  'enqueue': enqueue,
  'deliver': deliver,
  'deliver-busy': deliverBusy,
  // What it needs of the tests would print a report of theirs.
  'nodes': async () => (await import('./nodes.ts')).nodes(),
  'queries': queries,
  'million': million,
  'journal-growth': journalGrowth,
  'growth': growth,
};
/** Takes a quarter of an hour, so it runs only when it is named. */
const NAMED_ONLY: readonly string[] = ['growth'];

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(scenarios, name));
if (unknown.length > 0) {
  process.stderr.write(`no scenario ${unknown.join(', ')}: ${Object.keys(scenarios).join(', ')}\n`);
  process.exit(2);
}
print(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${release()}`);
for (const [name, run] of Object.entries(scenarios)) {
  const isMeant = named.length === 0 ? !NAMED_ONLY.includes(name) : named.includes(name);
  if (isMeant) await run();
  removeTemporaryFolders();
}
