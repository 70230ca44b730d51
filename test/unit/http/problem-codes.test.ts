import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { problemKinds, type ProblemName } from '../../../sidecar/http/problem-kinds.js';
import { hasProblem, problemOf, startErrorLines } from '../../../sidecar/http/problem.js';
import { ContextInvalidError } from '../../../sidecar/schemas/json-ld/errors.js';
import * as service from '../../../sidecar/schemas/service/errors.js';
import { NotADatabaseError } from '../../../sidecar/schemas/store/open-database.js';
import * as store from '../../../sidecar/schemas/store/errors.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../sidecar/shared/workers/errors.js';
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
    'sidecar/schemas/service/errors.ts',
    'sidecar/schemas/store/errors.ts',
    'sidecar/schemas/workbench/errors.ts',
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

describe('startErrorLines: a database that cannot be opened', () => {
  it('a database that cannot be opened names the setting', () => {
    assert.deepEqual(
      startErrorLines(new NotADatabaseError('a.db')).map((line) => line.slice(0, 44)),
      ['DATABASE_PATH: a.db is not a SQLite database'],
    );
  });
});
