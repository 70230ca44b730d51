/** The API, generated from its openapi.json by `npm run client-types`, do not edit. */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    readonly ListedDomain: {
      readonly name: string;
      readonly description?: string;
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly models: number;
    };
    readonly Difference: {
      readonly pointer: string;
      readonly class: 'compatible' | 'narrowing' | 'breaking';
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
      readonly witness?: unknown;
    };
    readonly ChangeReport: {
      readonly overall: 'compatible' | 'narrowing' | 'breaking';
      readonly differences: readonly components['schemas']['Difference'][];
    };
    readonly Problem: {
      readonly type: string;
      readonly title: string;
      readonly status: number;
      readonly detail: string;
      readonly instance: string;
      readonly errors?: readonly {
        readonly pointer: string;
        readonly detail: string;
      }[];
      readonly line?: number;
      readonly column?: number;
      readonly url?: string;
      readonly parameter?: string;
      readonly missing?: readonly string[];
      readonly report?: components['schemas']['ChangeReport'];
      readonly dependents?: readonly Record<string, unknown>[];
      readonly total?: number;
    };
    readonly NewDomain: {
      readonly name: string;
      readonly description?: string;
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
    };
    readonly Domain: {
      readonly name: string;
      readonly description?: string;
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      readonly createdAt: string;
      readonly modifiedAt: string;
    };
    readonly DomainChange: {
      readonly description?: string | null;
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
    };
    readonly DomainContextWarning: {
      readonly code: 'ambiguous-term' | 'coercion-left-out' | 'unused-terms-left-out' | 'context-unavailable';
      readonly term?: string;
      readonly detail: string;
      readonly models: readonly string[];
    };
    readonly ModelSummary: {
      readonly domain: string;
      readonly name: string;
      readonly description?: string;
      readonly contextBase?: string;
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      readonly status: 'draft' | 'published' | 'deprecated';
      readonly deprecatedAt?: string;
      readonly sunset?: string;
      readonly version: number;
      readonly contextName: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
    };
    readonly NewModel: {
      readonly name: string;
      readonly description?: string;
      readonly schema: unknown;
      readonly contextBase?: string;
      readonly context?: Record<string, unknown> | readonly unknown[] | string;
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
      readonly status?: 'draft' | 'published' | 'deprecated';
      readonly sunset?: string;
    };
    readonly ModelWarning: {
      readonly code:
        | 'core-term'
        | 'encoded'
        | 'no-term'
        | 'other-type'
        | 'normalized-form'
        | 'coercion'
        | 'core-context-not-last'
        | 'no-iri'
        | 'reserved-term'
        | 'scoped-context'
        | 'undefined-prefix'
        | 'vocab';
      readonly term: string;
      readonly detail: string;
    };
    readonly ModelDryRun: {
      readonly dryRun: true;
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      readonly version: number;
      readonly change: components['schemas']['ChangeReport'];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    readonly Model: {
      readonly domain: string;
      readonly name: string;
      readonly description?: string;
      readonly contextBase?: string;
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      readonly status: 'draft' | 'published' | 'deprecated';
      readonly deprecatedAt?: string;
      readonly sunset?: string;
      readonly version: number;
      readonly contextName: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      readonly schema: unknown;
      readonly context?: unknown;
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    readonly ModelChange: {
      readonly schema?: unknown;
      readonly description?: string | null;
      readonly contextBase?: string | null;
      readonly context?: Record<string, unknown> | readonly unknown[] | string | null;
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
      readonly status?: 'draft' | 'published' | 'deprecated';
      readonly sunset?: string | null;
    };
    readonly UpdatedModel: {
      readonly domain: string;
      readonly name: string;
      readonly description?: string;
      readonly contextBase?: string;
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      readonly status: 'draft' | 'published' | 'deprecated';
      readonly deprecatedAt?: string;
      readonly sunset?: string;
      readonly version: number;
      readonly contextName: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      readonly schema: unknown;
      readonly context?: unknown;
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      readonly change: components['schemas']['ChangeReport'];
    };
    readonly ModelVersion: {
      readonly version: number;
      readonly createdAt: string;
      readonly description?: string;
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      readonly sha256: string;
      readonly size: number;
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly caller?: string;
      readonly references: readonly string[];
    };
    readonly ChangedPointer: {
      readonly op: 'add' | 'remove' | 'replace';
      readonly pointer: string;
    };
    readonly ModelDiff: {
      readonly from: number;
      readonly to: number;
      readonly change: components['schemas']['ChangeReport'];
      readonly pointers: readonly components['schemas']['ChangedPointer'][];
      readonly pointersTotal: number;
    };
    readonly ModelFile: {
      readonly name: string;
      readonly mediaType: string;
      readonly size: number;
      readonly sha256: string;
      readonly uri?: string;
      readonly url: string;
    };
    readonly ModelExample: {
      readonly name: string;
      readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      readonly size: number;
      readonly sha256: string;
      readonly url: string;
    };
    readonly Entities: Record<string, unknown> | readonly Record<string, unknown>[];
    readonly Suggestion:
      | {
          readonly value: string | number | boolean;
        }
      | {
          readonly name: string;
        };
    readonly EntityError: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly keyword: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    readonly PutModelExample: {
      readonly name: string;
      readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      readonly size: number;
      readonly sha256: string;
      readonly url: string;
      readonly valid: boolean;
      readonly errors: readonly components['schemas']['EntityError'][];
    };
    readonly Context: {
      readonly name: string;
      readonly kind: 'custom' | 'generated' | 'core';
      readonly version?: number;
      readonly url: string;
      readonly canonicalUrl?: string;
      readonly createdAt?: string;
      readonly modifiedAt?: string;
    };
    readonly NewContext: {
      readonly name: string;
      readonly '@context': unknown;
    };
    readonly ContextWarning: {
      readonly code: string;
      readonly pointer: string;
      readonly detail: string;
    };
    readonly UpdatedDependent: {
      readonly domain: string;
      readonly model: string;
      readonly status: 'updated' | 'unchanged' | 'refused';
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly reason?: string;
    };
    readonly ContextDryRun: {
      readonly dryRun: true;
      readonly status: 'created' | 'updated' | 'unchanged';
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    readonly WrittenContext: {
      readonly name: string;
      readonly kind: 'custom' | 'generated' | 'core';
      readonly version: number;
      readonly url: string;
      readonly canonicalUrl?: string;
      readonly createdAt?: string;
      readonly modifiedAt?: string;
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    readonly ContextChange: {
      readonly '@context': unknown;
    };
    readonly Reference: {
      readonly uri: string;
      readonly source: 'stored' | 'fetched';
      readonly size: number;
      readonly sha256: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
    };
    readonly PutReference: {
      readonly uri: string;
      readonly source: 'stored' | 'fetched';
      readonly size: number;
      readonly sha256: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly dependents?: readonly components['schemas']['UpdatedDependent'][];
    };
    readonly ReferenceDryRun: {
      readonly dryRun: true;
      readonly status: 'created' | 'updated' | 'unchanged';
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    readonly Samples: Record<string, unknown> | readonly Record<string, unknown>[];
    readonly Expand: {
      readonly document: Record<string, unknown> | readonly unknown[];
      readonly context?: Record<string, unknown> | string | readonly unknown[] | null;
      readonly safe?: boolean;
    };
    readonly JsonLdWarning: {
      readonly code: string;
      readonly detail: string;
      readonly pointer?: string;
    };
    readonly JsonLdResult: {
      readonly result: Record<string, unknown> | readonly unknown[];
      readonly warnings: readonly components['schemas']['JsonLdWarning'][];
    };
    readonly Compact: {
      readonly document: Record<string, unknown> | readonly unknown[];
      readonly context?: Record<string, unknown> | string | readonly unknown[] | null;
      readonly safe?: boolean;
    };
    readonly EntityWarning: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly code: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    readonly Verdict: {
      readonly valid: boolean;
      readonly models?: readonly string[];
      readonly form: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      readonly errors: readonly components['schemas']['EntityError'][];
      readonly warnings: readonly components['schemas']['EntityWarning'][];
    };
    readonly Verdicts: components['schemas']['Verdict'] | readonly components['schemas']['Verdict'][];
    readonly PurgeArchive: {
      readonly entities: number;
      readonly bytes: number;
      readonly segments?: number;
      readonly listDigest?: string;
      readonly expiresAt: string;
      readonly erasedAt?: string;
    };
    readonly Purge: {
      readonly id: string;
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
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      readonly caller: string;
      readonly clientAddress?: string;
      readonly userAgent?: string;
      readonly requestId: string;
      readonly traceparent?: string;
      readonly worker: string;
      readonly waitsFor?: string;
      readonly maxPerSecond: number | null;
      readonly matched: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      readonly estimatedEndAt?: string;
      readonly createdAt: string;
      readonly startedAt?: string;
      readonly endedAt?: string;
      readonly problem?: Record<string, unknown>;
      readonly warnings: readonly string[];
      readonly target: 'entities' | 'temporal' | 'restore';
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      readonly retentionPolicy?: string;
      readonly heldBack?: boolean;
      readonly dryRun: boolean;
      readonly policy: Record<string, unknown>;
      readonly concurrency: number;
      readonly deleted: number;
      readonly alreadyGone: number;
      readonly failed: number;
      readonly unknown: number;
      readonly arrived: number;
      readonly errors: readonly Record<string, unknown>[];
      readonly sample?: readonly string[];
      readonly archive?: components['schemas']['PurgeArchive'];
      readonly plan?: {
        readonly items: number;
        readonly expiresAt: string;
      };
      readonly planOf?: string;
      readonly restoreOf?: string;
      readonly restored?: number;
      readonly alreadyThere?: number;
      readonly different?: number;
    };
    readonly NewPurge: {
      readonly target?: 'entities' | 'temporal';
      readonly query?: string;
      readonly plan?: true | string;
      readonly tenant?: string;
      readonly link?: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly dryRun?: boolean;
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly record?: 'ids';
    };
    readonly PurgeChange: {
      readonly maxPerSecond?: number | null;
      readonly concurrency?: number;
    };
    readonly Restore: {
      readonly ids?: readonly string[];
      readonly dryRun?: boolean;
      readonly maxPerSecond?: number;
    };
    readonly ListedScan: {
      readonly id: string;
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
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      readonly caller: string;
      readonly clientAddress?: string;
      readonly userAgent?: string;
      readonly requestId: string;
      readonly traceparent?: string;
      readonly worker: string;
      readonly waitsFor?: string;
      readonly maxPerSecond: number | null;
      readonly matched: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      readonly estimatedEndAt?: string;
      readonly createdAt: string;
      readonly startedAt?: string;
      readonly endedAt?: string;
      readonly problem?: Record<string, unknown>;
      readonly warnings: readonly string[];
      readonly domain?: string;
      readonly model?: string;
      readonly candidate?: string;
      readonly sample?: number;
      readonly checked: number;
      readonly valid: number;
      readonly invalid: number;
      readonly notJudged: number;
      readonly models: readonly {
        readonly domain: string;
        readonly model: string;
        readonly version: number;
        readonly checked: number;
        readonly valid: number;
        readonly invalid: number;
      }[];
      readonly unmodelled: readonly {
        readonly type: string;
        readonly entities: number;
        readonly sample: readonly string[];
      }[];
      readonly previous?: {
        readonly id: string;
        readonly invalid: number;
        readonly endedAt: string;
      };
    };
    readonly NewScan: {
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly domain?: string;
      readonly model?: string;
      readonly schema?: unknown;
      readonly sample?: number;
      readonly maxPerSecond?: number;
    };
    readonly Finding: {
      readonly domain: string;
      readonly model: string;
      readonly pointer: string;
      readonly keyword: string;
      readonly detail: string;
      readonly entities: number;
      readonly sample: readonly string[];
    };
    readonly Scan: {
      readonly id: string;
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
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      readonly caller: string;
      readonly clientAddress?: string;
      readonly userAgent?: string;
      readonly requestId: string;
      readonly traceparent?: string;
      readonly worker: string;
      readonly waitsFor?: string;
      readonly maxPerSecond: number | null;
      readonly matched: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      readonly estimatedEndAt?: string;
      readonly createdAt: string;
      readonly startedAt?: string;
      readonly endedAt?: string;
      readonly problem?: Record<string, unknown>;
      readonly warnings: readonly string[];
      readonly domain?: string;
      readonly model?: string;
      readonly candidate?: string;
      readonly sample?: number;
      readonly checked: number;
      readonly valid: number;
      readonly invalid: number;
      readonly notJudged: number;
      readonly models: readonly {
        readonly domain: string;
        readonly model: string;
        readonly version: number;
        readonly checked: number;
        readonly valid: number;
        readonly invalid: number;
      }[];
      readonly unmodelled: readonly {
        readonly type: string;
        readonly entities: number;
        readonly sample: readonly string[];
      }[];
      readonly previous?: {
        readonly id: string;
        readonly invalid: number;
        readonly endedAt: string;
      };
      readonly findings: readonly components['schemas']['Finding'][];
    };
    readonly ScanChange: {
      readonly maxPerSecond: number | null;
    };
    readonly FoundEntity: {
      readonly id: string;
      readonly type: string;
      readonly errors: readonly {
        readonly pointer: string;
        readonly keyword: string;
        readonly detail: string;
      }[];
    };
    readonly ListedRetentionPolicy: {
      readonly name: string;
      readonly target: 'entities' | 'temporal';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly olderThan: string;
      readonly by: string;
      readonly schedule: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      readonly timeZone: string;
      readonly maxGrowth: number;
      readonly mode: 'report' | 'enforce';
      readonly enabled: boolean;
      readonly caller: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly lastRun?: {
        readonly id: string;
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
        readonly matched: number;
        readonly createdAt: string;
        readonly heldBack?: boolean;
        readonly dryRun: boolean;
        readonly deleted: number;
      };
    };
    readonly NewRetentionPolicy: {
      readonly name: string;
      readonly target: 'entities' | 'temporal';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly olderThan: string;
      readonly by: string;
      readonly schedule: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      readonly timeZone?: string;
      readonly maxGrowth?: number;
      readonly mode?: 'report' | 'enforce';
      readonly enabled?: boolean;
    };
    readonly RetentionPolicy: {
      readonly name: string;
      readonly target: 'entities' | 'temporal';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly olderThan: string;
      readonly by: string;
      readonly schedule: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      readonly timeZone: string;
      readonly maxGrowth: number;
      readonly mode: 'report' | 'enforce';
      readonly enabled: boolean;
      readonly caller: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
    };
    readonly RetentionPolicySettings: {
      readonly name?: string;
      readonly target: 'entities' | 'temporal';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly olderThan: string;
      readonly by: string;
      readonly schedule: string;
      readonly maxAffected?: number;
      readonly maxPerSecond?: number;
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      readonly timeZone?: string;
      readonly maxGrowth?: number;
      readonly mode?: 'report' | 'enforce';
      readonly enabled?: boolean;
    };
    readonly RetentionPreview: {
      readonly matched: number;
      readonly sample: readonly string[];
      readonly cutoff: string;
      readonly query: string;
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      readonly atLeast?: boolean;
      readonly reportAbove?: number;
    };
    readonly WritePolicy: {
      readonly name: string;
      readonly tenant?: string;
      readonly types?: readonly string[];
      readonly callers?: readonly string[];
      readonly mode: 'off' | 'report' | 'enforce';
      readonly model?: string;
      readonly description?: string;
      readonly priority: number;
      readonly onUnjudged: 'accept' | 'refuse';
      readonly onFailure: 'accept' | 'refuse';
      readonly batch: 'valid-only' | 'all';
      readonly caller: string;
      readonly createdAt: string;
      readonly modifiedAt: string;
      readonly warnings?: readonly string[];
    };
    readonly NewWritePolicy: {
      readonly name: string;
      readonly tenant?: string;
      readonly types?: readonly string[];
      readonly callers?: readonly string[];
      readonly mode: 'off' | 'report' | 'enforce';
      readonly model?: string;
      readonly description?: string;
      readonly priority?: number;
      readonly onUnjudged?: 'accept' | 'refuse';
      readonly onFailure?: 'accept' | 'refuse';
      readonly batch?: 'valid-only' | 'all';
    };
    readonly WritePolicySettings: {
      readonly name?: string;
      readonly tenant?: string;
      readonly types?: readonly string[];
      readonly callers?: readonly string[];
      readonly mode: 'off' | 'report' | 'enforce';
      readonly model?: string;
      readonly description?: string;
      readonly priority?: number;
      readonly onUnjudged?: 'accept' | 'refuse';
      readonly onFailure?: 'accept' | 'refuse';
      readonly batch?: 'valid-only' | 'all';
    };
    readonly WriteFinding: {
      readonly domain: string;
      readonly model: string;
      readonly pointer: string;
      readonly keyword: string;
      readonly detail: string;
      readonly entities: number;
      readonly sample: readonly string[];
    };
    readonly WriteChecks: {
      readonly since: string;
      readonly checked: number;
      readonly invalid: number;
      readonly refused: number;
      readonly notJudged: number;
      readonly findings: readonly components['schemas']['WriteFinding'][];
    };
    readonly Lesson: {
      readonly collection: 'entities' | 'temporal';
      readonly name: string;
      readonly kind: 'proof' | 'limit';
      readonly detail: string;
      readonly learntAt: string;
    };
    readonly Status: {
      readonly version: string;
      readonly environment?: string;
      readonly archives?: boolean;
      readonly signIn?: {
        readonly issuer: string;
        readonly clientId?: string;
        readonly audience: string;
      };
      readonly status: 'up' | 'down' | 'shutting down';
      readonly broker: 'up' | 'down' | 'not asked';
      readonly database: 'up' | 'down' | 'not asked';
      readonly learnt: readonly components['schemas']['Lesson'][];
    };
    readonly Me: {
      readonly caller: string;
      readonly roles: readonly ('viewer' | 'modeller' | 'purger' | 'admin')[];
      readonly tenants?: readonly string[];
    };
    readonly ImportedDocuments: {
      readonly documents: Record<string, unknown>;
    };
    readonly ImportedExamples: {
      readonly kept: number;
      readonly leftOut?: readonly {
        readonly path: string;
        readonly reason: string;
      }[];
      readonly valid: number;
      readonly invalid: readonly {
        readonly path: string;
        readonly pointer: string;
        readonly line?: number;
        readonly detail: string;
      }[];
      readonly unchecked?: readonly string[];
    };
    readonly ImportedFile: {
      readonly path: string;
      readonly url?: string;
      readonly model?: string;
      readonly context?: string;
      readonly status: 'created' | 'updated' | 'unchanged' | 'refused';
      readonly reason?: string;
      readonly line?: number;
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly examples?: components['schemas']['ImportedExamples'];
    };
    readonly ImportReport: {
      readonly summary: {
        readonly dryRun: boolean;
        readonly domains: readonly string[];
        readonly created: number;
        readonly updated: number;
        readonly unchanged: number;
        readonly refused: number;
        readonly ignored: number;
        readonly models: number;
        readonly examples: {
          readonly valid: number;
          readonly invalid: number;
          readonly unchecked: number;
          readonly kept: number;
          readonly leftOut: number;
        };
      };
      readonly files: readonly components['schemas']['ImportedFile'][];
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    readonly PurgePreview: {
      readonly matched: number;
      readonly sample: readonly string[];
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      readonly atLeast?: boolean;
      readonly items?: readonly {
        readonly entityId: string;
        readonly attribute?: string;
        readonly datasetId?: string;
        readonly instanceId?: string;
      }[];
      readonly hints?: readonly string[];
    };
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
    readonly BatchOperationResult: {
      readonly success: readonly string[];
      readonly errors: readonly {
        readonly entityId?: string;
        readonly error?: Record<string, unknown>;
      }[];
    };
    readonly Paths: {
      readonly '/domains': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ListedDomain'][];
        };
        readonly post: {
          readonly body: components['schemas']['NewDomain'];
          readonly answer: components['schemas']['Domain'];
        };
      };
      readonly '/domains/{domain}': {
        readonly get: {
          readonly answer: components['schemas']['Domain'];
        };
        readonly put: {
          readonly body: components['schemas']['DomainChange'];
          readonly answer: components['schemas']['Domain'];
        };
        readonly delete: {
          readonly query: {
            readonly cascade?: boolean;
          };
        };
      };
      readonly '/domains/{domain}/context': {
        readonly get: {
          readonly answer: {
            readonly '@context': unknown;
          };
        };
      };
      readonly '/domains/{domain}/context/warnings': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['DomainContextWarning'][];
        };
      };
      readonly '/models': {
        readonly get: {
          readonly query: {
            readonly q?: string;
            readonly type?: string;
            readonly attribute?: string;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ModelSummary'][];
        };
      };
      readonly '/domains/{domain}/models': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ModelSummary'][];
        };
        readonly post: {
          readonly query: {
            readonly dryRun?: boolean;
          };
          readonly body: components['schemas']['NewModel'];
          readonly answer: components['schemas']['ModelDryRun'] | components['schemas']['Model'];
        };
      };
      readonly '/domains/{domain}/models/{model}': {
        readonly get: {
          readonly query: {
            readonly version?: number;
          };
          readonly answer: components['schemas']['Model'];
        };
        readonly put: {
          readonly query: {
            readonly dryRun?: boolean;
          };
          readonly body: components['schemas']['ModelChange'];
          readonly answer:
            | (components['schemas']['UpdatedModel'] | components['schemas']['ModelDryRun'])
            | components['schemas']['UpdatedModel'];
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/domains/{domain}/models/{model}/versions': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ModelVersion'][];
        };
      };
      readonly '/domains/{domain}/models/{model}/versions/diff': {
        readonly get: {
          readonly query: {
            readonly from?: number;
            readonly to?: number;
          };
          readonly answer: components['schemas']['ModelDiff'];
        };
      };
      readonly '/domains/{domain}/models/{model}/schema': {
        readonly get: {
          readonly query: {
            readonly version?: number;
            readonly bundled?: boolean;
          };
          readonly answer: unknown;
        };
      };
      readonly '/domains/{domain}/models/{model}/openapi': {
        readonly get: {
          readonly query: {
            readonly version?: number;
          };
          readonly answer: unknown;
        };
      };
      readonly '/domains/{domain}/models/{model}/context': {
        readonly get: {
          readonly query: {
            readonly version?: number;
          };
          readonly answer: unknown;
        };
      };
      readonly '/domains/{domain}/models/{model}/files': {
        readonly get: {
          readonly query: {
            readonly version?: number;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ModelFile'][];
        };
      };
      readonly '/domains/{domain}/models/{model}/files/{file}': {
        readonly get: {
          readonly query: {
            readonly version?: number;
          };
          readonly answer: unknown;
        };
      };
      readonly '/domains/{domain}/models/{model}/examples': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ModelExample'][];
        };
      };
      readonly '/domains/{domain}/models/{model}/examples/{example}': {
        readonly get: {
          readonly answer: unknown;
        };
        readonly put: {
          readonly body: components['schemas']['Entities'];
          readonly answer: components['schemas']['PutModelExample'];
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/contexts': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['Context'][];
        };
        readonly post: {
          readonly query: {
            readonly dryRun?: boolean;
          };
          readonly body: components['schemas']['NewContext'];
          readonly answer: components['schemas']['ContextDryRun'] | components['schemas']['WrittenContext'];
        };
      };
      readonly '/contexts/{context}': {
        readonly get: {
          readonly query: {
            readonly version?: number;
          };
          readonly answer: {
            readonly '@context': unknown;
          };
        };
        readonly put: {
          readonly query: {
            readonly dryRun?: boolean;
          };
          readonly body: components['schemas']['ContextChange'];
          readonly answer: components['schemas']['WrittenContext'] | components['schemas']['ContextDryRun'];
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/references': {
        readonly get: {
          readonly query: {
            readonly uri?: string;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['Reference'][] | unknown;
        };
        readonly put: {
          readonly query: {
            readonly uri: string;
            readonly dependents?: boolean;
            readonly dryRun?: boolean;
          };
          readonly body: unknown;
          readonly answer:
            | (components['schemas']['PutReference'] | components['schemas']['ReferenceDryRun'])
            | components['schemas']['PutReference'];
        };
        readonly delete: {
          readonly query: {
            readonly uri: string;
          };
        };
      };
      readonly '/export': {
        readonly get: {
          readonly query: {
            readonly domain?: string;
          };
          readonly answer: string;
        };
      };
      readonly '/workbench/schema/infer': {
        readonly post: {
          readonly query: {
            readonly model?: string;
            readonly form?: 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';
            readonly enum?: boolean;
            readonly strict?: boolean;
          };
          readonly body: components['schemas']['Samples'];
          readonly answer: unknown;
        };
      };
      readonly '/workbench/jsonld/expand': {
        readonly post: {
          readonly body: components['schemas']['Expand'];
          readonly answer: components['schemas']['JsonLdResult'];
        };
      };
      readonly '/workbench/jsonld/compact': {
        readonly post: {
          readonly body: components['schemas']['Compact'];
          readonly answer: components['schemas']['JsonLdResult'];
        };
      };
      readonly '/validate': {
        readonly post: {
          readonly query: {
            readonly domain?: string;
            readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
            readonly strict?: boolean;
          };
          readonly body: components['schemas']['Entities'];
          readonly answer: components['schemas']['Verdicts'];
        };
      };
      readonly '/validate/{domain}/{model}': {
        readonly post: {
          readonly query: {
            readonly version?: number;
            readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
            readonly strict?: boolean;
          };
          readonly body: components['schemas']['Entities'];
          readonly answer: components['schemas']['Verdicts'];
        };
      };
      readonly '/purges': {
        readonly get: {
          readonly query: {
            readonly state?:
              | 'queued'
              | 'running'
              | 'cancelling'
              | 'succeeded'
              | 'partial'
              | 'failed'
              | 'cancelled'
              | 'refused'
              | 'interrupted';
            readonly tenant?: string;
            readonly caller?: string;
            readonly retentionPolicy?: string;
            readonly dryRun?: boolean;
            readonly since?: string;
            readonly until?: string;
            readonly text?: string;
            readonly type?: string;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['Purge'][];
        };
        readonly post: {
          readonly body: components['schemas']['NewPurge'];
          readonly answer: components['schemas']['Purge'];
        };
      };
      readonly '/purges/{purge}': {
        readonly get: {
          readonly answer: components['schemas']['Purge'];
        };
        readonly patch: {
          readonly body: components['schemas']['PurgeChange'];
          readonly answer: components['schemas']['Purge'];
        };
      };
      readonly '/purges/{purge}/cancel': {
        readonly post: {
          readonly answer: components['schemas']['Purge'];
        };
      };
      readonly '/purges/{purge}/events': {
        readonly get: {
          readonly answer: string;
        };
      };
      readonly '/purges/{purge}/ids': {
        readonly get: {
          readonly answer: string;
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/purges/{purge}/restore': {
        readonly post: {
          readonly body: components['schemas']['Restore'];
          readonly answer: components['schemas']['Purge'];
        };
      };
      readonly '/purges/{purge}/archive': {
        readonly get: {
          readonly answer: string;
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/scans': {
        readonly get: {
          readonly query: {
            readonly state?:
              | 'queued'
              | 'running'
              | 'cancelling'
              | 'succeeded'
              | 'partial'
              | 'failed'
              | 'cancelled'
              | 'refused'
              | 'interrupted';
            readonly tenant?: string;
            readonly caller?: string;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ListedScan'][];
        };
        readonly post: {
          readonly body: components['schemas']['NewScan'];
          readonly answer: components['schemas']['Scan'];
        };
      };
      readonly '/scans/{scan}': {
        readonly get: {
          readonly answer: components['schemas']['Scan'];
        };
        readonly patch: {
          readonly body: components['schemas']['ScanChange'];
          readonly answer: components['schemas']['Scan'];
        };
      };
      readonly '/scans/{scan}/cancel': {
        readonly post: {
          readonly answer: components['schemas']['Scan'];
        };
      };
      readonly '/scans/{scan}/events': {
        readonly get: {
          readonly answer: string;
        };
      };
      readonly '/scans/{scan}/entities': {
        readonly get: {
          readonly query: {
            readonly finding: number;
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['FoundEntity'][] | string;
        };
      };
      readonly '/retention-policies': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['ListedRetentionPolicy'][];
        };
        readonly post: {
          readonly body: components['schemas']['NewRetentionPolicy'];
          readonly answer: components['schemas']['RetentionPolicy'];
        };
      };
      readonly '/retention-policies/{retentionPolicy}': {
        readonly get: {
          readonly answer: components['schemas']['RetentionPolicy'];
        };
        readonly put: {
          readonly body: components['schemas']['RetentionPolicySettings'];
          readonly answer: components['schemas']['RetentionPolicy'];
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/retention-policies/{retentionPolicy}/preview': {
        readonly get: {
          readonly answer: components['schemas']['RetentionPreview'];
        };
      };
      readonly '/retention-policies/preview': {
        readonly post: {
          readonly body: components['schemas']['RetentionPolicySettings'];
          readonly answer: components['schemas']['RetentionPreview'];
        };
      };
      readonly '/retention-policies/{retentionPolicy}/run': {
        readonly post: {
          readonly answer: components['schemas']['Purge'];
        };
      };
      readonly '/retention-policies/{retentionPolicy}/runs': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['Purge'][];
        };
      };
      readonly '/write-policies': {
        readonly get: {
          readonly query: {
            readonly limit?: number;
            readonly offset?: number;
          };
          readonly answer: readonly components['schemas']['WritePolicy'][];
        };
        readonly post: {
          readonly body: components['schemas']['NewWritePolicy'];
          readonly answer: components['schemas']['WritePolicy'];
        };
      };
      readonly '/write-policies/{writePolicy}': {
        readonly get: {
          readonly answer: components['schemas']['WritePolicy'];
        };
        readonly put: {
          readonly body: components['schemas']['WritePolicySettings'];
          readonly answer: components['schemas']['WritePolicy'];
        };
        readonly delete: Record<string, unknown>;
      };
      readonly '/write-checks': {
        readonly get: {
          readonly query: {
            readonly policy?: string;
          };
          readonly answer: components['schemas']['WriteChecks'];
        };
      };
      readonly '/status': {
        readonly get: {
          readonly answer: components['schemas']['Status'];
        };
      };
      readonly '/me': {
        readonly get: {
          readonly answer: components['schemas']['Me'];
        };
      };
      readonly '/openapi.json': {
        readonly get: {
          readonly answer: Record<string, unknown>;
        };
      };
      readonly '/import': {
        readonly post: {
          readonly query: {
            readonly domain?: string;
            readonly dryRun?: boolean;
          };
          readonly body: components['schemas']['ImportedDocuments'];
          readonly answer: components['schemas']['ImportReport'];
        };
      };
      readonly '/ngsi-ld/v1/entities': {
        readonly delete: {
          readonly query: {
            readonly type?: string;
            readonly id?: string;
            readonly idPattern?: string;
            readonly attrs?: string;
            readonly q?: string;
            readonly georel?: string;
            readonly geometry?: string;
            readonly coordinates?: string;
            readonly geoproperty?: string;
            readonly geometryProperty?: string;
            readonly scopeQ?: string;
            readonly csf?: string;
            readonly expandValues?: string;
            readonly jsonKeys?: string;
            readonly local?: string;
            readonly drop?: string;
            readonly keep?: string;
            readonly maxAffected?: number;
            readonly maxPerSecond?: number;
            readonly dryRun?: boolean;
            readonly archive?: 'none' | 'best-effort' | 'required';
            readonly record?: 'ids';
          };
          readonly answer:
            | (components['schemas']['PurgePreview'] | components['schemas']['PurgeSummary'])
            | components['schemas']['Purge']
            | components['schemas']['BatchOperationResult'];
        };
      };
      readonly '/ngsi-ld/v1/temporal/entities': {
        readonly delete: {
          readonly query: {
            readonly type?: string;
            readonly id?: string;
            readonly idPattern?: string;
            readonly attrs?: string;
            readonly q?: string;
            readonly georel?: string;
            readonly geometry?: string;
            readonly coordinates?: string;
            readonly geoproperty?: string;
            readonly geometryProperty?: string;
            readonly scopeQ?: string;
            readonly csf?: string;
            readonly expandValues?: string;
            readonly jsonKeys?: string;
            readonly local?: string;
            readonly datasetId?: string;
            readonly timerel?: string;
            readonly timeAt?: string;
            readonly endTimeAt?: string;
            readonly timeproperty?: string;
            readonly maxAffected?: number;
            readonly maxPerSecond?: number;
            readonly dryRun?: boolean;
            readonly archive?: 'none' | 'best-effort' | 'required';
            readonly record?: 'ids';
          };
          readonly answer:
            | (components['schemas']['PurgePreview'] | components['schemas']['PurgeSummary'])
            | components['schemas']['Purge']
            | components['schemas']['BatchOperationResult'];
        };
      };
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
