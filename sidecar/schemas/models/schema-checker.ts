import type { UsedTime } from '../../shared/clock.js';
import { fileKey } from '../../shared/code-hosts.js';
import { truncate } from '../../shared/format-value.js';
import { contextDocument, type GeneratedContext, isContextBase } from '../json-ld/generated-context.js';
import { entityTypes } from '../json-schema/attributes.js';
import { isObject, type JsonValue, tokensOf } from '../../shared/json/json.js';
import { SchemaRefusedError } from '../json-schema/errors.js';
import { checkDocumentLimits } from '../json-schema/limits.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type {
  ModelKey,
  ModelVersion,
  NewModelVersion,
  NewReference,
  SchemaStore,
} from '../../store/index.js';
import { withSchemaErrors, invalidMember, requireAcceptedSchema } from './errors.js';
import type { AcceptedVersion, ModelDescription, VersionSource } from './accept-version.js';
import type { ServiceWorkers } from './model-tasks.js';
import type { AcceptedOwnContext, OwnContexts } from './own-context.js';
import { ReferenceGathering } from './references.js';
import type { ModelWarning, VersionMetadata } from './model-settings.js';

/** A schema that can become a version of a model. */
export interface AcceptedSchema extends Pick<AcceptedVersion, 'description' | 'hasSameSchema'> {
  /** The version, without the parts that depend on the model. */
  readonly version: Omit<NewModelVersion, 'description' | 'metadata'>;
  readonly metadata: VersionMetadata;
  /** The documents that were fetched and must be stored before the version. */
  readonly fetched: readonly NewReference[];
}

/** Where documents and contexts come from, and the default base IRI of terms. */
export interface SchemaCheckerOptions {
  readonly store: SchemaStore;
  readonly remote: RemoteDocuments;
  readonly workers: ServiceWorkers;
  /** Base IRI of the terms of models that have none of their own. */
  readonly contextBase: string;
  readonly ownContexts: OwnContexts;
}

/** The input for a version of a model. */
export interface VersionInput {
  readonly schema: JsonValue;
  /** Base IRI of its terms, if the model has its own. */
  readonly contextBase: string | undefined;
  /** The model's own context, if any. */
  readonly context: JsonValue | undefined;
  /** The base URL of this service, as the client reaches it. */
  readonly baseUrl: string;
  /** Gives all tasks of a write one time limit together. */
  readonly time: UsedTime;
}

/** The previous version of a model. */
interface PreviousVersion {
  readonly version: ModelVersion;
  /** Text of its schema. */
  readonly schema: string;
}

/** The place of the schema in the input. */
const SCHEMA = '/schema';

/** Checks a schema before it becomes a version of a model. Writes nothing. */
export class SchemaChecker {
  readonly #options: SchemaCheckerOptions;

  constructor(options: SchemaCheckerOptions) {
    this.#options = options;
  }

  /**
   * Checks a schema, with its context.
   *
   * @param key of the model; its name is the entity type
   * @param previous the version before this one, which mostly has the same parts
   * @throws InvalidBodyError, SchemaRefusedError, ContextInvalidError, WorkersBusyError, TaskFailedError
   */
  async accept(key: ModelKey, input: VersionInput, previous?: PreviousVersion): Promise<AcceptedSchema> {
    const { schema, contextBase: ownBase, baseUrl, time } = input;
    const { name: model } = key;
    if (ownBase !== undefined && !isContextBase(ownBase))
      throw invalidMember('contextBase', 'must be an http, https or urn IRI that ends with one of / # : =');
    if (!isObject(schema)) throw noObject();
    const { store, remote, contextBase, ownContexts } = this.#options;
    const gathering = new ReferenceGathering(store, remote);
    const named = input.context === undefined ? undefined : ownContexts.named(input.context, baseUrl);
    const { text, accepted } = await withSchemaErrors(SCHEMA, async () => {
      checkDocumentLimits(schema);
      const text = JSON.stringify(schema);
      const source = {
        model,
        schema: text,
        contextBase: ownBase ?? contextBase,
        earlier: previous?.schema,
      };
      return { text, accepted: await this.#accepted(source, previous, gathering, time) };
    });
    const found = gathering.found(accepted.uris);
    const { generated, description, hasSameSchema } = accepted;
    const own = named && (await ownContexts.accept(key, named, generated.terms, { baseUrl, time }));
    const ownTerms = own?.ownTerms ?? [];
    return {
      description,
      hasSameSchema,
      version: {
        schema: text,
        context: own?.text ?? JSON.stringify(contextDocument(generated.terms)),
        references: found.references,
        contexts: own?.contexts ?? new Set(),
        contextReferences: own?.references ?? new Map(),
        terms: {
          types: entityTypes(model, description.types),
          attributes: description.attributes.map(({ name }) => name),
        },
      },
      metadata: {
        dialect: accepted.dialect,
        warnings: [
          ...typeWarnings(model, description),
          ...formWarnings(description),
          ...termWarnings(generated, own, [model, ...description.names]),
          ...sameIriWarnings(own, description),
        ],
        ...(ownTerms.length === 0 ? {} : { ownTerms }),
      },
      fetched: [...found.fetched, ...(own?.fetched ?? [])],
    };
  }

  /** Runs the task again with the documents that it needs, until it needs no more. */
  async #accepted(
    source: Omit<VersionSource, 'documents'>,
    previous: PreviousVersion | undefined,
    gathering: ReferenceGathering,
    time: UsedTime,
  ): Promise<AcceptedVersion> {
    // The next version mostly refers to the same documents.
    await gathering.loadStored((previous?.version.references ?? []).map(({ uri }) => uri));
    const options = { affinity: source.model, time };
    for (;;) {
      const input = { ...source, documents: gathering.texts };
      const accepted = await this.#options.workers.run('acceptVersion', input, options);
      if (!('needs' in accepted)) return requireAcceptedSchema(accepted, gathering.reasons);
      await gathering.loadNext(accepted.needs.urls);
    }
  }
}

