import { type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { NameReader, type Names } from '../json-ld/names.js';
import { Spelling } from '../validation/spelling.js';
import { judgeFragment, judgeWhole } from './judge.js';
import type { WrittenType } from './policy-choice.js';
import type { JudgeInput, JudgeNeeds, PrepareInput, SuppliedModel } from './protocol.js';
import { readSubmitted } from './submitted.js';
import { compileWriteModel, withMeaning, type WriteModel } from './write-models.js';

/** Thrown to go and get something. */
export class Missing extends Error {
  constructor(readonly needs: JudgeNeeds) {
    super('Something is needed.');
  }
}

/** What a worker knows while the stamp is the same. */
export class Knowledge {
  readonly names = new NameReader();
  #stamp = '';
  readonly #types = new Map<string, readonly SuppliedModel[]>();
  readonly #models = new Map<string, SuppliedModel | undefined>();
  readonly #meanings = new Map<string, WriteModel | typeof UNUSABLE>();
  readonly #ofType = new Map<string, readonly WriteModel[]>();

  take({ stamp, supplied }: JudgeInput): void {
    this.renew(stamp);
    for (const [iri, models] of supplied.types ?? []) this.#types.set(iri, models);
    for (const [name, model] of supplied.models ?? []) this.#models.set(name, model);
  }

  /** Forgets what may have changed. */
  renew(stamp: string): void {
    if (stamp === this.#stamp) return;
    for (const map of [this.#types, this.#models, this.#meanings, this.#ofType]) map.clear();
    this.#stamp = stamp;
  }

  /** The models of a type. */
  ofType(type: WrittenType): readonly WriteModel[] {
    const { iri } = type;
    if (iri === undefined) return [];
    const known = this.#ofType.get(iri);
    if (known !== undefined) return known;
    const candidates = this.#types.get(iri);
    if (candidates === undefined) throw new Missing({ types: [type] });
    const models: WriteModel[] = [];
    for (const one of candidates) {
      const model = this.#meant(one);
      if (model?.types.has(iri) === true) models.push(model);
    }
    this.#ofType.set(iri, models);
    return models;
  }

  /** The model that a policy names. */
  named(name: string): WriteModel | undefined {
    if (!this.#models.has(name)) throw new Missing({ models: [name] });
    const found = this.#models.get(name);
    return found === undefined ? undefined : this.#meant(found);
  }

  #meant(one: SuppliedModel): WriteModel | undefined {
    const known = this.#meanings.get(meaningKey(one));
    if (known === undefined) throw new Missing({ unprepared: [one] });
    return known === UNUSABLE ? undefined : known;
  }

  /** Compiles a model and reads what its names mean. @returns the contexts that are needed for that */
  async prepare(
    { schema, ...one }: PrepareInput['models'][number],
    { stamp, contexts }: PrepareInput,
  ): Promise<readonly string[]> {
    const compiled = compileWriteModel(one.key, one.name, schema);
    const outcome = await this.names.read(contextIn(one), stamp, contexts);
    if ('needs' in outcome) return outcome.needs.urls;
    const model = 'unusable' in outcome ? UNUSABLE : withMeaning(one.title, compiled, outcome.names);
    this.#meanings.set(meaningKey(one), model);
    if (model !== UNUSABLE && 'names' in outcome) warmUp(model, outcome.names);
    return [];
  }
}

/** Stands for a model whose @context cannot be used. */
const UNUSABLE = 'unusable';

function meaningKey({ title, key, context }: SuppliedModel): string {
  return `${title} ${key} ${context}`;
}

function contextIn({ context }: SuppliedModel): JsonValue | undefined {
  const document = JSON.parse(context) as JsonObject;
  return member(document, '@context');
}

/** Code that runs for the first time is slow, and judging has little time. */
function warmUp(model: WriteModel, names: Names): void {
  const [type = model.whole.name] = model.whole.types;
  const sample = { id: 'urn:ngsi-ld:sample:1', type, sample: { type: 'Property', value: 1 } };
  const submitted = readSubmitted(sample, names);
  if ('doubt' in submitted) return;
  const manner = { isSimplified: false, isMerge: false, isPartial: false, isTemporal: false };
  judgeWhole([model], submitted, manner, new Spelling());
  judgeFragment([model], submitted, manner, new Spelling());
}
