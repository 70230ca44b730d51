import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { StoreUnavailableError } from '../../sidecar/store/errors.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../sidecar/shared/workers/errors.js';
import { stopAll } from '../support/gateway-harness.js';
import { CAR } from './api-client.js';
import { failingService, MODEL, REQUESTS, startFakeApi } from './api-fake.js';

after(stopAll);

it('an unexpected error is 500 for every operation, reveals nothing, and is logged', async () => {
  const { api, log } = await startFakeApi(failingService(() => new Error('secret detail')));
  for (const [method, target, body] of REQUESTS) {
    const answer = await api.send(method, target, { body });
    assert.equal(answer.status, 500, `${method} ${target}`);
    assert.match(answer.problem().type, /InternalError$/);
    assert.ok(!answer.text.includes('secret'));
  }
  assert.equal(log.with('request failed').length, REQUESTS.length);
  assert.match(log.text, /secret detail/);
});

it('an unavailable store is 503 with Retry-After for every operation, and the log has the cause', async () => {
  const cause = new Error('disk full');
  const { api, log } = await startFakeApi(
    failingService(() => new StoreUnavailableError('The database does not work.', { cause })),
  );
  for (const [method, target, body] of REQUESTS) {
    const answer = await api.send(method, target, { body });
    assert.equal(answer.status, 503, `${method} ${target}`);
    assert.match(answer.problem().type, /store-unavailable$/);
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
  }
  assert.match(log.text, /disk full/);
  const ready = await fetch(`${new URL(api.url).origin}/health/ready`);
  assert.equal(ready.status, 503);
  assert.deepEqual(await ready.json(), { status: 'down', broker: 'up', database: 'down' });
});

it('busy or slow workers are 503 with Retry-After', async () => {
  for (const error of [new WorkersBusyError(64), new TaskTooCostlyError('time', 'too long')]) {
    const { api } = await startFakeApi(failingService(() => error));
    for (const [method, target, body] of [
      ['POST', '/domains/D/models', { name: 'M', schema: CAR }],
      ['GET', `${MODEL}/openapi`, undefined],
    ] as const) {
      const answer = await api.send(method, target, { body });
      assert.equal(answer.status, 503);
      assert.match(answer.problem().type, /busy$/);
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    }
  }
});

it('a failed worker is 500', async () => {
  const { api } = await startFakeApi(failingService(() => new TaskFailedError('The task failed.')));
  assert.equal((await api.get(`${MODEL}/openapi`)).status, 500);
});
