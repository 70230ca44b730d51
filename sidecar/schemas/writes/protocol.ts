import type { WriteKind } from '../../ngsi-ld/write-route.js';
import type { Supplied } from '../json-ld/errors.js';
import type { Candidate, Consequences, WrittenType } from './policy-choice.js';

/** A policy that may decide about the entities of a write. */
export interface JudgeCandidate extends Candidate, Consequences {
  /** The model that judges its entities, `D/M` or `D/M@3`; those of their types where it is left out. */
  readonly model?: string | undefined;
  /** Whether the valid entities of a batch are sent where others are not valid. */
  readonly thins: boolean;
}

/** A write that is to be judged. */
export interface JudgeInput {
  /** The bytes of the body, each a character: copying them to another thread so costs least. */
  readonly bytes: string;
  readonly kind: WriteKind;
  readonly id?: string;
  readonly attribute?: string;
  readonly isSimplified: boolean;
  /** Whether an upsert certainly only updates entities that are there. */
  readonly updates: boolean;
  /** Whether a merge may put strings into language maps. */
  readonly mergesLanguages: boolean;
  /** The dataset of an attribute that is deleted. */
  readonly datasetId?: string;
  /** Of the @context that the Link header names. */
  readonly link?: string;
  /** Why nobody can say which @context the header means. */
  readonly linkDoubt?: string;
  /** Whether the media type is that of JSON-LD, whose bodies have their own @context. */
  readonly isJsonLd: boolean;
  /** In order; the last is for all entities. */
  readonly candidates: readonly JudgeCandidate[];
  /**
   * Changes whenever a URL, a type or a model may mean something else: the revision of the store, a space, and what changes as
   * documents of other origins may.
   */
  readonly stamp: string;
  readonly supplied: SuppliedToJudge;
}

/** What a worker asked for. What does not depend on the request it keeps while the stamp is the same. */
export interface SuppliedToJudge {
  readonly contexts?: Supplied;
  /** The models that may be those of a type, by its IRI. */
  readonly types?: readonly (readonly [iri: string, models: readonly SuppliedModel[]])[];
  /** The models that policies name; undefined for one that is not there. */
  readonly models?: readonly (readonly [name: string, model: SuppliedModel | undefined])[];
  readonly entities?: readonly (readonly [id: string, types: StoredTypes])[];
}

/**
 * The types of a stored entity, as the broker shows them without an @context; undefined where there is no such entity, and
 * `hidden` where the client that writes may not read it.
 */
export type StoredTypes = readonly string[] | 'hidden' | undefined;

export interface SuppliedModel {
  /** `domain/model`. */
  readonly title: string;
  readonly name: string;
  /** Of its schema: the same key always means the same schema. */
  readonly key: string;
  /** JSON of the document. */
  readonly context: string;
}

/** What the task needs before it can go on; all that is known to be needed. */
export interface JudgeNeeds {
  /** The worker that is to get ready. */
  readonly threadId?: number | undefined;
  /** Contexts, and JSON of the one that leads to them. */
  readonly urls?: readonly string[];
  readonly context?: string;
  readonly types?: readonly WrittenType[];
  readonly models?: readonly string[];
  /** Models that the worker has to get ready. */
  readonly unprepared?: readonly SuppliedModel[];
  readonly entities?: readonly string[];
}

/** What a worker gets ready and keeps: it takes longer than judging, and does not depend on who writes. */
export interface PrepareInput {
  readonly stamp: string;
  /** JSON of a context. */
  readonly context?: string | undefined;
  /** What contexts lead to. */
  readonly contexts: Supplied;
  /** With the texts of their schemas. */
  readonly models: readonly (SuppliedModel & { readonly schema: string })[];
}

/** Contexts that are needed first; none once all is ready. */
export interface PrepareOutcome {
  readonly urls: readonly string[];
}

/** What became of one entity of a write that is not simply valid. */
export interface JudgedItem {
  /** Position in the batch. */
  readonly index: number;
  readonly id: string | undefined;
  /** Position of its policy. */
  readonly policy: number;
  readonly verdict: 'invalid' | 'not-judged';
  /** Why it is not judged; completes "It cannot be judged: …". */
  readonly reason?: string;
  /** JSON of a list of errors as `/validate` gives them. */
  readonly errors?: string;
  readonly findings?: readonly WriteFinding[];
}

export interface WriteFinding {
  readonly model: string;
  /** Positions in arrays are `*`. */
  readonly pointer: string;
  readonly keyword: string;
  readonly detail: string;
}

export interface Judgement {
  /** How many entities each policy has found valid. */
  readonly valid: readonly (readonly [policy: number, entities: number])[];
  readonly others: readonly JudgedItem[];
  /** Ids of the entities whose types the write may change; undefined where not all are known. */
  readonly ids: readonly string[] | undefined;
  /** The stored entities on whose types the judgement depends. */
  readonly dependsOn: readonly string[];
  /** JSON of the batch without the entities that are refused, and the ids of the others; where its policies ask for it. */
  readonly thinned?: { readonly body: string; readonly ids: readonly string[] };
  /** Entities that are not there, on a route for a single one. */
  readonly isMissing?: boolean;
}

export type JudgeOutcome = { readonly judged: Judgement } | { readonly needs: JudgeNeeds };
