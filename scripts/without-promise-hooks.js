/**
 * Loaded before the tests of many files: node:test follows every promise with an asynchronous hook, only to say which test a
 * stray error belongs to. Tests of the gateway make millions of promises, and up to a quarter of their time went there. Without
 * it such an error fails the run all the same, with its message; a run of few files, where promises are followed, names the test.
 */
import asyncHooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

// Worker threads load what their process does; there are no tests in them.
if (isMainThread) {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = (callbacks) => {
    // An older Node does not know the option, and follows promises.
    const options = { ...callbacks, trackPromises: false };
    return createHook(options);
  };
  await import('node:test');
  asyncHooks.createHook = createHook;
}
