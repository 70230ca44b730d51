import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokenFollowersError } from '../../sidecar/schemas/models/errors.js';
import { MAX_FOLLOWERS, MAX_FOLLOWERS_MS } from '../../sidecar/schemas/models/context-followers.js';
import type { SchemaService } from '../../sidecar/schemas/models/index.js';
import { PreconditionFailedError, StoreUnavailableError } from '../../sidecar/store/errors.js';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import type { JsonValue } from '../../sidecar/shared/json/json.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { handClock } from '../support/store-samples.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { BASE_URL, rejection, useRigs } from '../unit/schemas/models/harness.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';

const OPTIONS = { baseUrl: BASE_URL };
const LOOKING = { ...OPTIONS, looksAtFollowers: true };
const SCHEMA = plainSchema({ seats: { type: 'integer' } });
const BEFORE = { terms: 'https://terms.example/' };
const AFTER = { terms: 'https://other.example/' };
/** A context that defines "seats" in another way cannot follow this one. */
const PROTECTED = { '@protected': true, terms: 'https://terms.example/', seats: 'urn:other:seats' };

function urlOf(name: string, version?: number): string {
  return `${BASE_URL}/api/v2/contexts/${name}${version === undefined ? '' : `?version=${version}`}`;
}

function model(service: SchemaService, name: string, context: JsonValue) {
  const compatibility = 'full';
  return service.models.create('city', { name, schema: SCHEMA, context, compatibility }, OPTIONS);
}

/** The differences reported for a follower in which `seats` is `terms:seats`. */
const meaning = (from: string, to: string) => [
  `"seats" means ${to}seats, meant ${from}seats`,
  `"terms" means ${to}, meant ${from}`,
];

async function detailsOf(update: ReturnType<SchemaService['contexts']['update']>) {
  const { followers } = await update;
  return followers.map(({ model: name, change }) => [name, change.differences.map(({ detail }) => detail)]);
}

/** A store that runs a function once, just before a context gets a new version. */
function before(what: (store: SchemaStore) => Promise<unknown>): (store: SchemaStore) => SchemaStore {
  let isDone = false;
  return (store) =>
    storeWith(store, {
      contexts: over(store.contexts, {
        update: async (...parameters) => {
          if (!isDone) {
            isDone = true;
            await what(store);
          }
          return store.contexts.update(...parameters);
        },
      }),
    });
}

const text = (context: JsonValue) => JSON.stringify({ '@context': context });

const rigOf = useRigs();

it('a context update lists followers whose terms change their meaning, directly or through others, but not those of a fixed version', async (t) => {
  const { service } = await rigOf(t);
  const own = { seats: 'terms:seats' };
  await service.contexts.create('base', BEFORE, OPTIONS);
  await service.contexts.create('between', [urlOf('base'), own], OPTIONS);
  await model(service, 'Direct', ['base', own]);
  await model(service, 'Through', 'between');
  await model(service, 'Model', urlOf('city~Through'));
  await model(service, 'Pinned', [urlOf('base', 1), own]);
  const names = ['Direct', 'Model', 'Through'];
  const change = meaning(BEFORE.terms, AFTER.terms);
  const dryRun = true;
  for (const options of [{ ...LOOKING, dryRun }, { ...LOOKING, dryRun }, LOOKING])
    assert.deepEqual(
      await detailsOf(service.contexts.update('base', AFTER, options)),
      names.map((name) => [name, change]),
    );
  for (const same of [AFTER, { ...AFTER, more: 'urn:more' }])
    assert.deepEqual(await detailsOf(service.contexts.update('base', same, LOOKING)), []);
});

it('a context update is refused if it breaks a follower; contexts that are already broken do not matter', async (t) => {
  const { service, store } = await rigOf(t);
  await service.contexts.create('base', BEFORE, OPTIONS);
  await model(service, 'Bench', ['base', { seats: 'terms:seats' }]);
  await service.contexts.create('other', [urlOf('base'), { seats: 'terms:seats' }], OPTIONS);
  const refused = await rejection(service.contexts.update('base', PROTECTED, LOOKING), BrokenFollowersError);
  assert.deepEqual(refused.dependents, [
    { kind: 'model', domain: 'city', name: 'Bench', version: 1 },
    { kind: 'context', name: 'other', version: 1 },
  ]);
  assert.match(refused.message, /"seats": The term is protected/);
  assert.equal((await service.contexts.document('base', 1)).kind, 'custom');
  await store.contexts.update('base', { text: text(PROTECTED), contexts: new Set() });
  const done = await service.contexts.update('base', { ...PROTECTED, more: 'urn:more' }, LOOKING);
  assert.equal(done.isNewVersion, true, 'they could not be processed before either');
  assert.deepEqual(done.followers, []);
  assert.equal((await service.contexts.update('base', BEFORE, LOOKING)).isNewVersion, true);
});

