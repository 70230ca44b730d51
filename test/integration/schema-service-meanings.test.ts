import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonValue } from '../../sidecar/shared/json/json.js';
import { IncompatibleChangeError } from '../../sidecar/schemas/models/errors.js';
import type { ChangeReport } from '../../sidecar/schemas/json-schema/differences.js';
import type { ModelChange, SchemaService } from '../../sidecar/schemas/models/index.js';
import type { ServiceWorkers } from '../../sidecar/schemas/models/model-tasks.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../sidecar/shared/workers/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  ALLOWED,
  BASE_URL,
  CONTEXT_BASE,
  rejection,
  storedModel,
  useRigs,
} from '../unit/schemas/models/harness.js';
import { column, columns } from '../support/columns.js';

const KEY = { domain: 'city', name: 'Bench' };
const OPTIONS = { baseUrl: BASE_URL };
const SCHEMA = plainSchema({ seats: { type: 'integer' }, colour: { type: 'string' } });
const SEATS = 'https://official.example/seats';
const OTHER = 'https://other.example/seats';

function create(service: SchemaService, context: JsonValue, change: Partial<ModelChange> = {}) {
  const { status = 'published', schema = SCHEMA } = change;
  const model = { name: 'Bench', schema, context, compatibility: 'backward', status } as const;
  return service.models.create('city', model, OPTIONS);
}

function put(service: SchemaService, change: ModelChange) {
  return service.models.put(KEY, change, OPTIONS);
}

async function refusedReport(service: SchemaService, change: ModelChange): Promise<ChangeReport> {
  const { report } = await rejection(put(service, change), IncompatibleChangeError);
  assert.equal((await storedModel(service, KEY)).version.number, 1);
  return report;
}

function urlOf(name: string, version?: number): string {
  const url = `${BASE_URL}/api/v2/contexts/${name}`;
  return version === undefined ? url : `${url}?version=${version}`;
}

function seatsMean(is: string, was: string): ChangeReport {
  const detail = `"seats" means ${is}, meant ${was}`;
  const difference = { pointer: '/properties/seats', class: 'breaking', reason: 'meaning', detail } as const;
  return { overall: 'breaking', differences: [difference] };
}

/**
 * Makes the next tasks of a kind fail with these errors.
 * @param onTask called with the input of each such task
 */
function failing(
  kind: 'compareSchemas' | 'contextTerms',
  errors: Error[],
  onTask: (input: object) => void = () => undefined,
): (workers: ServiceWorkers) => ServiceWorkers {
  return (workers) => ({
    run: (one, input, options) => {
      if (one === kind) onTask(input);
      const error = one === kind ? errors.shift() : undefined;
      return error === undefined ? workers.run(one, input, options) : Promise.reject(error);
    },
  });
}

const rigOf = useRigs();

it('a context that loses the prefix of an attribute, or makes it a mere term, is refused as breaking', async (t) => {
  const { service } = await rigOf(t);
  const schema = plainSchema({ 'ex:seats': { type: 'integer' } });
  await create(service, { ex: 'https://official.example/' }, { schema });
  for (const context of [null, {}, { ex: { '@id': 'https://official.example/' } }] as const) {
    const { differences } = await refusedReport(service, { context });
    assert.deepEqual(columns(differences, 'pointer', 'detail'), [
      ['/properties/ex:seats', `"ex:seats" means ex:seats, meant ${SEATS}`],
    ]);
  }
  const context = { ex: { '@id': 'https://official.example/', '@prefix': true } };
  const { change } = await put(service, { context });
  assert.deepEqual(change, { overall: 'compatible', differences: [] });
});

