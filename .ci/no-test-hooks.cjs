// Loaded before tests. node:test follows every promise of them through an asynchronous hook, to know
// of an error that nobody caught which test it is of: under Node 20 nearly half of the processor time
// of a unit test. Here such an error ends the process, and its stack says where it comes from.
const { isMainThread } = require('node:worker_threads');

// What tests start inherits the options of Node, and is no test; nor is the runner, which names them.
const isTests = isMainThread && process.env.NODE_TEST_CONTEXT !== undefined
  && /\/tests-\w+\/\d{4}-[^/]+\.mjs$/.test(process.argv[1]);
if (isTests) {
  const asyncHooks = require('node:async_hooks');
  const { AsyncResource, createHook } = asyncHooks;
  let note = () => {};
  asyncHooks.createHook = ({ init }) => {
    note = init;
    return { enable() {}, disable() {} };
  };
  // Tests and suites alone, so that a test within `describe` finds its suite.
  asyncHooks.AsyncResource = class extends AsyncResource {
    constructor(type, options) {
      super(type, options);
      note(this.asyncId(), type, this.triggerAsyncId(), this);
    }
  };
  // This has node:test begin, and make its hook.
  require('node:test').before(() => {});
  Object.assign(asyncHooks, { AsyncResource, createHook });
  process.prependListener('uncaughtException', endWith);
  process.prependListener('unhandledRejection', endWith);
}

function endWith(error) {
  // A test that expects such an error listens itself, beside node:test and us.
  if (process.listenerCount('uncaughtException') > 2) return;
  console.error(error);
  process.exit(1);
}
