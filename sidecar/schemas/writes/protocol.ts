import type { WriteKind } from '../../ngsi-ld/write-route.js';
import type { ContextResults } from '../json-ld/errors.js';
import type { Candidate, PolicyEffect, WrittenType } from './policy-choice.js';

/** A policy that may apply to entities of a write. */
export interface JudgeCandidate extends Candidate, PolicyEffect {
  /** The model that judges the entities, `D/M` or `D/M@3`; by default the models of their types. */
  readonly model?: string | undefined;
  /** Whether the valid entities of a batch are sent if others are not valid. */
  readonly allowsPartialBatch: boolean;
}

/** A write to be judged. */
export interface JudgeInput {
  /** The bytes of the body, each as one character: this is the cheapest form to copy to another thread. */
  readonly bytes: string;
  readonly kind: WriteKind;
  readonly id?: string;
  readonly attribute?: string;
  readonly isSimplified: boolean;
  /** Whether an upsert updates existing entities instead of replacing them. */
  readonly updates: 'yes' | 'no' | 'unclear';
  /** Whether a merge may put strings into language maps. */
  readonly mergesLanguages: boolean;
  /** The dataset of an attribute to be deleted. */
  readonly datasetId?: string;
  /** The @context that the Link header names. */
  readonly link?: string;
  /** Why it is unclear which @context the header means. */
  readonly linkAmbiguity?: string;
  /** Whether the media type is that of JSON-LD, so that the body has its own @context. */
  readonly isJsonLd: boolean;
  /** In order; the last one applies to all entities. */
  readonly candidates: readonly JudgeCandidate[];
  /**
   * Changes whenever a URL, a type or a model may have another meaning. It consists of the revision of the store, a
   * space, and a part that changes when documents of other origins may have changed.
   */
  readonly stamp: string;
  /** Whether to judge nothing yet, and only name the models that judge the write. */
  readonly asksModels?: boolean;
  readonly supplied: SuppliedToJudge;
}

/** What a worker asked for. It keeps the parts that do not depend on the request, as long as the stamp stays the same. */
export interface SuppliedToJudge {
  readonly contexts?: ContextResults;
  /** The models that may be for a type, by the IRI of the type. */
  readonly types?: readonly (readonly [iri: string, models: readonly SuppliedModel[]])[];
  /** The models named by policies; undefined for a model that does not exist. */
  readonly models?: readonly (readonly [name: string, model: SuppliedModel | undefined])[];
  readonly entities?: readonly (readonly [id: string, types: StoredTypes])[];
}

/**
 * The types of a stored entity, as the broker shows them without an @context; undefined if there is no such entity,
 * and `hidden` if the writing client is not allowed to read it.
 */
export type StoredTypes = readonly string[] | 'hidden' | undefined;

/** A model as it is passed to a worker, without its schema. */
export interface SuppliedModel {
  /** `domain/model`. */
  readonly title: string;
  readonly name: string;
  /** The key of its schema: the same key always means the same schema. */
  readonly key: string;
  /** The context document as JSON. */
  readonly context: string;
}

/** Everything that the task is known to need before it can continue. */
export interface JudgeNeeds {
  /** The thread of the worker that must prepare. */
  readonly threadId?: number | undefined;
  /** The URLs of contexts, and JSON of the context that leads to them. */
  readonly urls?: readonly string[];
  readonly context?: string;
  readonly types?: readonly WrittenType[];
  readonly models?: readonly string[];
  /** Models that the worker must prepare. */
  readonly unprepared?: readonly SuppliedModel[];
  readonly entities?: readonly string[];
  /** The titles of the models that judge the write, if it asks for them. */
  readonly judges?: readonly string[];
}

/** What a worker prepares and keeps. Preparing takes longer than judging, and does not depend on the client. */
export interface PrepareInput {
  readonly stamp: string;
  /** JSON of a context. */
  readonly context?: string | undefined;
  /** The contexts that are needed, as far as they are known. */
  readonly contexts: ContextResults;
  /** Models with the texts of their schemas. */
  readonly models: readonly (SuppliedModel & { readonly schema: string })[];
}

/** URLs of contexts that are needed first; empty once everything is prepared. */
export interface PrepareOutcome {
  readonly urls: readonly string[];
}

/** The result for one entity of a write, unless it is valid. */
export interface JudgedItem {
  /** Index in the batch. */
  readonly index: number;
  readonly id: string | undefined;
  /** Index of its policy. */
  readonly policy: number;
  readonly verdict: 'invalid' | 'not-judged';
  /** Why the entity is not judged; completes "It cannot be judged: …". */
  readonly reason?: string;
  /** JSON of a list of errors in the form of `/validate`. */
  readonly errors?: string;
  readonly findings?: readonly WriteFinding[];
}

/** An error of a written entity, as it is counted. */
export interface WriteFinding {
  readonly model: string;
  /** Indexes in arrays are `*`. */
  readonly pointer: string;
  readonly keyword: string;
  readonly detail: string;
}

/** The result of judging one write. */
export interface Judgement {
  /** The number of entities that are valid by each policy. */
  readonly valid: readonly (readonly [policy: number, entities: number])[];
  readonly others: readonly JudgedItem[];
  /** Ids of the entities whose types the write may change; undefined if not all are known. */
  readonly ids: readonly string[] | undefined;
  /** Ids of the stored entities on whose types the judgement depends. */
  readonly dependsOn: readonly string[];
  /** JSON of the batch without the refused entities, and the ids of the others; only if the policies require it. */
  readonly partialBatch?: { readonly body: string; readonly ids: readonly string[] };
  /** Whether the entity does not exist; for routes of a single entity. */
  readonly isMissing?: boolean;
}

/** The judgement, or what the task needs first. */
export type JudgeOutcome = { readonly judged: Judgement } | { readonly needs: JudgeNeeds };