it('a context that gives a term another meaning is refused as breaking, however it is written', async (t) => {
  const { service } = await rigOf(t);
  await create(service, { seats: SEATS });
  for (const context of [
    { seats: OTHER },
    { other: 'https://other.example/', seats: 'other:seats' },
    { '@vocab': 'https://other.example/', seats: { '@id': 'seats' } },
  ] as const)
    assert.deepEqual(await refusedReport(service, { context }), seatsMean(OTHER, SEATS));
  const generated = seatsMean(`${CONTEXT_BASE}seats`, SEATS);
  assert.deepEqual(await refusedReport(service, { context: null }), generated);
  assert.deepEqual(await refusedReport(service, { context: { chairs: SEATS } }), generated);
  const { differences } = await refusedReport(service, {
    context: { seats: { '@id': SEATS, '@type': '@id' } },
  });
  const detail = '"seats" is read as {"@type":"@id"}, was read as a plain value';
  assert.deepEqual(differences, [
    { pointer: '/properties/seats', class: 'breaking', reason: 'meaning', detail },
  ]);
});

it('a context that gives every term its old meaning is a compatible change', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('terms', { seats: SEATS }, OPTIONS);
  await create(service, { seats: SEATS });
  for (const context of [
    { official: 'https://official.example/', seats: 'official:seats' },
    'terms',
    [urlOf('terms'), { more: 'https://official.example/more' }],
    { seats: { '@id': SEATS }, colour: `${CONTEXT_BASE}colour` },
  ] as const) {
    const { outcome, change } = await put(service, { context });
    assert.deepEqual([outcome, change.overall], ['version', 'compatible'], JSON.stringify(context));
  }
  const contextBase = `${CONTEXT_BASE}other/`;
  const refused = await rejection(put(service, { contextBase }), IncompatibleChangeError);
  assert.deepEqual(
    refused.report.differences.map(({ pointer, detail }) => [pointer, /"\w+"/.exec(detail)?.[0]]),
    [['', '"Bench"']],
    'only what is generated',
  );
});

it('a changed meaning is detected if it comes from a stored context', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('terms', { seats: SEATS }, OPTIONS);
  await service.contexts.create('others', { seats: OTHER }, OPTIONS);
  await service.contexts.create('both', [urlOf('terms'), { '@language': 'de' }], OPTIONS);
  await create(service, 'terms');
  for (const context of ['others', urlOf('others'), ['terms', 'others'], { seats: OTHER }] as const)
    assert.deepEqual(await refusedReport(service, { context }), seatsMean(OTHER, SEATS));
  const { differences } = await refusedReport(service, { context: 'both' });
  assert.deepEqual(column(differences, 'detail'), ['"@language" means de, meant nothing']);
  assert.equal((await put(service, { context: ['others', 'terms'] })).outcome, 'version');
});

it('a changed meaning is detected if it comes from another version of a stored context', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('terms', { seats: SEATS }, OPTIONS);
  await service.contexts.update('terms', { seats: OTHER }, OPTIONS);
  await service.contexts.update('terms', { seats: OTHER, wood: 'https://official.example/wood' }, OPTIONS);
  await create(service, urlOf('terms', 1));
  for (const context of [urlOf('terms', 2), urlOf('terms', 3), 'terms'])
    assert.deepEqual(await refusedReport(service, { context }), seatsMean(OTHER, SEATS));
  await service.store.models.delete(KEY);
  await create(service, urlOf('terms', 2));
  assert.deepEqual(await refusedReport(service, { context: urlOf('terms', 1) }), seatsMean(SEATS, OTHER));
  assert.equal((await put(service, { context: 'terms' })).change.overall, 'compatible');
});

it('a model that follows a stored context is compared by the current meaning of that context', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('terms', { seats: SEATS }, OPTIONS);
  await create(service, 'terms');
  await service.contexts.update('terms', { seats: OTHER }, OPTIONS);
  assert.equal((await put(service, { context: 'terms', schema: SCHEMA })).outcome, 'unchanged');
  assert.deepEqual(await refusedReport(service, { context: { seats: SEATS } }), seatsMean(SEATS, OTHER));
  assert.equal((await put(service, { context: urlOf('terms', 2) })).change.overall, 'compatible');
});

