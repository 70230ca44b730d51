import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { problemKinds, type ProblemName } from '../../../sidecar/http/problem-kinds.js';
import { hasProblem, problemOf, startErrorLines } from '../../../sidecar/http/problem.js';
import { ContextInvalidError } from '../../../sidecar/schemas/json-ld/errors.js';
import * as service from '../../../sidecar/schemas/models/errors.js';
import { NotADatabaseError } from '../../../sidecar/store/open-database.js';
import * as store from '../../../sidecar/store/errors.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../sidecar/shared/workers/errors.js';
import { GatewayError } from '../../../sidecar/shared/errors.js';
import { ROOT } from '../../support/project.js';

const MODEL = { kind: 'model', domain: 'D', name: 'M' } as const;
const FAULTS = [{ pointer: '/schema/type', detail: 'is wrong' }];
const REPORT = { overall: 'narrowing', differences: [] } as const;
const refusedSchema = (code: string, missing: readonly string[] = []) =>
  new service.SchemaNotAcceptedError(code, 'The schema is refused.', FAULTS, missing);

const CASES: readonly (readonly [
  Error,
  ProblemName,
  Readonly<Record<string, unknown>>?,
  Readonly<Record<string, string>>?,
])[] = [
  [new store.NotFoundError(MODEL), 'notFound'],
  [new service.FileNotFoundError('x.json'), 'notFound'],
  [new store.AlreadyExistsError(MODEL), 'alreadyExists'],
  [new store.PreconditionFailedError(MODEL, 'now'), 'preconditionFailed', {}, { etag: '"now"' }],
  [new store.PreconditionFailedError(MODEL, undefined), 'preconditionFailed'],
  [
    new store.InUseError(MODEL, [{ kind: 'context', name: 'C', version: 2 }], 1),
    'inUse',
    { dependents: [{ kind: 'context', name: 'C', version: 2 }], total: 1 },
  ],
  [
    new service.IncompatibleChangeError(REPORT, 'forward'),
    'incompatibleChange',
    { report: REPORT, direction: 'forward' },
  ],
  [new store.ReadOnlyContextError('D~M'), 'readOnly', {}, { allow: 'GET, HEAD, OPTIONS' }],
  [new service.BundledContextError('core'), 'readOnly', {}, { allow: 'GET, HEAD, OPTIONS' }],
  [new store.DependencyChangedError(['urn:a:a'], []), 'dependencyChanged'],
  [new service.OvertakenError({}), 'dependencyChanged'],
  [new service.NameError('is none'), 'bodyInvalid', { errors: [{ pointer: '/name', detail: 'is none' }] }],
  [new service.ContextBaseError(), 'bodyInvalid', { errors: new service.ContextBaseError().errors }],
  [new store.UnstorableTextError('schema'), 'bodyInvalid'],
  [new service.ReferenceUriError('is none'), 'invalidRequest', { parameter: 'uri' }],
  [refusedSchema('SCHEMA_INVALID'), 'schemaInvalid', { errors: FAULTS }],
  [refusedSchema('SCHEMA_DIALECT_UNSUPPORTED'), 'schemaDialectUnsupported', { errors: FAULTS }],
  [refusedSchema('SCHEMA_LIMIT_EXCEEDED'), 'schemaTooLarge', { errors: FAULTS }],
  [
    refusedSchema('SCHEMA_REFERENCE_DANGLING', ['urn:a:a']),
    'schemaReferenceDangling',
    { errors: FAULTS, missing: ['urn:a:a'] },
  ],
  [refusedSchema('SCHEMA_NOT_CONVERTIBLE'), 'schemaNotConvertible', { errors: FAULTS }],
  [refusedSchema('SCHEMA_TOO_COSTLY'), 'schemaTooCostly', { errors: FAULTS }],
  [new ContextInvalidError(FAULTS), 'contextInvalid', { errors: FAULTS }],
  [new WorkersBusyError(3), 'busy', {}, { 'retry-after': '1' }],
  [new TaskTooCostlyError('time', 'Too long.'), 'busy', {}, { 'retry-after': '1' }],
  [new store.StoreUnavailableError('Down.'), 'storeUnavailable', {}, { 'retry-after': '1' }],
];

