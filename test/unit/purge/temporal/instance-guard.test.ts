import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FilterIgnoredError, QueryRefusedError } from '../../../../sidecar/purge/errors.js';
import {
  createInstanceGuard,
  instanceListsOf,
  type AttributeInstance,
} from '../../../../sidecar/purge/temporal/instances.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { words } from '../../../support/words.js';

const ID = 'urn:ngsi-ld:Car:1';
const BETWEEN = 'timerel=between&timeAt=2026-01-01T00:00:00Z&endTimeAt=2026-02-01T00:00:00Z';
const guardOf = (query: string) => createInstanceGuard(parseTemporalPurgeQuery(`type=Car&${query}`));
const CHECKED = { datasetId: '@none', time: undefined } as const;
/** An instance as it is read, with the members that the guard checks. */
function instance(more: Partial<Pick<AttributeInstance, 'datasetId' | 'time'>>): AttributeInstance {
  const [list] = instanceListsOf({ speed: { value: 1, instanceId: 'urn:i:1' } }, 'observedAt');
  const [read] = list?.instances ?? [];
  assert.ok(read !== undefined);
  return { ...read, ...CHECKED, ...more };
}

function assertStopped(action: () => void, parameter: string): string {
  let caught: unknown;
  try {
    action();
  } catch (error) {
    caught = error;
  }
  // By then the broker is known to respect attrs, so the name given by the caller is at fault.
  const error = parameter === 'attrs' ? QueryRefusedError : FilterIgnoredError;
  assert.ok(caught instanceof error, 'the guard lets it pass');
  assert.equal(caught.parameter, parameter);
  assert.match(caught.message, /Nothing more is deleted/);
  return caught.message;
}

it("the guard of a temporal purge stops at an attribute that attrs does not name, and gives the broker's name for it", () => {
  const guard = guardOf('attrs=speed,https://a.test/n');
  for (const name of ['speed', 'https://a.test/n']) guard.checkAttribute(ID, name);
  for (const name of ['n', 'Speed', 'https://a.test/speed', '__proto__', 'constructor', '']) {
    const message = assertStopped(() => guard.checkAttribute(ID, name), 'attrs');
    assert.ok(message.includes(name) && message.includes(ID) && message.includes('@context'), message);
  }
});

it('the guard of a temporal purge stops at an instance in a dataset that datasetId does not name', () => {
  const guard = guardOf('datasetId=urn:d:1,@none');
  for (const datasetId of ['urn:d:1', '@none']) guard.checkInstance(ID, 'speed', instance({ datasetId }));
  for (const datasetId of ['urn:d:2', 'URN:D:1', '']) {
    assertStopped(() => guard.checkInstance(ID, 'speed', instance({ datasetId })), 'datasetId');
  }
  const named = guardOf('attrs=speed&datasetId=urn:d:1');
  assertStopped(() => named.checkInstance(ID, 'speed', instance({})), 'datasetId');
});

it('the guard of a temporal purge stops at an instance outside the interval, but not at its bounds', () => {
  const guard = guardOf(BETWEEN);
  for (const time of ['2026-01-01T00:00:00Z', '2026-01-15T12:00:00+01:00', '2026-02-01T00:00:00Z']) {
    guard.checkInstance(ID, 'speed', instance({ time }));
  }
  for (const time of words(`
      2025-12-31T23:59:59.999Z 2026-02-01T00:00:00.001Z 2026-01-01T00:00:00+01:00 soon
    `)) {
    const message = assertStopped(() => guard.checkInstance(ID, 'speed', instance({ time })), 'timerel');
    assert.ok(message.includes(time) && message.includes('observedAt'), message);
    const dated = { ...instance({ time }), createdAt: '2026-01-15T00:00:00Z' };
    assertStopped(() => guard.checkInstance(ID, 'speed', dated), 'timerel');
  }
});

it('the guard of a temporal purge accepts an instance without a time', () => {
  guardOf(BETWEEN).checkInstance(ID, 'speed', instance({ time: undefined }));
});

it('the guard of a temporal purge quotes at most 200 characters of what the broker shows', () => {
  const long = 'x'.repeat(100_000);
  const guard = guardOf(`attrs=speed&datasetId=urn:d:1&${BETWEEN}`);
  for (const message of [
    assertStopped(() => guard.checkAttribute(long, long), 'attrs'),
    assertStopped(() => guard.checkInstance(long, long, instance({ datasetId: long })), 'datasetId'),
    assertStopped(
      () => guard.checkInstance(long, long, instance({ datasetId: 'urn:d:1', time: long })),
      'timerel',
    ),
  ]) {
    assert.ok(message.length < 1000, String(message.length));
  }
});