it('a changed meaning is accepted without compatibility, and reported', async (t) => {
  const { service } = await rigOf(t);
  await service.contexts.create('others', { seats: OTHER }, OPTIONS);
  await create(service, { seats: SEATS }, { status: 'draft' });
  const draft = await put(service, { context: 'others' });
  assert.deepEqual([draft.outcome, draft.change], ['replaced', seatsMean(OTHER, SEATS)]);
  const free = await put(service, { context: { seats: SEATS }, compatibility: 'none', status: 'published' });
  assert.deepEqual([free.outcome, free.change], ['replaced', seatsMean(SEATS, OTHER)]);
  const version = await put(service, { context: 'others' });
  assert.deepEqual([version.outcome, version.change], ['version', seatsMean(OTHER, SEATS)]);
  const there = await service.comparison.diff(KEY, { from: 1, to: 2, ...OPTIONS });
  assert.deepEqual([there.change, there.pointers], [seatsMean(OTHER, SEATS), []]);
  const back = await service.comparison.diff(KEY, { from: 2, to: 1, ...OPTIONS });
  assert.deepEqual(back.change, seatsMean(SEATS, OTHER));
  for (const [compatibility, report] of [
    ['forward', seatsMean(OTHER, SEATS)],
    ['full', seatsMean(SEATS, OTHER)],
  ] as const) {
    const change = put(service, { context: { seats: SEATS }, compatibility });
    assert.deepEqual((await rejection(change, IncompatibleChangeError)).report, report);
  }
});

it('a change is unproven if the terms of a context cannot be determined', async (t) => {
  const { service, web } = await rigOf(t);
  const url = `${ALLOWED}/context.jsonld`;
  web.set(url, { '@context': { seats: SEATS } });
  await service.contexts.create('live', [url], OPTIONS);
  await create(service, 'live');
  web.delete(url);
  const { overall, differences } = await refusedReport(service, { context: { seats: SEATS } });
  assert.equal(overall, 'narrowing');
  assert.deepEqual(columns(differences, 'pointer', 'reason'), [['', 'unproven']]);
  assert.match(
    differences[0]?.detail ?? '',
    /^the meaning of the terms cannot be compared: The context https:\/\/\S+ cannot be used: /,
  );
});

it('a comparison that is too costly is repeated without witnesses, and only if that fails is the change unproven', async (t) => {
  const errors: Error[] = [];
  const asked: boolean[] = [];
  const { service } = await rigOf(t, {
    workers: failing('compareSchemas', errors, (input) => asked.push('withWitnesses' in input)),
  });
  await create(service, null);
  await put(service, { schema: plainSchema({ seats: { type: 'string' } }), compatibility: 'none' });
  const diff = async (...failures: Error[]) => {
    errors.push(...failures);
    asked.length = 0;
    const { change } = await service.comparison.diff(KEY, { from: 1, to: 2, ...OPTIONS });
    return [change.overall, change.differences.some(({ reason }) => reason === 'unproven'), asked];
  };
  for (const error of [
    new TaskTooCostlyError('time', 'It took too long.'),
    new TaskFailedError('It failed.', { cause: new RangeError('too deep') }),
  ]) {
    assert.deepEqual(await diff(error), ['breaking', false, [true, false]]);
    assert.deepEqual(await diff(error, error), ['narrowing', true, [true, false]]);
  }
  const closed = new TaskFailedError('The pool was closed.');
  await assert.rejects(diff(closed), closed);
  assert.deepEqual(asked, [true], 'it is not made again');
});

it('a change is unproven if its context is too costly to process, and the comparison fails if the workers are busy', async (t) => {
  const errors: Error[] = [];
  const { service } = await rigOf(t, { workers: failing('contextTerms', errors) });
  await create(service, { seats: SEATS });
  await put(service, { context: { seats: OTHER }, compatibility: 'none' });
  const diff = () => service.comparison.diff(KEY, { from: 1, to: 2, ...OPTIONS });
  for (const bound of ['time', 'memory'] as const) {
    errors.push(new TaskTooCostlyError(bound, 'It took too much.'));
    const { overall, differences } = (await diff()).change;
    assert.equal(overall, 'narrowing');
    const detail = `the meaning of the terms cannot be compared: processing a context takes too much ${bound}`;
    assert.deepEqual(columns(differences, 'reason', 'detail'), [['unproven', detail]]);
  }
  const busy = new WorkersBusyError(1);
  errors.push(busy);
  await assert.rejects(diff(), busy);
});
