/** The documents of the API, made from its own description by `npm run console-types`. */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** ListedDomain */
    readonly ListedDomain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description How many models it holds. */
      readonly models: number;
    };
    /** Difference */
    readonly Difference: {
      /** @description Into the new schema, or into the old one for a removed part (RFC 6901). */
      readonly pointer: string;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly class: 'compatible' | 'narrowing' | 'breaking';
      /**
       * @description `meaning`: stored data would be read otherwise; `unproven`: the comparison could not tell.
       * @enum {unknown}
       */
      readonly reason:
        | 'meaning'
        | 'required'
        | 'property'
        | 'type'
        | 'values'
        | 'range'
        | 'format'
        | 'structure'
        | 'unproven';
      readonly detail: string;
      /** @description An entity in key-values form that was valid, and is refused because of the difference. */
      readonly witness?: unknown;
    };
    /** ChangeReport */
    readonly ChangeReport: {
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly overall: 'compatible' | 'narrowing' | 'breaking';
      readonly differences: readonly components['schemas']['Difference'][];
    };
    /** Problem */
    readonly Problem: {
      /** Format: uri */
      readonly type: string;
      readonly title: string;
      readonly status: number;
      readonly detail: string;
      /** Format: uri-reference */
      readonly instance: string;
      /** @description The faults of the body, with JSON pointers (RFC 6901). */
      readonly errors?: readonly {
        readonly pointer: string;
        readonly detail: string;
      }[];
      /** @description Line of the first character that cannot be read, from 1. */
      readonly line?: number;
      /** @description Column of it, from 1, in UTF-16 units. */
      readonly column?: number;
      /** @description URL of the context at fault. */
      readonly url?: string;
      /** @description The query parameter at fault. */
      readonly parameter?: string;
      /** @description URIs of the missing documents. */
      readonly missing?: readonly string[];
      readonly report?: components['schemas']['ChangeReport'];
      /** @description The first of the `total` resources that use this one. */
      readonly dependents?: readonly Record<string, never>[];
      readonly total?: number;
    };
    /** NewDomain */
    readonly NewDomain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
    };
    /** Domain */
    readonly Domain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /**
     * DomainChange
     * @description A member that is left out keeps its value; null removes it.
     */
    readonly DomainChange: {
      readonly description?: string | null;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
    };
    /** DomainContextWarning */
    readonly DomainContextWarning: {
      /** @enum {unknown} */
      readonly code: 'ambiguous-term' | 'coercion-left-out' | 'unused-terms-left-out' | 'context-unavailable';
      readonly term?: string;
      readonly detail: string;
      /** @description Names of the models that it is about. */
      readonly models: readonly string[];
    };
    /** ModelSummary */
    readonly ModelSummary: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** NewModel */
    readonly NewModel: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form. */
      readonly schema: unknown;
      /** @description Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI. */
      readonly contextBase?: string;
      /** @description Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the URL of one that is stored here or of an allowed origin. */
      readonly context?: Record<string, never> | readonly unknown[] | string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @default published
       * @enum {unknown}
       */
      readonly status?: 'draft' | 'published' | 'deprecated';
      /** @description When it will be removed: a date and time (RFC 3339). */
      readonly sunset?: string;
    };
    /** ModelWarning */
    readonly ModelWarning: {
      /** @enum {unknown} */
      readonly code:
        | 'core-term'
        | 'encoded'
        | 'no-term'
        | 'other-type'
        | 'coercion'
        | 'core-context-not-last'
        | 'no-iri'
        | 'reserved-term'
        | 'scoped-context'
        | 'undefined-prefix'
        | 'vocab';
      /** @description The name that the warning is about. */
      readonly term: string;
      readonly detail: string;
    };
    /** ModelDryRun */
    readonly ModelDryRun: {
      /** @constant */
      readonly dryRun: true;
      /**
       * @description `settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft is another one.
       * @enum {unknown}
       */
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      /** @description Number of the version that the schema would have. */
      readonly version: number;
      readonly change: components['schemas']['ChangeReport'];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    /** Model */
    readonly Model: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description The JSON Schema, as it was given. */
      readonly schema: unknown;
      /** @description The JSON-LD context that it was given, where it has its own. */
      readonly context?: unknown;
      /** @description URIs of the documents that the schema refers to. */
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    /**
     * ModelChange
     * @description A member that is left out keeps its value; null removes it. A model that is not there yet needs a schema.
     */
    readonly ModelChange: {
      /** @description A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form. */
      readonly schema?: unknown;
      readonly description?: string | null;
      /** @description Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI. */
      readonly contextBase?: string | null;
      /** @description Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the URL of one that is stored here or of an allowed origin. */
      readonly context?: Record<string, never> | readonly unknown[] | string | null;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status?: 'draft' | 'published' | 'deprecated';
      /** @description When it will be removed: a date and time (RFC 3339). */
      readonly sunset?: string | null;
    };
    /** UpdatedModel */
    readonly UpdatedModel: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description The JSON Schema, as it was given. */
      readonly schema: unknown;
      /** @description The JSON-LD context that it was given, where it has its own. */
      readonly context?: unknown;
      /** @description URIs of the documents that the schema refers to. */
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
      /**
       * @description `settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft is another one.
       * @enum {unknown}
       */
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      readonly change: components['schemas']['ChangeReport'];
    };
    /** ModelVersion */
    readonly ModelVersion: {
      readonly version: number;
      /** Format: date-time */
      readonly createdAt: string;
      /** @description The model's description when the version was made. */
      readonly description?: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description Of the stored schema. */
      readonly sha256: string;
      /** @description Of the stored schema, in bytes. */
      readonly size: number;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly references: readonly string[];
    };
    /** ChangedPointer */
    readonly ChangedPointer: {
      /** @enum {unknown} */
      readonly op: 'add' | 'remove' | 'replace';
      /** @description Into the schema of `to`, or into that of `from` for what is removed. */
      readonly pointer: string;
    };
    /** ModelDiff */
    readonly ModelDiff: {
      readonly from: number;
      readonly to: number;
      readonly change: components['schemas']['ChangeReport'];
      /** @description Where the schemas differ as they were given, annotations included; at most 1,000. */
      readonly pointers: readonly components['schemas']['ChangedPointer'][];
      /** @description In how many places they differ. */
      readonly pointersTotal: number;
    };
    /** ModelFile */
    readonly ModelFile: {
      readonly name: string;
      readonly mediaType: string;
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** @description What the `$ref`s say, for a document that the schema refers to. */
      readonly uri?: string;
      /**
       * Format: uri
       * @description Where the file is.
       */
      readonly url: string;
    };
    /** Context */
    readonly Context: {
      readonly name: string;
      /**
       * @description `generated` from a model, or from the models of a domain; `core`: comes with this product.
       * @enum {unknown}
       */
      readonly kind: 'custom' | 'generated' | 'core';
      /** @description Number of the current version; that of a domain has none. */
      readonly version?: number;
      /**
       * Format: uri
       * @description By which clients and brokers name it.
       */
      readonly url: string;
      /**
       * Format: uri
       * @description Of a core context: where it is published.
       */
      readonly canonicalUrl?: string;
      /** Format: date-time */
      readonly createdAt?: string;
      /** Format: date-time */
      readonly modifiedAt?: string;
    };
    /** NewContext */
    readonly NewContext: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @description A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`. */
      readonly '@context': unknown;
    };
    /** ContextWarning */
    readonly ContextWarning: {
      readonly code: string;
      readonly pointer: string;
      readonly detail: string;
    };
    /** UpdatedDependent */
    readonly UpdatedDependent: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly model: string;
      /** @enum {unknown} */
      readonly status: 'updated' | 'unchanged' | 'refused';
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly reason?: string;
    };
    /** ContextDryRun */
    readonly ContextDryRun: {
      /** @constant */
      readonly dryRun: true;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged';
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      /** @description Models that were made with a document which has changed, or follow a context which has, and what becomes of them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** WrittenContext */
    readonly WrittenContext: {
      readonly name: string;
      /**
       * @description `generated` from a model, or from the models of a domain; `core`: comes with this product.
       * @enum {unknown}
       */
      readonly kind: 'custom' | 'generated' | 'core';
      /** @description Number of the current version; that of a domain has none. */
      readonly version: number;
      /**
       * Format: uri
       * @description By which clients and brokers name it.
       */
      readonly url: string;
      /**
       * Format: uri
       * @description Of a core context: where it is published.
       */
      readonly canonicalUrl?: string;
      /** Format: date-time */
      readonly createdAt?: string;
      /** Format: date-time */
      readonly modifiedAt?: string;
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      /** @description Models that were made with a document which has changed, or follow a context which has, and what becomes of them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** ContextChange */
    readonly ContextChange: {
      /** @description A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`. */
      readonly '@context': unknown;
    };
    /** Reference */
    readonly Reference: {
      readonly uri: string;
      /**
       * @description `fetched`: was missing when a schema named it, and came from an allowed origin.
       * @enum {unknown}
       */
      readonly source: 'stored' | 'fetched';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** PutReference */
    readonly PutReference: {
      readonly uri: string;
      /**
       * @description `fetched`: was missing when a schema named it, and came from an allowed origin.
       * @enum {unknown}
       */
      readonly source: 'stored' | 'fetched';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description Models that were made with a document which has changed, or follow a context which has, and what becomes of them. */
      readonly dependents?: readonly components['schemas']['UpdatedDependent'][];
    };
    /** ReferenceDryRun */
    readonly ReferenceDryRun: {
      /** @constant */
      readonly dryRun: true;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged';
      /** @description Models that were made with a document which has changed, or follow a context which has, and what becomes of them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /**
     * Samples
     * @description One sample, or several.
     */
    readonly Samples: Record<string, never> | readonly Record<string, never>[];
    /** Expand */
    readonly Expand: {
      /** @description JSON-LD: an object, or an array of them. A URL is not loaded. */
      readonly document: Record<string, never> | readonly unknown[];
      /** @description Applied before that of the document. A map of terms, a URL, an array of these, null, or an object that holds one as `@context`. */
      readonly context?: Record<string, never> | string | readonly unknown[] | null;
      /**
       * @description Refuse (422) a document of which data would be dropped, instead of warning.
       * @default false
       */
      readonly safe?: boolean;
    };
    /** JsonLdWarning */
    readonly JsonLdWarning: {
      readonly code: string;
      readonly detail: string;
      readonly pointer?: string;
    };
    /** JsonLdResult */
    readonly JsonLdResult: {
      /** @description JSON-LD. */
      readonly result: Record<string, never> | readonly unknown[];
      readonly warnings: readonly components['schemas']['JsonLdWarning'][];
    };
    /** Compact */
    readonly Compact: {
      /** @description JSON-LD: an object, or an array of them. A URL is not loaded. */
      readonly document: Record<string, never> | readonly unknown[];
      /** @description To compact with; the document's own if left out. A map of terms, a URL, an array of these, null, or an object that holds one as `@context`. */
      readonly context?: Record<string, never> | string | readonly unknown[] | null;
      /**
       * @description Refuse (422) a document of which data would be dropped, instead of warning.
       * @default false
       */
      readonly safe?: boolean;
    };
    /**
     * Entities
     * @description An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several.
     */
    readonly Entities: Record<string, never> | readonly Record<string, never>[];
    /**
     * Suggestion
     * @description What was probably meant: the value at the pointer, or the name of the member that it ends with.
     */
    readonly Suggestion:
      | {
          readonly value: string | number | boolean;
        }
      | {
          readonly name: string;
        };
    /** EntityError */
    readonly EntityError: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly keyword: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    /** EntityWarning */
    readonly EntityWarning: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly code: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    /** Verdict */
    readonly Verdict: {
      readonly valid: boolean;
      /** @description domain/model of each model, where none was named. */
      readonly models?: readonly string[];
      /**
       * @description The representation in which the entity was read.
       * @enum {unknown}
       */
      readonly form: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      readonly errors: readonly components['schemas']['EntityError'][];
      readonly warnings: readonly components['schemas']['EntityWarning'][];
    };
    /**
     * Verdicts
     * @description One result, or one for each entity in order.
     */
    readonly Verdicts: components['schemas']['Verdict'] | readonly components['schemas']['Verdict'][];
    /** Purge */
    readonly Purge: {
      readonly id: string;
      /** @enum {string} */
      readonly state:
        | 'queued'
        | 'running'
        | 'cancelling'
        | 'succeeded'
        | 'partial'
        | 'failed'
        | 'cancelled'
        | 'refused'
        | 'interrupted';
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @enum {string} */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly caller: string;
      readonly requestId: string;
      readonly worker: string;
      readonly retentionPolicy?: string;
      /** @description A run that matched too many, and so only reported them. */
      readonly heldBack?: boolean;
      /** @description The broker that a queued purge waits for: BROKER_URL names another. */
      readonly waitsFor?: string;
      readonly dryRun: boolean;
      readonly policy: Record<string, never>;
      readonly maxPerSecond: number | null;
      readonly concurrency: number;
      readonly matched: number;
      readonly deleted: number;
      readonly alreadyGone: number;
      readonly failed: number;
      readonly unknown: number;
      readonly arrived: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      /** Format: date-time */
      readonly estimatedEndAt?: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly startedAt?: string;
      /** Format: date-time */
      readonly endedAt?: string;
      readonly problem?: Record<string, never>;
      readonly errors: readonly Record<string, never>[];
      readonly warnings: readonly string[];
      readonly sample?: readonly string[];
    };
    /** NewPurge */
    readonly NewPurge: {
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of the DELETE. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly dryRun?: boolean;
    };
    /** PurgeChange */
    readonly PurgeChange: {
      readonly maxPerSecond?: number | null;
      readonly concurrency?: number;
    };
    /** RetentionPolicy */
    readonly RetentionPolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @default UTC */
      readonly timeZone: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode: 'report' | 'enforce';
      /** @default true */
      readonly enabled: boolean;
      readonly description?: string;
      /** @description Who wrote it last. */
      readonly caller: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** NewRetentionPolicy */
    readonly NewRetentionPolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @default UTC */
      readonly timeZone?: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth?: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode?: 'report' | 'enforce';
      /** @default true */
      readonly enabled?: boolean;
      readonly description?: string;
    };
    /** RetentionPolicySettings */
    readonly RetentionPolicySettings: {
      /** @description As in the path. */
      readonly name?: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @default UTC */
      readonly timeZone?: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth?: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode?: 'report' | 'enforce';
      /** @default true */
      readonly enabled?: boolean;
      readonly description?: string;
    };
    /** RetentionPreview */
    readonly RetentionPreview: {
      readonly matched: number;
      readonly sample: readonly string[];
      /**
       * Format: date-time
       * @description What is older goes.
       */
      readonly cutoff: string;
      /** @description The query of the purge. */
      readonly query: string;
      /**
       * @description What is counted; if not given: entities, or attributes with drop or keep.
       * @enum {string}
       */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      /** @description true: there are more than could be counted. */
      readonly atLeast?: boolean;
      /** @description Given where more match than this, which maxGrowth allows: a run would only report. */
      readonly reportAbove?: number;
    };
    /** Lesson */
    readonly Lesson: {
      /** @enum {string} */
      readonly collection: 'entities' | 'temporal';
      readonly name: string;
      /**
       * @description proof: it was seen to work; limit: purges are slower or more careful for it.
       * @enum {string}
       */
      readonly kind: 'proof' | 'limit';
      readonly detail: string;
      /** Format: date-time */
      readonly learntAt: string;
    };
    /** Status */
    readonly Status: {
      /** @enum {string} */
      readonly status: 'up' | 'down' | 'shutting down';
      /** @enum {string} */
      readonly broker: 'up' | 'down' | 'not asked';
      /** @enum {string} */
      readonly database: 'up' | 'down' | 'not asked';
      /** @description What purges have learnt about the broker; each counts for an hour. */
      readonly learnt: readonly components['schemas']['Lesson'][];
    };
    /**
     * ImportedExamples
     * @description The examples of a model, held against its schema.
     */
    readonly ImportedExamples: {
      readonly valid: number;
      /** @description The first errors of each example that is not valid. */
      readonly invalid: readonly {
        readonly path: string;
        readonly pointer: string;
        /** @description Line of the first fault, from 1. */
        readonly line?: number;
        readonly detail: string;
      }[];
      /** @description Paths of those that were not checked, because the examples of the import took too long. */
      readonly unchecked?: readonly string[];
    };
    /** ImportedFile */
    readonly ImportedFile: {
      readonly path: string;
      /**
       * Format: uri
       * @description Under which a shared document is stored.
       */
      readonly url?: string;
      /** @description The model that it becomes, as domain/model. */
      readonly model?: string;
      /** @description Name of the stored context that it becomes. */
      readonly context?: string;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged' | 'refused';
      /** @description Why it is refused, and what can be done. */
      readonly reason?: string;
      /** @description Line of the first fault, from 1. */
      readonly line?: number;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly examples?: components['schemas']['ImportedExamples'];
    };
    /** ImportReport */
    readonly ImportReport: {
      readonly summary: {
        readonly dryRun: boolean;
        readonly domains: readonly string[];
        readonly created: number;
        readonly updated: number;
        readonly unchanged: number;
        readonly refused: number;
        /** @description Files that are nothing of a model. */
        readonly ignored: number;
        readonly models: number;
        readonly examples: {
          readonly valid: number;
          readonly invalid: number;
          readonly unchecked: number;
        };
      };
      readonly files: readonly components['schemas']['ImportedFile'][];
      /** @description Models that were made with a document which has changed, or follow a context which has, and what becomes of them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** PurgePreview */
    readonly PurgePreview: {
      readonly matched: number;
      /** @description Ids of entities that match, at most 100. */
      readonly sample: readonly string[];
      /**
       * @description What is counted; if not given: entities, or attributes with drop or keep.
       * @enum {string}
       */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      /** @description true: there are more than could be counted. */
      readonly atLeast?: boolean;
      /** @description Some of the parts that match, at most 100. */
      readonly items?: readonly {
        readonly entityId: string;
        readonly attribute?: string;
        readonly datasetId?: string;
        readonly instanceId?: string;
      }[];
      /** @description Why nothing may match. */
      readonly hints?: readonly string[];
    };
    /** PurgeSummary */
    readonly PurgeSummary: {
      readonly id: string;
      readonly matched: number;
      readonly deleted: number;
      readonly alreadyGone: number;
      readonly failed: number;
      readonly unknown: number;
      readonly durationMs?: number;
      readonly requests?: number;
    };
    /** BatchOperationResult */
    readonly BatchOperationResult: {
      readonly success: readonly string[];
      readonly errors: readonly {
        readonly entityId?: string;
        readonly error?: Record<string, never>;
      }[];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: {
    /** @description Changes whenever the answer does; for If-None-Match, and for If-Match of a write. */
    readonly ETag: string;
    /** @description An answer for a given version may be cached; every other answer must be revalidated. */
    readonly CacheControl: string;
    /** @description Absolute URL of the new resource. */
    readonly Location: string;
    /** @description The id of the record of the purge. */
    readonly PurgeId: string;
    /** @description Of a page of a list: the next page by rel="next", where there is one. */
    readonly Link: string;
    /** @description Of a page of a list: items of the whole list. */
    readonly TotalCount: string;
    /** @description The methods that are allowed. */
    readonly Allow: string;
    /** @description Seconds after which to try again; not given for a purge that was cancelled. */
    readonly RetryAfter: string;
    /** @description GatewayToken */
    readonly WwwAuthenticate: string;
    /** @description Media types of bodies. */
    readonly Accept: string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