describe('problemOf: errors of the schema service', () => {
  for (const [error, name, members = {}, headers = {}] of CASES) {
    it(`${error.constructor.name} (${'code' in error ? String(error.code) : ''}) is ${name}`, () => {
      assert.deepEqual(problemOf(error), {
        problem: { ...problemKinds[name], detail: error.message, ...members },
        headers,
      });
    });
  }

  it('a failed task has no problem of its own, so it is answered 500', () => {
    assert.equal(problemOf(new TaskFailedError('The task failed.')), undefined);
  });
});

describe('problemOf: the table of codes', () => {
  /** Ends the work of this process on a purge, and is never the answer to a request. */
  const LEASE_LOST = 'PURGE_LEASE_LOST';
  const FILES = [
    'sidecar/purge/errors.ts',
    'sidecar/schemas/json-schema/errors.ts',
    'sidecar/schemas/models/errors.ts',
    'sidecar/store/errors.ts',
    'sidecar/schemas/models/workbench-errors.ts',
  ];
  const codes = FILES.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return Array.from(text.matchAll(/(?:code = |\| )'([A-Z]+_[A-Z_]+)'/g), ([, code = '']) => code);
  });

  it('the table of codes has a problem for every code of an error that can reach a client', () => {
    assert.ok(codes.length > 35, `${codes.length} codes were found`);
    assert.deepEqual(
      codes.filter((code) => !hasProblem(code) && code !== LEASE_LOST),
      [],
    );
  });
});

describe('problemOf: each code', () => {
  class Coded extends GatewayError {
    constructor(readonly code: string) {
      super('As it says.');
    }
  }
  const SOON = { 'retry-after': '1' };
  const LATER = { 'retry-after': '5' };

  for (const [name, codes, headers] of [
    ['notSupported', ['PURGE_UNSUPPORTED'], {}],
    ['forbiddenByPolicy', ['PURGE_FORBIDDEN_BY_POLICY'], {}],
    ['filterIgnored', ['PURGE_FILTER_IGNORED'], {}],
    ['unexpectedEntity', ['PURGE_UNEXPECTED_ENTITY'], {}],
    ['tooManyMatches', ['PURGE_TOO_MANY_MATCHES'], {}],
    ['uncountableMatches', ['PURGE_UNCOUNTABLE'], {}],
    ['notConverging', ['PURGE_NOT_CONVERGING'], {}],
    ['shuttingDown', ['PURGE_STOPPED'], LATER],
    // Who cancelled it does not want it to be tried again.
    ['purgeCancelled', ['PURGE_CANCELLED'], {}],
    ['tooManyPurges', ['PURGE_TOO_MANY_RUNNING', 'PURGE_QUEUE_FULL'], LATER],
    ['notFound', ['PURGE_NOT_FOUND', 'PURGE_IDS_NOT_FOUND', 'STORE_NOT_FOUND', 'TYPE_UNKNOWN'], {}],
    ['purgeOver', ['PURGE_OVER'], {}],
    ['runUnderWay', ['RETENTION_RUN_UNDER_WAY'], {}],
    ['jobSecretMissing', ['JOB_SECRET_MISSING'], {}],
    ['brokerReplyUnusable', ['BROKER_REPLY_UNUSABLE'], {}],
    ['storeUnavailable', ['STORE_UNAVAILABLE'], SOON],
    ['modelPublished', ['MODEL_PUBLISHED'], {}],
    ['invalidRequest', ['ARCHIVE_UNREADABLE', 'REPOSITORY_UNCLEAR', 'REFERENCE_URI_INVALID'], {}],
    ['bodyTooLarge', ['REPOSITORY_TOO_LARGE'], {}],
    ['bodyInvalid', ['BODY_INVALID', 'SAMPLES_INVALID', 'SCHEMA_MISSING', 'SUNSET_INVALID'], {}],
    ['limitExceeded', ['SAMPLES_TOO_RICH', 'LIMIT_EXCEEDED'], {}],
    ['typeAmbiguous', ['TYPE_AMBIGUOUS'], {}],
    ['jsonLdInvalid', ['JSON_LD_INVALID'], {}],
    ['dataDropped', ['DATA_DROPPED'], {}],
    ['contextInvalid', ['CONTEXT_UNUSABLE'], {}],
    ['contextRefused', ['CONTEXT_REFUSED'], {}],
    ['contextUnavailable', ['CONTEXT_FETCH_FAILED'], {}],
    ['deadlineExceeded', ['WORK_DEADLINE_EXCEEDED'], {}],
    ['busy', ['WORKER_TASK_TOO_COSTLY', 'WORKERS_BUSY'], SOON],
    ['busy', ['IMPORT_RUNNING'], LATER],
  ] as const) {
    it(`the problem of ${codes.join(', ')} is ${name}, ${'retry-after' in headers ? 'to be tried again' : 'without a time'}`, () => {
      for (const code of codes) {
        const answer = problemOf(new Coded(code));
        const { type, title, status } = answer?.problem ?? {};
        assert.deepEqual({ type, title, status }, problemKinds[name], code);
        assert.equal(answer?.problem.detail, 'As it says.');
        assert.deepEqual(answer.headers, headers, code);
      }
    });
  }

  it('text that cannot be stored is the fault of its member, where it is one of the body', () => {
    for (const member of ['name', 'description', 'contextBase']) {
      const error = new store.UnstorableTextError(member);
      const errors = [{ pointer: `/${member}`, detail: error.message }];
      assert.deepEqual(problemOf(error)?.problem['errors' as never], errors, member);
    }
  });
});

