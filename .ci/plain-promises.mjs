// Imported before the files of a run of all tests: what follows runs with a quarter less work of the
// processor under Node 20. Else node:test follows each promise, timer and socket by an asynchronous
// hook, only to say of an error that nobody catches which test it belongs to. Such an error still
// fails its file, and that file alone, run by its name, tells the test.
import { createHook } from 'node:async_hooks';
import { after } from 'node:test';

const prototype = Object.getPrototypeOf(createHook({}));
const { enable } = prototype;
prototype.enable = function skip() {
  return this;
};
// It begins to follow at the first call of any of its functions.
after(() => {});
prototype.enable = enable;
