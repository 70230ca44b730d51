import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brokerName, jobBroker } from '../../../sidecar/open-purges.js';

const NEAR = new URL('http://127.0.0.1:1026');
const FAR = new URL('http://user:secret@orion:1026/broker/');

/** What jobs are bound to at a broker, on a machine of that name. */
const boundTo = (url: URL, store: 'shared' | 'file', machine: string) =>
  jobBroker(url, { isEmbedded: false, isShared: store === 'shared', machine });

it('a job of a shared database goes on at a broker of its own machine only, where no other machine reaches that', () => {
  assert.notEqual(boundTo(NEAR, 'shared', 'one'), boundTo(NEAR, 'shared', 'two'));
  assert.equal(boundTo(NEAR, 'shared', 'one'), boundTo(NEAR, 'shared', 'one'));
  assert.equal(boundTo(FAR, 'shared', 'one'), boundTo(FAR, 'shared', 'two'));
});

it('a job in a file goes on at its broker after its machine got another name', () => {
  assert.equal(boundTo(NEAR, 'file', 'one'), boundTo(NEAR, 'file', 'two'));
});

it('a job is bound to the embedded broker whatever port that has, and to no other one', () => {
  const at = (port: number) =>
    jobBroker(new URL(`http://127.0.0.1:${String(port)}`), { isEmbedded: true, isShared: false });
  assert.equal(at(1), at(2));
  assert.notEqual(at(1), boundTo(NEAR, 'file', 'one'));
});

it('a broker is named by its URL without credentials, with the name of the machine for a loopback address', () => {
  for (const [url, name] of [
    ['http://orion:1026', 'http://orion:1026'],
    ['https://me:secret@Broker.example/a/b/?x=1', 'https://broker.example/a/b'],
    ['http://127.0.0.1:1026/', 'http://127.0.0.1:1026 on here'],
    ['http://localhost:1026', 'http://localhost:1026 on here'],
    ['http://[::1]:1026', 'http://[::1]:1026 on here'],
  ] as const)
    assert.equal(brokerName(new URL(url), 'here'), name);
  assert.equal(boundTo(FAR, 'file', 'one'), 'http://orion:1026/broker');
});
