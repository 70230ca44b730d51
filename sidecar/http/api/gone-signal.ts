import type { ServerResponse } from 'node:http';
import { refused } from './refusals.js';

/** Aborts when the client goes away before it has its answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished)
      controller.abort(refused('invalidRequest', 'The client went away before the answer.'));
  });
  return controller.signal;
}
