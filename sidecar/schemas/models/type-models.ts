import type { InputIssue } from '../../shared/json/json.js';
import { quoted } from '../../shared/format-value.js';
import type { Model, SchemaStore } from '../../store/index.js';
import type { NamedType, TypesInBody } from '../validation/body-entities.js';
import { ReadCache } from './concurrency.js';
import type { ModelSchema, ModelSchemas } from './model-schemas.js';
import { WorkbenchRefusedError } from './workbench-errors.js';

/** A model that was found by types of entities, with its current schema. */
export interface TypeModel {
  readonly model: Model;
  readonly schema: ModelSchema;
  /** The types to which the model applies. */
  readonly types: readonly string[];
}

/** The models of the types of a body. */
export interface FoundModels {
  readonly models: readonly TypeModel[];
  /** Types without a model. */
  readonly unknownTypes: readonly string[];
}

/** Maximum number of models that are read for a type; more than one is already ambiguous. */
const MAX_OF_TYPE = 10;

/** Maximum length of a type in messages, in characters. */
const MAX_SHOWN = 200;

/** Finds the models of the types that entities have. */
export class TypeModels {
  readonly #store: SchemaStore;
  readonly #schemas: ModelSchemas;
  readonly #ofType: ReadCache<readonly Model[]>;

  constructor(store: SchemaStore, schemas: ModelSchemas) {
    this.#store = store;
    this.#schemas = schemas;
    this.#ofType = new ReadCache(store);
  }

  /**
   * Returns the models of the types of a body, each once.
   *
   * @throws WorkbenchRefusedError `notFound` if an entity has no type with a model, `typeAmbiguous` if a type belongs
   * to several models
   */
  async of(found: readonly TypesInBody[], domain: string | undefined): Promise<FoundModels> {
    const candidates = new Map<string, readonly Model[]>();
    for (const one of found.flatMap(({ types }) => types))
      if (!candidates.has(one.type)) candidates.set(one.type, await this.#candidatesFor(one, domain));
    const modelsFor = ({ type }: NamedType) => candidates.get(type) ?? [];
    const unknown = found.filter(({ types }) => types.every((type) => modelsFor(type).length === 0));
    if (unknown.length > 0)
      throw refused(
        'notFound',
        unknown.map(({ types, pointer }) => ({
          pointer,
          detail: `has no model for its type ${listOf(types)}${domain === undefined ? '' : ` in the domain ${domain}`}`,
        })),
      );
    const ambiguous = found.flatMap(({ types, pointer }) =>
      types
        .filter((one) => modelsFor(one).length > 1)
        .map((one) => ({
          pointer,
          detail: `${quoted(one.type, MAX_SHOWN)} is the type of ${titlesOf(modelsFor(one))}`,
        })),
    );
    if (ambiguous.length > 0) throw refused('typeAmbiguous', ambiguous);
    const chosen = new Map<string, TypeModel & { readonly types: string[] }>();
    for (const [type, [model]] of candidates) {
      if (model === undefined) continue;
      const title = titleOf(model);
      const one = chosen.get(title) ?? { model, schema: await this.#schemas.of(model, undefined), types: [] };
      one.types.push(type);
      chosen.set(title, one);
    }
    const unknownTypes = [...candidates].flatMap(([type, all]) => (all.length === 0 ? [type] : []));
    return { models: [...chosen.values()], unknownTypes };
  }

  /** Returns the model of a type; entities of a type with no model or several models are not judged. */
  async lookUp(
    type: NamedType,
    domain: string | undefined,
  ): Promise<Omit<TypeModel, 'types'> | 'unknown' | 'ambiguous'> {
    const [model, ...others] = await this.#candidatesFor(type, domain);
    if (model === undefined) return 'unknown';
    if (others.length > 0) return 'ambiguous';
    return { model, schema: await this.#schemas.of(model, model.currentVersion) };
  }

  /**
   * Finds models by the name of a type; a type that is an IRI is also found by its last part. Drafts count only if no
   * other model has the type.
   */
  async #candidatesFor(
    { type, localName }: NamedType,
    domain: string | undefined,
  ): Promise<readonly Model[]> {
    let drafts: readonly Model[] = [];
    for (const name of new Set([type, localName])) {
      const all = await this.#ofType.get(JSON.stringify([name, domain]), async () => {
        const page = { limit: MAX_OF_TYPE, offset: 0 };
        return (await this.#store.models.search({ type: name, domain }, page)).items;
      });
      const published = all.filter(({ status }) => status !== 'draft');
      if (published.length > 0) return published;
      if (drafts.length === 0) drafts = all;
    }
    return drafts;
  }
}

function refused(kind: 'notFound' | 'typeAmbiguous', errors: readonly InputIssue[]): WorkbenchRefusedError {
  const [{ pointer, detail } = { pointer: '', detail: '' }] = errors;
  const hint = kind === 'notFound' ? '' : '; name the domain (?domain=), or validate against one model';
  return new WorkbenchRefusedError(
    kind,
    'The entity ' +
      `${pointer === '' ? '' : `at ${pointer} `}${kind === 'notFound' ? detail : `has no single model: ${detail}`}${hint}.`,
    errors,
  );
}

function listOf(types: readonly NamedType[]): string {
  const some = types
    .slice(0, 5)
    .map(({ type }) => quoted(type, MAX_SHOWN))
    .join(', ');
  return types.length > 5 ? `${some}, …` : some;
}

function titlesOf(models: readonly Model[]): string {
  return models.map(titleOf).join(' and ');
}

/** The name of a model in answers. */
export function titleOf({ domain, name }: Model): string {
  return `${domain}/${name}`;
}
