/**
 * The threads of this process that run the code of other people. Node waits for each thread before
 * it ends, by `process.exit` too, and a thread that waits within the system may never end.
 */
import type { Worker } from 'node:worker_threads';

const liveThreads = new Set<Worker>();

/** Counts the thread until it has ended. */
export function countThread(thread: Worker): void {
  liveThreads.add(thread);
  thread.once('exit', () => liveThreads.delete(thread));
}

export function hasLiveThreads(): boolean {
  return liveThreads.size > 0;
}
