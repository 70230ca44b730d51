import {
  contextDocument,
  generateContext,
  type GeneratedContext,
  isContextBase,
} from '../json-ld/generated-context.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { entityTypes } from '../json-schema/entity-types.js';
import type { Dialect } from '../json-schema/keywords.js';
import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { writeJson } from '../../shared/json/lossless-json.js';
import { tokensOf } from '../../shared/json/pointer.js';
import { resolveAll } from '../json-schema/references.js';
import type { SchemaTasks } from '../json-schema/tasks.js';
import type { ExampleTasks } from '../validation/example-tasks.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { ModelKey } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import { accepting, ContextBaseError, SchemaNotAcceptedError, unlessRefused } from './errors.js';
import type { ModelDescription, ModelTasks } from './model-tasks.js';
import type { AcceptedOwnContext, OwnContexts } from './own-context.js';
import { ReferenceGathering } from './references.js';
import type { ModelWarning } from './version-metadata.js';

/** What runs in workers for this room. */
export type ServiceWorkers = TaskRunner<SchemaTasks & ModelTasks & JsonLdTasks & ExampleTasks>;

/** A schema that can become a version of a model, and what comes with it. */
export interface AcceptedSchema {
  readonly schema: JsonObject;
  readonly text: string;
  readonly dialect: Dialect;
  readonly description: ModelDescription;
  /** Text of the context: generated from it, with the model's own where it has one. */
  readonly context: string;
  /** What the context was made from, where the model has its own. */
  readonly ownContext: AcceptedOwnContext | undefined;
  readonly warnings: readonly ModelWarning[];
  /** SHA-256 of every document that it refers to, by URI. */
  readonly references: ReadonlyMap<string, string>;
  /** Stores the documents that had to be fetched. @throws OvertakenError */
  readonly keepReferences: () => Promise<void>;
}

export interface IntakeOptions {
  readonly store: SchemaStore;
  readonly remote: RemoteDocuments;
  readonly workers: ServiceWorkers;
  /** Base IRI of the terms of models without one of their own. */
  readonly contextBase: string;
  readonly ownContexts: OwnContexts;
}

/** What a version of a model is made from. */
export interface VersionInput {
  readonly schema: JsonValue;
  /** Base IRI of its terms, where the model has its own. */
  readonly contextBase: string | undefined;
  /** The context that the model brings, if any. */
  readonly context: JsonValue | undefined;
  /** Of this service, as the client reaches it. */
  readonly baseUrl: string;
}

/** Where the schema stands in the input. */
const SCHEMA = '/schema';

/** Checks a schema before it becomes a version of a model. Writes nothing. */
export class SchemaIntake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * @param key of the model; its name is the entity type
   * @throws ContextBaseError, SchemaNotAcceptedError, ContextInvalidError, WorkersBusyError, TaskFailedError
   */
  async accept(key: ModelKey, input: VersionInput): Promise<AcceptedSchema> {
    const { schema, contextBase: ownBase } = input;
    const { name: model } = key;
    if (ownBase !== undefined && !isContextBase(ownBase)) throw new ContextBaseError();
    if (!isObject(schema)) throw noObject();
    const { store, remote, workers, contextBase } = this.#options;
    const gathering = new ReferenceGathering(store, remote);
    const { linked, text, found, description } = await accepting(
      SCHEMA,
      async () => {
        const linked = await resolveAll(schema, (uri) => gathering.load(uri));
        const text = writeJson(schema);
        const found = gathering.found([...linked.documents.keys(), ...linked.metaSchemas]);
        const documents = [...found].map(([uri, one]) => [uri, one.text] as const);
        const description = unlessRefused(
          await workers.run('acceptModel', { schema: text, documents }),
          SCHEMA,
        );
        return { linked, text, found, description };
      },
      gathering.reasons,
    );
    const attributes = description.attributes.map(({ name }) => name);
    const generated = generateContext(
      {
        type: model,
        attributes: [...attributes, ...otherTypes(model, description)],
        nested: description.names,
      },
      ownBase ?? contextBase,
    );
    const { terms } = generated;
    const own =
      input.context === undefined
        ? undefined
        : await this.#options.ownContexts.accept(key, input.context, terms, input);
    return {
      schema,
      text,
      dialect: linked.main.dialect,
      description,
      context: own?.text ?? JSON.stringify(contextDocument(terms)),
      ownContext: own,
      warnings: [
        ...typeWarnings(model, description),
        ...termWarnings(generated, own, [model, ...description.names]),
      ],
      references: new Map([...found].map(([uri, { sha256 }]) => [uri, sha256])),
      keepReferences: async () => {
        await gathering.keep(found);
        await own?.keepReferences();
      },
    };
  }
}

/** Of the terms of a model: those of its own context that are no names of it would be many, and are left out. */
function termWarnings(
  { warnings }: GeneratedContext,
  own: AcceptedOwnContext | undefined,
  names: readonly string[],
): readonly ModelWarning[] {
  if (own === undefined) return warnings;
  const [left, known] = [new Set(own.ownTerms), new Set(names)];
  const others = own.warnings.flatMap(({ code, pointer, detail }): readonly ModelWarning[] => {
    const term = tokensOf(pointer)?.at(-1) ?? '';
    const isMeant = code !== 'core-term' && code !== 'core-context-not-last';
    return isMeant && (known.has(term) || term.startsWith('@')) ? [{ code, term, detail }] : [];
  });
  return [...warnings.filter(({ term }) => !left.has(term)), ...others];
}

function noObject(): SchemaNotAcceptedError {
  const detail = 'must be a JSON object';
  return new SchemaNotAcceptedError('SCHEMA_INVALID', `The schema ${detail}.`, [{ pointer: SCHEMA, detail }]);
}

/** The types of the model's entities beside its name. */
function otherTypes(model: string, { types }: ModelDescription): readonly string[] {
  return entityTypes(model, types).filter((type) => type !== model);
}

/** Entities have the model's name as their type, or one of their types, unless the schema asks for others. */
function typeWarnings(model: string, description: ModelDescription): readonly ModelWarning[] {
  const isAllowed = description.types?.some(
    (type) => type === model || (Array.isArray(type) && type.includes(model)),
  );
  if (isAllowed !== false) return [];
  const others = otherTypes(model, description).map((type) => JSON.stringify(type));
  const detail =
    others.length === 0
      ? `The schema does not allow entities of the type "${model}", the name of the model, nor of any other.`
      : `Entities of the model have the type ${others.join(' or ')}, as the schema asks for, not "${model}", its name.`;
  return [{ code: 'other-type', term: model, detail }];
}
