/** What is there for all tests of a file. */
import { after, before } from 'node:test';

/**
 * Opens it before the tests, and closes it after them, however far it was opened. Node 20 begins
 * all `before` hooks of a file at once, and calls `after` hooks as soon as one has failed: another
 * may only have begun by then, and what it opens later would keep the process alive.
 */
export function aroundTests(open: () => Promise<void>, close: () => Promise<void>): void {
  let opened: Promise<void> = Promise.resolve();
  before(() => {
    opened = open();
    return opened;
  });
  after(async () => {
    await opened.catch(() => {});
    await close();
  });
}
