import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { createCompoundSchema } from 'genson-js';
import { inferSchema } from '../../sidecar/inference/infer-schema.js';
import { bundledContext } from '../../sidecar/json-ld/bundled-contexts.js';
import { coreContextUrl } from '../../sidecar/json-ld/core-context.js';
import { createProcessor } from '../../sidecar/json-ld/processor.js';
import { createJsonLdTasks } from '../../sidecar/json-ld/tasks.js';
import type { JsonObject } from '../../sidecar/json-schema/json.js';
import { readEntity } from '../../sidecar/representation/read-entity.js';
import { validationTasks } from '../../sidecar/validation/tasks.js';
import { spreadOf } from './statistics.js';
import { parkingEntity, PARKING_SCHEMA, PARKING_TERMS } from './workbench-parking.js';

/** Operations per second, on one thread, each from a text to a text but for bare Ajv; inference in MB/s. */
export interface InProcess {
  readonly ajv: number;
  readonly judge: number;
  readonly bareExpand: number;
  readonly ownExpand: number;
  readonly bareCompact: number;
  readonly ownCompact: number;
  readonly genson: number;
  readonly infer: number;
}

const VALIDATIONS = 20_000;
const PROCESSED = 4000;
const SAMPLES = 2000;
/** Different entities that are processed in turns. */
const ENTITIES = 500;
const CONTEXT = 'https://city.example/contexts/Parking';
const CORE = coreContextUrl('1.8');

/** What the workbench does, and the libraries under it do, without a server, a worker or a wire. */
export async function inProcess(round: number): Promise<InProcess> {
  const bare = bareJsonLd();
  const own = ownJsonLd();
  const isEven = round % 2 === 0;
  const [bareExpand, ownExpand] = await inTurns(
    isEven,
    PROCESSED,
    repeated(bare.expand),
    repeated(own.expand),
  );
  const [bareCompact, ownCompact] = await inTurns(
    isEven,
    PROCESSED,
    repeated(bare.compact),
    repeated(own.compact),
  );
  const samples = Array.from({ length: SAMPLES }, (_, index) => keyValues(index));
  const megabytes = JSON.stringify(samples).length / 1e6;
  const [genson, infer] = await inTurns(
    isEven,
    SLICES,
    repeated(() => createCompoundSchema(samples)),
    repeated(() => inferSchema(samples, { form: 'keyvalues', enumerates: false })),
  );
  const [ajv, judge] = await inTurns(isEven, VALIDATIONS, repeated(bareAjv()), repeated(ownJudge()));
  return {
    ajv,
    judge,
    bareExpand,
    ownExpand,
    bareCompact,
    ownCompact,
    genson: genson * megabytes,
    infer: infer * megabytes,
  };
}

function keyValues(number: number): JsonObject {
  const { readings } = readEntity(parkingEntity(number) as JsonObject, { model: 'Parking' });
  return readings[0].keyValues;
}

function bareAjv(): () => unknown {
  const validate = new Ajv2020({ strict: false, formats: fullFormats }).compile(PARKING_SCHEMA);
  const entity = keyValues(1);
  return () => {
    if (!validate(entity)) throw new Error('The entity should be valid.');
  };
}

function ownJudge(): () => unknown {
  const next = inRotation((entity) => JSON.stringify(entity));
  const model = { key: 'bench', type: 'Parking' };
  validationTasks.prepareModel({ ...model, schema: JSON.stringify(PARKING_SCHEMA) });
  return () => {
    const outcome = validationTasks.validate({ ...model, text: next() });
    if (!('answer' in outcome && outcome.answer.startsWith('{"valid":true')))
      throw new Error(`The entity should be valid: ${JSON.stringify(outcome)}`);
  };
}

/** As fast as it can be used: contexts that never change, and so are processed once. */
function bareJsonLd() {
  const contexts = new Map<string, unknown>([
    [CONTEXT, { '@context': PARKING_TERMS }],
    [CORE, bundledContext(CORE)],
  ]);
  const options = {
    documentLoader: async (url: string) => ({
      documentUrl: url,
      document: contexts.get(url),
      tag: 'static' as const,
    }),
  };
  const next = inRotation((entity) => JSON.stringify({ ...entity, '@context': [CONTEXT, CORE] }));
  const document = () => JSON.parse(next()) as object;
  const processor = createProcessor();
  return {
    expand: async () => JSON.stringify(await processor.expand(document(), options)),
    compact: async () =>
      JSON.stringify(await processor.compact(document(), { '@context': [CONTEXT, CORE] }, options)),
  };
}

function ownJsonLd() {
  const tasks = createJsonLdTasks();
  const document = (entity: object) => ({ ...entity, '@context': [CONTEXT, CORE] });
  const nextExpand = inRotation((entity) => JSON.stringify({ document: document(entity) }));
  const nextCompact = inRotation((entity) =>
    JSON.stringify({ document: document(entity), context: [CONTEXT, CORE] }),
  );
  const context = JSON.stringify({ '@context': PARKING_TERMS });
  const sha256 = createHash('sha256').update(context).digest('hex');
  let isSupplied = false;
  const run = async (kind: 'expandDocument' | 'compactDocument', body: string) => {
    const supplied = isSupplied ? [] : [[CONTEXT, { sha256, text: context }] as const];
    isSupplied = true;
    const outcome = await tasks[kind]({ text: body, stamp: 'bench', supplied });
    if (!('answer' in outcome)) throw new Error(JSON.stringify(outcome));
  };
  return {
    expand: async () => run('expandDocument', nextExpand()),
    compact: async () => run('compactDocument', nextCompact()),
  };
}

/** The texts of different entities, one after the other, again and again. */
function inRotation(textOf: (entity: object) => string): () => string {
  const texts = Array.from({ length: ENTITIES }, (_, index) => textOf(parkingEntity(index)));
  let at = 0;
  return () => texts[(at += 1) % ENTITIES] ?? '';
}

/**
 * The rates of two contestants that take turns many times, the first one first in even rounds: what else goes on on the
 * machine meets both alike, and what meets a single turn does not count.
 */
export async function inTurns(
  isEven: boolean,
  times: number,
  one: (times: number) => Promise<number>,
  other: (times: number) => Promise<number>,
): Promise<readonly [number, number]> {
  const slice = Math.max(1, Math.round(times / SLICES));
  const rates: [number[], number[]] = [[], []];
  for (let turn = 0; turn < SLICES; turn += 1) {
    for (const index of isEven ? ([0, 1] as const) : ([1, 0] as const))
      rates[index].push(await (index === 0 ? one : other)(slice));
  }
  return [spreadOf(rates[0]).median, spreadOf(rates[1]).median];
}

const SLICES = 20;

/** Does the work so many times. @returns how often a second */
function repeated(work: () => unknown): (times: number) => Promise<number> {
  return async (times) => {
    const startedMs = performance.now();
    for (let n = 0; n < times; n++) await work();
    return (times / (performance.now() - startedMs)) * 1000;
  };
}
