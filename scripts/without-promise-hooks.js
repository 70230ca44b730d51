/**
 * Loaded before runs of many test files. node:test tracks every promise with an asynchronous hook, only to say which test an
 * uncaught error belongs to. Tests of the gateway create millions of promises, and this took up to a quarter of their time.
 * Without tracking, such an error still fails the run, with its message. A run of few files tracks promises, and names the test.
 */
import asyncHooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

// Worker threads also load what their process loads; no tests run in them.
if (isMainThread) {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = (callbacks) => {
    // An older Node does not know the option, and tracks promises.
    const options = { ...callbacks, trackPromises: false };
    return createHook(options);
  };
  await import('node:test');
  asyncHooks.createHook = createHook;
}
