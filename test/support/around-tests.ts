/** What is there for all tests of a file. */
import { after, before } from 'node:test';

/** Node 20 begins all `before` hooks at once, and files of tests that share a process have many. */
let lastOpened: Promise<void> = Promise.resolve();

/**
 * Opens it before the tests, and closes it after them, however far it was opened: one after
 * another, as servers and pages that all start at once are late on a busy machine. Node 20 calls
 * `after` hooks as soon as one has failed: another may only have begun by then, and what it opens
 * later would keep the process alive.
 */
export function aroundTests(
  open: () => Promise<void>, close: () => Promise<void> = async () => {},
): void {
  let opened: Promise<void> = Promise.resolve();
  before(() => {
    opened = lastOpened.then(open);
    lastOpened = opened.catch(() => {});
    return opened;
  });
  after(async () => {
    await opened.catch(() => {});
    await close();
  });
}
