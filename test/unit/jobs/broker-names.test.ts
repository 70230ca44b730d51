import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobBroker } from '../../../sidecar/jobs/broker-names.js';

const NEAR = new URL('http://127.0.0.1:1026');
const FAR = new URL('http://user:secret@orion:1026/broker/');
const SHARED = 'postgres://db/gateway';

/** What jobs are bound to at a broker, on a machine of that name. */
const boundTo = (url: URL, database: string | undefined, machine: string) =>
  jobBroker({ BROKER_URL: url, DATABASE_URL: database }, url, machine);

describe('the broker of a job', () => {
  it('a job of a shared database goes on at a broker of its own machine only, where no other machine reaches that', () => {
    assert.notEqual(boundTo(NEAR, SHARED, 'one'), boundTo(NEAR, SHARED, 'two'));
    assert.equal(boundTo(NEAR, SHARED, 'one'), boundTo(NEAR, SHARED, 'one'));
    assert.equal(boundTo(FAR, SHARED, 'one'), boundTo(FAR, SHARED, 'two'));
  });

  it('a job in a file goes on at its broker after its machine got another name', () => {
    assert.equal(boundTo(NEAR, undefined, 'one'), boundTo(NEAR, undefined, 'two'));
  });

  it('a job is bound to the embedded broker whatever port that has, and to no other one', () => {
    const at = (port: number) =>
      jobBroker(
        { BROKER_URL: 'embedded', DATABASE_URL: undefined },
        new URL(`http://127.0.0.1:${String(port)}`),
      );
    assert.equal(at(1), at(2));
    assert.notEqual(at(1), boundTo(NEAR, undefined, 'one'));
  });

  it('what a job is bound to has no credentials of the broker', () => {
    assert.equal(boundTo(FAR, undefined, 'one'), 'http://orion:1026/broker');
  });
});
