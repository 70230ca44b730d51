import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { createCompoundSchema } from 'genson-js';
import { inferSchema } from '../../sidecar/schemas/inference/tasks.js';
import { bundledContext, coreContextUrl } from '../../sidecar/schemas/json-ld/core-context.js';
import { createProcessor } from '../../sidecar/schemas/json-ld/processor.js';
import { createJsonLdTasks } from '../../sidecar/schemas/json-ld/tasks.js';
import type { JsonObject } from '../../sidecar/shared/json/json.js';
import { readEntity } from '../../sidecar/ngsi-ld/representation/read-entity.js';
import { validationTasks } from '../../sidecar/schemas/validation/tasks.js';
import { parkingEntity, PARKING_SCHEMA, PARKING_TERMS } from './workbench-parking.js';

const SAMPLES = 2000;
/** Number of different entities, which are processed in turn. */
const ENTITIES = 500;
const CONTEXT = 'https://city.example/contexts/Parking';
const CORE = coreContextUrl('1.8');

/** One operation of a contestant, to be repeated. It goes from text to text, except for bare Ajv and inference. */
export type Work = () => unknown;

/** The operations of the workbench, and of the libraries that it uses, without server, worker or network. */
export const CONTESTANTS = {
  ajv: bareAjv,
  judge: ownJudge,
  bareExpand: () => bareJsonLd().expand,
  ownExpand: () => ownJsonLd().expand,
  bareCompact: () => bareJsonLd().compact,
  ownCompact: () => ownJsonLd().compact,
  genson: () => {
    const values = samples();
    return () => createCompoundSchema(values);
  },
  infer: () => {
    const values = samples();
    return () => inferSchema(values, { form: 'keyvalues', enumerates: false });
  },
} as const satisfies Readonly<Record<string, () => Work>>;

export type Contestant = keyof typeof CONTESTANTS;

/** Returns the size of the input of one inference, in megabytes. */
export function samplesMegabytes(): number {
  return JSON.stringify(samples()).length / 1e6;
}

function samples(): JsonObject[] {
  return Array.from({ length: SAMPLES }, (_, index) => keyValues(index));
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
  const models = [{ key: 'bench', name: 'Parking' }];
  validationTasks.compileModels({ models, schemas: [['bench', JSON.stringify(PARKING_SCHEMA)]] });
  return () => {
    const outcome = validationTasks.validate({ models, text: next() });
    if (!('answer' in outcome && outcome.answer.startsWith('{"valid":true')))
      throw new Error(`The entity should be valid: ${JSON.stringify(outcome)}`);
  };
}

/** The fastest way to use jsonld.js: with contexts that never change, so that each is processed only once. */
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

/** Returns a function that cycles through the texts of different entities. */
function inRotation(textOf: (entity: object) => string): () => string {
  const texts = Array.from({ length: ENTITIES }, (_, index) => textOf(parkingEntity(index)));
  let at = 0;
  return () => texts[(at += 1) % ENTITIES] ?? '';
}