describe('problemKinds', () => {
  it('a problem of each type has the status that docs/errors.md states', () => {
    const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    const stated = new Map(
      Array.from(page.matchAll(/^### ([a-z-]+)\n\n\*\*(\d{3})\b/gm), ([, type = '', status]) => [
        type,
        Number(status),
      ]),
    );
    assert.ok(stated.size > 30, `${stated.size} types`);
    for (const { type, status } of Object.values(problemKinds)) {
      const own = /^urn:ngsi-ld-gateway:problem:(.*)$/.exec(type)?.[1];
      if (own !== undefined && stated.has(own)) assert.equal(status, stated.get(own), own);
    }
  });

  it('a problem of a type of the standard has its status', () => {
    const standard = Object.entries(problemKinds).filter(([, { type }]) => type.startsWith('https:'));
    assert.deepEqual(Object.fromEntries(standard.map(([name, { status }]) => [name, status])), {
      ...{ invalidRequest: 400, badRequestData: 400, requestTimeout: 408, uriTooLong: 414 },
      ...{ expectationFailed: 417, fieldsTooLarge: 431, notFound: 404, alreadyExists: 409 },
      ...{ internalError: 500, brokerContextUnavailable: 502, contextUnavailable: 504 },
    });
  });
});

describe('startErrorLines: a database that cannot be opened', () => {
  it('a database that cannot be opened names the setting from which it comes', () => {
    class Unusable extends GatewayError {
      constructor(
        readonly code: string,
        message: string,
      ) {
        super(message);
      }
    }
    for (const [code, message, line] of [
      ['DATABASE_UNUSABLE', 'postgres://h/db is away', 'DATABASE_URL: postgres://h/db is away'],
      ['DATABASE_UNUSABLE', 'a.db is locked', 'DATABASE_PATH: a.db is locked'],
      ['OTHER', 'postgres://h/db is away', 'postgres://h/db is away'],
    ] as const)
      assert.deepEqual(startErrorLines(new Unusable(code, message)), [line]);
  });

  it('a database that cannot be opened names the setting', () => {
    assert.deepEqual(
      startErrorLines(new NotADatabaseError('a.db')).map((line) => line.slice(0, 44)),
      ['DATABASE_PATH: a.db is not a SQLite database'],
    );
  });
});