it('a context update is refused if it makes the chain of contexts too long for a follower', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('below', BEFORE, OPTIONS);
  await service.contexts.create('c0', BEFORE, OPTIONS);
  for (let n = 1; n < 11; n += 1)
    await service.contexts.create(`c${n}`, [urlOf(`c${n - 1}`), { [`x${n}`]: `urn:x:${n}` }], OPTIONS);
  const change = service.contexts.update('c0', [urlOf('below'), BEFORE], LOOKING);
  const { dependents, message } = await rejection(change, BrokenFollowersError);
  assert.deepEqual(dependents, [{ kind: 'context', name: 'c10', version: 1 }]);
  assert.match(message, /10 deep/);
});

it('followers are checked again if another update of the context comes first', async (t) => {
  const between = { terms: 'https://between.example/' };
  const meddling = before((store) =>
    store.contexts.update('base', { text: text(between), contexts: new Set() }),
  );
  const { service } = await rigOf(t, { store: meddling });
  const { context } = await service.contexts.create('base', BEFORE, OPTIONS);
  await model(service, 'Bench', ['base', { seats: 'terms:seats' }]);
  assert.deepEqual(await detailsOf(service.contexts.update('base', AFTER, LOOKING)), [
    ['Bench', meaning(between.terms, AFTER.terms)],
  ]);
  const stale = { ...LOOKING, ifMatch: [context.etag] };
  await rejection(service.contexts.update('base', BEFORE, stale), PreconditionFailedError);
});

it('followers beyond a hundred, and those that are too costly to check, are only counted', async (t) => {
  let isSlow = false;
  const { service, store, tasks } = await rigOf(t, {
    // The check ends after a while.
    clock: handClock(),
    workers: (workers) => ({
      run: (kind, input, options) =>
        isSlow && kind === 'contextTerms'
          ? Promise.reject(new TaskTooCostlyError('time', 'It took too long.'))
          : workers.run(kind, input, options),
    }),
  });
  await service.contexts.create('base', BEFORE, OPTIONS);
  const follower = { text: text([urlOf('base')]), contexts: new Set(['base']) };
  for (let n = 0; n < MAX_FOLLOWERS + 1; n += 1) await store.contexts.create(`f${n}`, follower);
  tasks.length = 0;
  const codes = async () => {
    const { warnings } = await service.contexts.update('base', AFTER, { ...LOOKING, dryRun: true });
    return warnings.map(({ code, detail }) => `${code}: ${detail.split(':')[0]}`);
  };
  assert.deepEqual(await codes(), ['followers-not-compared: 1 follower of the context was not checked']);
  assert.ok(tasks.length < 20 * MAX_FOLLOWERS);
  isSlow = true;
  assert.deepEqual(await codes(), ['followers-not-compared: 101 followers of the context were not checked']);
});

it('followers are checked for a limited time, and the remaining ones are counted', async (t) => {
  const clock = handClock();
  const { service, store } = await rigOf(t, {
    clock,
    workers: (workers) => ({
      run: (kind, input, options) => {
        if (kind === 'contextTerms') clock.time += MAX_FOLLOWERS_MS;
        return workers.run(kind, input, options);
      },
    }),
  });
  await service.contexts.create('base', BEFORE, OPTIONS);
  const follower = { text: text([urlOf('base')]), contexts: new Set(['base']) };
  for (let n = 0; n < 20; n += 1) await store.contexts.create(`f${n}`, follower);
  const { warnings } = await service.contexts.update('base', AFTER, { ...LOOKING, dryRun: true });
  const [, left] = /^(\d+) followers of the context were not checked/.exec(warnings[0]?.detail ?? '') ?? [];
  assert.ok(Number(left) >= 12 && Number(left) < 20, left);
});

it('followers deleted during the check do not count, and an outage during the check ends the update', async (t) => {
  let isAway = false;
  const { service, store } = await rigOf(t, {
    store: (below) =>
      storeWith(below, {
        models: over(below.models, {
          texts: async (key) => {
            if (isAway) throw new StoreUnavailableError('down');
            if (key.name === 'Bench') await below.models.delete({ domain: key.domain, name: key.name });
            return below.models.texts(key);
          },
        }),
      }),
  });
  await service.contexts.create('base', BEFORE, OPTIONS);
  for (const name of ['Bench', 'Stool']) await model(service, name, ['base', { seats: 'terms:seats' }]);
  const { followers, warnings } = await service.contexts.update('base', AFTER, { ...LOOKING, dryRun: true });
  assert.deepEqual([followers.map(({ model: name }) => name), warnings], [['Stool'], []]);
  isAway = true;
  await rejection(service.contexts.update('base', AFTER, LOOKING), StoreUnavailableError);
  assert.equal((await store.contexts.get('base')).context.currentVersion, 1);
});

it('the check of followers stops, and nothing is written, if the client disconnects', async (t) => {
  const leaving = new AbortController();
  const { service } = await rigOf(t, {
    workers: (workers) => ({
      run: (kind, input, options) => {
        if (kind === 'contextTerms') leaving.abort(new Error('gone'));
        return workers.run(kind, input, options);
      },
    }),
  });
  await service.contexts.create('base', BEFORE, OPTIONS);
  await service.contexts.create('other', [urlOf('base')], OPTIONS);
  const { signal } = leaving;
  await assert.rejects(service.contexts.update('base', AFTER, { ...LOOKING, signal }), /gone/);
  assert.match((await service.contexts.document('base')).bytes.toString(), /terms\.example/);
});