/** Whether all documents of a version are among those that were found. @param references SHA-256 by URI */
export function hasSameDocuments(version: ModelVersion, references: ReadonlyMap<string, string>): boolean {
  const found = new Set([...references].map(([uri, sha256]) => documentKey(uri, sha256)));
  return version.references.every(({ uri, sha256 }) => found.has(documentKey(uri, sha256)));
}

/**
 * Returns a key that is equal for all spellings of a document's URI, so that another spelling creates no new version.
 */
function documentKey(uri: string, sha256: string): string {
  return `${sha256} ${fileKey(uri) ?? uri}`;
}

/**
 * Returns the warnings about the names of a model. Other terms of its own context, of which there may be many, are
 * ignored.
 */
function termWarnings(
  { warnings }: GeneratedContext,
  own: AcceptedOwnContext | undefined,
  names: readonly string[],
): readonly ModelWarning[] {
  if (own === undefined) return warnings;
  const [left, known] = [new Set(own.ownTerms), new Set(names)];
  const told = new Set(warnings.map(({ term }) => term));
  const others = own.warnings.flatMap(({ code, pointer, detail }): readonly ModelWarning[] => {
    const term = tokensOf(pointer)?.at(-1) ?? '';
    const isMeant = code !== 'core-context-not-last' && !(code === 'core-term' && told.has(term));
    return isMeant && (known.has(term) || term.startsWith('@')) ? [{ code, term, detail }] : [];
  });
  return [...warnings.filter(({ term }) => !left.has(term)), ...others];
}

/** How many of the attributes that have the same IRI a warning names. */
const MAX_SAME_SHOWN = 5;

/** Warns of attributes that mean the same, also if only because a definition in a named context uses the name of another. */
function sameIriWarnings(
  own: AcceptedOwnContext | undefined,
  { attributes }: ModelDescription,
): readonly ModelWarning[] {
  const known = new Set(attributes.map(({ name }) => name));
  return (own?.sameIris ?? []).flatMap(({ iri, names }): readonly ModelWarning[] => {
    const [term, ...others] = names.filter((name) => known.has(name));
    if (term === undefined || others.length === 0) return [];
    const shown = [term, ...others]
      .slice(0, MAX_SAME_SHOWN)
      .map((name) => truncate(JSON.stringify(name), 200));
    const more = others.length < MAX_SAME_SHOWN ? '' : ' …';
    const detail =
      `${shown.join(' and ')}${more} have the same IRI, ${truncate(iri, 300)}: ` +
      'to a broker they are one attribute, of which an entity can only have one.';
    return [{ code: 'same-iri', term, detail }];
  });
}

function noObject(): SchemaRefusedError {
  const detail = 'must be a JSON object';
  return new SchemaRefusedError('schemaInvalid', `The schema ${detail}.`, [{ pointer: SCHEMA, detail }]);
}

/** Returns the types of the model's entities other than its name. */
function otherTypes(model: string, { types }: ModelDescription): readonly string[] {
  return entityTypes(model, types).filter((type) => type !== model);
}

/**
 * Warns if a schema describes attributes in normalized form: it refuses all entities that have them, because entities
 * are validated as key-values.
 */
function formWarnings({ normalized }: ModelDescription): readonly ModelWarning[] {
  const [term] = normalized;
  if (term === undefined) return [];
  const more = normalized.length - 1;
  const who = more === 0 ? `"${term}" is` : `"${term}" and ${more} ${more === 1 ? 'other is' : 'others are'}`;
  const detail = `${who} described in normalized form, with a type and a value. Entities are validated as key-values, whatever their form: describe the value alone, and the kind of the attribute in x-ngsi.type or in the description.`;
  return [{ code: 'normalized-form', term, detail }];
}

/** Warns if the schema does not allow entities to have the model's name among their types. */
function typeWarnings(model: string, description: ModelDescription): readonly ModelWarning[] {
  const isAllowed = description.types?.some(
    (type) => type === model || (Array.isArray(type) && type.includes(model)),
  );
  if (isAllowed !== false) return [];
  const others = otherTypes(model, description).map((type) => JSON.stringify(type));
  const detail =
    others.length === 0
      ? `The schema allows entities neither of the type "${model}", the name of the model, nor of any other type.`
      : `Entities of the model have the type ${others.join(' or ')}, as the schema requires, not "${model}", its name.`;
  return [{ code: 'other-type', term: model, detail }];
}
