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
import { parkingEntity, PARKING_SCHEMA, PARKING_TERMS } from './workbench-parking.js';

/** Operations per second, on one thread; inference in MB/s. */
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
const PROCESSED = 2000;
const SAMPLES = 2000;
const CONTEXT = 'https://city.example/contexts/Parking';
const CORE = coreContextUrl('1.8');

/** What the workbench does, and the libraries under it do, without a server, a worker or a wire. */
export async function inProcess(round: number): Promise<InProcess> {
  const bare = bareJsonLd();
  const own = ownJsonLd();
  const isEven = round % 2 === 0;
  const [bareExpand, ownExpand] = await inTurns(isEven, PROCESSED, bare.expand, own.expand);
  const [bareCompact, ownCompact] = await inTurns(isEven, PROCESSED, bare.compact, own.compact);
  const samples = Array.from({ length: SAMPLES }, (_, index) => keyValues(index));
  const megabytes = JSON.stringify(samples).length / 1e6;
  const [genson, infer] = await inTurns(
    isEven,
    3,
    () => createCompoundSchema(samples),
    () => inferSchema(samples, { form: 'keyvalues', enumerates: false }),
  );
  return {
    ajv: await rate(VALIDATIONS, bareAjv()),
    judge: await rate(VALIDATIONS, ownJudge()),
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
  const text = JSON.stringify(parkingEntity(1));
  const model = { key: 'bench', type: 'Parking' };
  validationTasks.prepareModel({ ...model, schema: JSON.stringify(PARKING_SCHEMA) });
  return () => {
    const outcome = validationTasks.validate({ ...model, text });
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
  const document = { ...parkingEntity(1), '@context': [CONTEXT, CORE] };
  const processor = createProcessor();
  return {
    expand: async () => processor.expand(document, options),
    compact: async () => processor.compact(document, { '@context': [CONTEXT, CORE] }, options),
  };
}

function ownJsonLd() {
  const tasks = createJsonLdTasks();
  const document = { ...parkingEntity(1), '@context': [CONTEXT, CORE] };
  const text = JSON.stringify({ document });
  const compactText = JSON.stringify({ document, context: [CONTEXT, CORE] });
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
    expand: async () => run('expandDocument', text),
    compact: async () => run('compactDocument', compactText),
  };
}

/** Two contestants, the first one first in even rounds. */
async function inTurns(
  isEven: boolean,
  times: number,
  one: () => unknown,
  other: () => unknown,
): Promise<readonly [number, number]> {
  const first = await rate(times, isEven ? one : other);
  const second = await rate(times, isEven ? other : one);
  return isEven ? [first, second] : [second, first];
}

async function rate(times: number, work: () => unknown): Promise<number> {
  for (let n = 0; n < times / 10; n++) await work();
  const startedMs = performance.now();
  for (let n = 0; n < times; n++) await work();
  return (times / (performance.now() - startedMs)) * 1000;
}
