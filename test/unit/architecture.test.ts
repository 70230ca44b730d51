import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/project.js';
import { packageOf, parseSource, readSources, targetOf, type Source } from '../support/source-imports.js';
import { words } from '../support/words.js';

/** What the files of one room may import, apart from each other. */
interface Room {
  readonly rooms: readonly string[];
  /** Rooms that only the named files may import. */
  readonly onlyFor?: Readonly<Record<string, readonly string[]>>;
  readonly packages: readonly string[];
}

/** The rooms of the purge engine, top to bottom: each imports only rooms below it. */
const ENGINE = [
  'restoring',
  'temporal',
  'entities',
  'attributes',
  'deleting',
  'run',
  'proof',
  'listing',
  'requests',
  'query',
  'archiving',
  'ledger',
  'broker',
] as const;

/** The allowed imports of a room of the engine: the rooms below it, and the errors of the engine. */
function below(room: (typeof ENGINE)[number]): readonly string[] {
  const rooms = ENGINE.slice(ENGINE.indexOf(room) + 1).map(roomOfEngine);
  return [...rooms, 'sidecar/purge', 'sidecar/archive', 'sidecar/ngsi-ld', 'sidecar/shared'];
}

function roomOfEngine(room: string): string {
  return `sidecar/purge/${room}`;
}

/** The rooms of sidecar/ and their one-way dependencies; docs/architecture.md draws them. */
const ROOMS: Readonly<Record<string, Room>> = {
  'sidecar/shared': { rooms: [], packages: [] },
  'sidecar/ngsi-ld': { rooms: ['sidecar/shared'], packages: ['re2js'] },
  'sidecar/archive': {
    rooms: ['sidecar/ngsi-ld', 'sidecar/shared'],
    packages: ['aws4fetch', 'lru-cache', 'p-limit', 'undici'],
  },
  // The engine, from whole purges down to single requests, with the entry of the engine and its errors.
  'sidecar/purge': {
    rooms: ['sidecar/purge/broker', 'sidecar/shared'],
    onlyFor: { 'sidecar/purge/index.ts': ENGINE.map(roomOfEngine) },
    packages: [],
  },
  'sidecar/purge/restoring': {
    rooms: [...below('restoring'), 'sidecar/ngsi-ld/representation'],
    packages: ['p-limit'],
  },
  'sidecar/purge/temporal': { rooms: below('temporal'), packages: [] },
  'sidecar/purge/entities': { rooms: below('entities'), packages: [] },
  'sidecar/purge/attributes': { rooms: below('attributes'), packages: [] },
  'sidecar/purge/deleting': { rooms: below('deleting'), packages: [] },
  'sidecar/purge/run': { rooms: below('run'), packages: [] },
  'sidecar/purge/proof': { rooms: below('proof'), packages: ['p-limit'] },
  'sidecar/purge/listing': { rooms: below('listing'), packages: [] },
  'sidecar/purge/requests': { rooms: below('requests'), packages: [] },
  'sidecar/purge/query': { rooms: below('query'), packages: ['luxon'] },
  'sidecar/purge/ledger': { rooms: below('ledger'), packages: [] },
  'sidecar/purge/archiving': { rooms: below('archiving'), packages: [] },
  'sidecar/purge/broker': { rooms: ['sidecar/ngsi-ld', 'sidecar/shared'], packages: ['undici'] },
  'sidecar/shared/config': { rooms: ['sidecar/shared'], packages: [] },
  'sidecar/jobs': {
    rooms: ['sidecar/archive', 'sidecar/purge', 'sidecar/store', 'sidecar/ngsi-ld', 'sidecar/shared'],
    onlyFor: { 'sidecar/jobs/configured-kinds.ts': ['sidecar/purge/broker', 'sidecar/shared/config'] },
    packages: ['croner'],
  },
  'sidecar/scans': {
    rooms: words(`
      sidecar/jobs sidecar/purge sidecar/schemas/models sidecar/store sidecar/shared
    `),
    packages: [],
  },
  'sidecar/write-checks': {
    rooms: words(`
      sidecar/schemas/models sidecar/schemas/writes sidecar/schemas/json-ld sidecar/store sidecar/purge/broker
      sidecar/ngsi-ld/representation sidecar/ngsi-ld sidecar/shared/workers sidecar/shared
    `),
    packages: ['lru-cache', 'p-limit'],
  },
  'sidecar/schemas/writes': {
    rooms: words(`
      sidecar/schemas/validation sidecar/schemas/json-ld sidecar/schemas/json-schema
      sidecar/ngsi-ld/representation sidecar/ngsi-ld sidecar/shared
    `),
    packages: ['lru-cache'],
  },
  'sidecar/auth': {
    rooms: ['sidecar/shared'],
    onlyFor: { 'sidecar/auth/token-verifier.ts': ['sidecar/shared/config'] },
    packages: ['jose', 'undici'],
  },
  'sidecar/http': {
    rooms: words(`
      sidecar/auth sidecar/scans sidecar/write-checks sidecar/jobs sidecar/purge sidecar/schemas/models sidecar/purge/broker sidecar/schemas/repository
      sidecar/store sidecar/ngsi-ld sidecar/shared
    `),
    packages: words(`
      @fastify/multipart @fastify/static @fastify/swagger @fastify/type-provider-typebox ajv fastify
      typebox undici
    `),
  },
  'sidecar/metrics': { rooms: ['sidecar/shared'], packages: ['@prometheus-io/client'] },
  'sidecar/tracing': {
    rooms: ['sidecar/purge/broker', 'sidecar/purge', 'sidecar/store', 'sidecar/shared'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
  },
  'sidecar/shared/workers': { rooms: ['sidecar/shared'], packages: [] },
  'sidecar/schemas/json-schema': {
    rooms: ['sidecar/shared/workers', 'sidecar/ngsi-ld', 'sidecar/shared'],
    packages: ['ajv', 'ajv-formats', 'lru-cache'],
  },
  'sidecar/store': {
    rooms: ['sidecar/ngsi-ld', 'sidecar/shared'],
    packages: ['better-sqlite3', 'p-limit', 'pg'],
  },
  'sidecar/schemas/json-ld': {
    rooms: ['sidecar/shared'],
    packages: ['@digitalbazaar/data-integrity-context', 'jsonld', 'lru-cache'],
  },
  'sidecar/ngsi-ld/representation': { rooms: ['sidecar/ngsi-ld', 'sidecar/shared'], packages: [] },
  'sidecar/schemas/validation': {
    rooms: words(`
      sidecar/shared/workers sidecar/ngsi-ld/representation sidecar/schemas/json-schema sidecar/ngsi-ld
      sidecar/shared
    `),
    packages: ['lru-cache'],
  },
  'sidecar/schemas/inference': {
    rooms: words(`
      sidecar/ngsi-ld/representation sidecar/schemas/json-schema sidecar/ngsi-ld sidecar/shared
    `),
    packages: [],
  },
  'sidecar/schemas/repository': {
    rooms: words(`
      sidecar/schemas/models sidecar/schemas/json-schema sidecar/schemas/json-ld sidecar/store
      sidecar/ngsi-ld/representation sidecar/shared/workers sidecar/shared
    `),
    packages: ['tar-stream', 'yauzl'],
  },
  'sidecar/schemas/openapi': {
    rooms: [
      'sidecar/ngsi-ld/representation',
      'sidecar/schemas/json-schema',
      'sidecar/ngsi-ld',
      'sidecar/shared',
    ],
    packages: [],
  },
  'sidecar/schemas/remote': { rooms: ['sidecar/shared'], packages: ['undici'] },
  'sidecar/schemas/models': {
    rooms: words(`
      sidecar/store sidecar/schemas/json-schema sidecar/schemas/json-ld sidecar/schemas/openapi
      sidecar/schemas/validation sidecar/schemas/inference sidecar/schemas/remote
      sidecar/ngsi-ld/representation sidecar/shared/workers sidecar/shared
    `),
    packages: ['lru-cache', 'p-limit', 'p-retry'],
  },
  'sidecar/client': { rooms: ['sidecar/shared'], packages: ['openapi-fetch'] },
  'sidecar/cli': {
    rooms: words(`
      sidecar/client sidecar/purge sidecar/purge/broker sidecar/shared/config sidecar/shared
    `),
    onlyFor: {
      'sidecar/cli/broker-backend.ts': ['sidecar/http', 'sidecar/jobs'],
      'sidecar/cli/broker-scan-backend.ts': [
        'sidecar/http',
        'sidecar/jobs',
        'sidecar/scans',
        'sidecar/store',
      ],
      'sidecar/cli/file-commands.ts': ['sidecar/schemas/inference'],
      'sidecar/cli/retention-commands.ts': ['sidecar/jobs'],
      'sidecar/cli/local-import.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/database-commands.ts': ['sidecar/store'],
      'sidecar/cli/repository-folder.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/revision-files.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/push-command.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/push-plan.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/model-in-repository.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/local-checker.ts': ['sidecar/schemas/repository', 'sidecar/schemas/models'],
      'sidecar/cli/check-command.ts': ['sidecar/schemas/repository'],
      'sidecar/cli/stored-candidates.ts': ['sidecar/schemas/repository', 'sidecar/schemas/validation'],
      'sidecar/cli/context.ts': ['sidecar/schemas/repository', 'sidecar/schemas/models'],
    },
    packages: ['cli-progress', 'commander', 'yaml'],
  },
  'sidecar/embedded-broker': {
    rooms: ['sidecar/ngsi-ld/representation', 'sidecar/ngsi-ld', 'sidecar/shared'],
    packages: [],
  },
};

/** Wires all rooms; only the entries main.ts and cli.ts import these files. */
const WIRING = new Set(
  words(`
  sidecar/gateway.ts sidecar/main.ts sidecar/serve.ts sidecar/start-error.ts sidecar/graceful-shutdown.ts sidecar/open-archives.ts sidecar/open-broker.ts sidecar/open-purges.ts
  sidecar/open-write-checks.ts
  sidecar/cli.ts sidecar/cli/main.ts sidecar/schemas/open-schemas.ts sidecar/schemas/worker.ts
`),
);

/** Packages that only some places may import, whatever the rooms allow. */
const PACKAGE_OWNERS: Readonly<Record<string, RegExp>> = {
  fastify: /^sidecar\/(?:http\/|gateway\.ts$|open-(?:archives|purges|write-checks)\.ts$)/,
};

const ENV_OWNERS = ['sidecar/serve.ts', 'sidecar/cli/main.ts'];

const sources = [...readSources('sidecar'), ...readSources('kong-plugins')];

it('rooms depend on each other only in the direction that is drawn', () => {
  assert.ok(sources.length > 50, 'the sources were found');
  assertNone(sources.filter(isSidecar).flatMap(roomViolations));
});

it('rooms of the engine are imported through their index.ts, and the engine through its own', () => {
  assertNone(sources.filter(isSidecar).flatMap(faceViolations));
});

it('the engine has at most four files outside its rooms', () => {
  const loose = sources.filter(({ path }) => /^sidecar\/purge\/[^/]+$/.test(path));
  assert.ok(loose.length <= 4, loose.map(({ path }) => path).join());
});

it('every Kong plugin imports only its own folder and types of node:', () => {
  assertNone(sources.filter(isOfPlugin).flatMap(pluginViolations));
});

it('fastify is imported in sidecar/http and in the wiring only', () => {
  assertNone(sources.flatMap(ownerViolations));
});

it('the environment is read in sidecar/serve.ts and sidecar/cli/main.ts only', () => {
  assertNone(sources.flatMap(envViolations));
});

it('no files import each other in a cycle, types included', () => {
  assertNone(cyclesOf(sources));
});

it('the store is imported through its index.ts, and databases are opened through its databases.ts', () => {
  assertNone(sources.filter(isSidecar).flatMap(storeViolations));
});

it('shared test helpers have no hooks of their own, which would belong to the first file that loads the helper', () => {
  const shared = filesBelow('test').filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  assert.ok(shared.length > 50, 'the files were found');
  const isHooked = (path: string) =>
    /^(?:after|before)(?:Each)?\(/m.test(readFileSync(join(ROOT, path), 'utf8'));
  assert.deepEqual(shared.filter(isHooked), []);
});

it('the thread that serves requests does not load code that only workers need', () => {
  const loaded = packagesLoadedBy('sidecar/gateway.ts', sources);
  assert.ok(loaded.has('fastify'));
  for (const name of ['jsonld', 'ajv-formats']) assert.equal(loaded.has(name), false, name);
  assert.ok(packagesLoadedBy('sidecar/schemas/worker.ts', sources).has('jsonld'));
});

const from = parseSource;

it('the check of the architecture finds an import against the direction, static, dynamic, re-exported or of a type', () => {
  for (const text of [
    "import { a } from '../http/app.js';",
    "import '../http/app.js';",
    "export * from '../http/app.js';",
    "const app = await import('../http/app.js');",
    "import type { A } from '../http/app.js';",
    "let a: import('../http/app.js').A;",
    "import app = require('../http/app.js');",
  ]) {
    const found = roomViolations(from('sidecar/purge/x.ts', text));
    assert.deepEqual(found, [
      'sidecar/purge/x.ts imports sidecar/http/app.ts: sidecar/purge may not import sidecar/http',
    ]);
  }
});

it('the check of the architecture finds an import up the rooms of the engine, and an import that bypasses index.ts', () => {
  const up = from('sidecar/purge/run/x.ts', "import { a } from '../deleting/index.js';");
  assert.deepEqual([roomViolations(up).length, faceViolations(up).length], [1, 0]);
  const past = from('sidecar/purge/run/x.ts', "import { a } from '../listing/walk.js';");
  assert.deepEqual([roomViolations(past).length, faceViolations(past).length], [0, 1]);
  for (const [path, specifier, count] of [
    ['sidecar/purge/run/x.ts', '../errors.js', 0],
    ['sidecar/purge/run/x.ts', './context.js', 0],
    ['sidecar/jobs/x.ts', '../purge/index.js', 0],
    ['sidecar/jobs/x.ts', '../purge/broker/index.js', 0],
    ['sidecar/jobs/x.ts', '../purge/run/index.js', 1],
    ['sidecar/gateway.ts', './purge/errors.js', 1],
  ] as const) {
    const source = from(path, `import { a } from '${specifier}';`);
    assert.equal(faceViolations(source).length, count, `${path} imports ${specifier}`);
  }
});

it('the check of the architecture treats imports of types differently', () => {
  assert.deepEqual(
    pluginViolations(from('kong-plugins/p/x.ts', "import type { Socket } from 'node:net';")),
    [],
  );
  assert.equal(
    pluginViolations(from('kong-plugins/p/x.ts', "import { connect } from 'node:net';")).length,
    1,
  );
  assert.equal(pluginViolations(from('kong-plugins/p/x.ts', "import { a } from '../q/a.js';")).length, 1);
});

it('the check of the architecture finds unknown rooms, misplaced packages, and imports of rooms that are open to one file only', () => {
  assert.equal(roomViolations(from('sidecar/attic/x.ts', '')).length, 1);
  assert.equal(roomViolations(from('sidecar/purge/x.ts', "import { x } from 'undici';")).length, 1);
  assert.equal(roomViolations(from('sidecar/cli/x.ts', "import { x } from '../store/errors.js';")).length, 1);
  assert.deepEqual(
    roomViolations(from('sidecar/cli/database-commands.ts', "import { x } from '../store/errors.js';")),
    [],
  );
  assert.equal(roomViolations(from('sidecar/http/x.ts', "import { x } from '../gateway.js';")).length, 1);
  assert.equal(storeViolations(from('sidecar/jobs/x.ts', "import '../store/sql-store.js';")).length, 1);
  assert.deepEqual(storeViolations(from('sidecar/jobs/x.ts', "import '../store/databases.js';")), []);
  assert.equal(ownerViolations(from('sidecar/main.ts', "import fastify from 'fastify';")).length, 1);
});

it('the check of the architecture finds process.env in every notation', () => {
  for (const text of [
    'process.env.X',
    "process['env']",
    'const { env } = process',
    "import { env } from 'node:process'",
  ]) {
    assert.equal(envViolations(from('sidecar/gateway.ts', text)).length, 1, text);
  }
  assert.deepEqual(
    envViolations(from('sidecar/shared/config/load.ts', "const env = {}; env['X']; process.exitCode = 1;")),
    [],
  );
});

it('the check of the architecture finds cycles, and names their files', () => {
  const cycle = [
    from('sidecar/shared/a.ts', "import { b } from './b.js';"),
    from('sidecar/shared/b.ts', "import type { C } from './c.js';"),
    from('sidecar/shared/c.ts', "import { a } from './a.js';"),
  ];
  assert.deepEqual(cyclesOf(cycle), [
    'sidecar/shared/a.ts → sidecar/shared/b.ts → sidecar/shared/c.ts → sidecar/shared/a.ts',
  ]);
  assert.deepEqual(cyclesOf(cycle.slice(0, 2)), []);
});

/** The packages that are loaded with a file, through all files that it imports. */
function packagesLoadedBy(path: string, sources: readonly Source[]): ReadonlySet<string> {
  const files = new Map(sources.map((source) => [source.path, source]));
  const packages = new Set<string>();
  const seen = new Set([path]);
  for (const file of seen)
    for (const { specifier, typeOnly } of files.get(file)?.imports ?? []) {
      if (typeOnly) continue;
      const target = targetOf(file, specifier);
      if (target !== undefined) seen.add(target);
      const name = packageOf(specifier);
      if (name !== undefined) packages.add(name);
    }
  return packages;
}

/** The files below a folder of the project, with their paths relative to the project. */
function filesBelow(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.map((name) => `${folder}/${name}`);
}

function assertNone(violations: readonly string[]): void {
  assert.equal(violations.length, 0, `\n${violations.join('\n')}\n`);
}

function isSidecar({ path }: Source): boolean {
  return path.startsWith('sidecar/');
}

/** Whether a file is in a folder of a plugin. The files next to these folders start Kong's plugin server. */
function isOfPlugin({ path }: Source): boolean {
  return /^kong-plugins\/[^/]+\//.test(path);
}

function roomViolations({ path, imports }: Source): readonly string[] {
  if (WIRING.has(path)) return [];
  const own = roomOf(path);
  const room = ROOMS[own];
  if (room === undefined) return [`${path} is in no room: add ${own} to the table of this test`];
  return imports.flatMap(({ specifier }) => {
    const target = targetOf(path, specifier);
    if (target === undefined) {
      const name = packageOf(specifier);
      return name === undefined || room.packages.includes(name)
        ? []
        : [`${path} imports ${name}: not a package of ${own}`];
    }
    const other = roomOf(target);
    if (other === own || room.rooms.includes(other) || room.onlyFor?.[path]?.includes(other) === true)
      return [];
    return [`${path} imports ${target}: ${own} may not import ${other}`];
  });
}

/** Files within the engine may also import its errors; files outside may also import the room that talks to the broker. */
function faceViolations({ path, imports }: Source): readonly string[] {
  const roomIn = (file: string) => /^sidecar\/purge\/([^/]+)\//.exec(file)?.[1];
  const isWithin = path.startsWith('sidecar/purge/');
  return imports.flatMap(({ specifier }) => {
    const target = targetOf(path, specifier);
    if (target?.startsWith('sidecar/purge/') !== true) return [];
    const room = roomIn(target);
    if (isWithin && (room === undefined || room === roomIn(path))) return [];
    const face =
      room !== undefined && (isWithin || room === 'broker') ? `${roomOfEngine(room)}/` : 'sidecar/purge/';
    return target === `${face}index.ts` ? [] : [`${path} imports ${target}: enter by ${face}index.ts`];
  });
}

function pluginViolations({ path, imports }: Source): readonly string[] {
  const folder = roomOf(path);
  return imports.flatMap(({ specifier, typeOnly }) => {
    const target = targetOf(path, specifier);
    const isOwn = target?.startsWith(`${folder}/`) === true;
    const isNodeType = typeOnly && specifier.startsWith('node:');
    return isOwn || isNodeType
      ? []
      : [`${path} imports ${specifier}: a Kong plugin is built from its own folder alone`];
  });
}

function ownerViolations({ path, imports }: Source): readonly string[] {
  return imports.flatMap(({ specifier }) => {
    const owner = PACKAGE_OWNERS[packageOf(specifier) ?? ''];
    return owner === undefined || owner.test(path)
      ? []
      : [`${path} imports ${specifier}: only ${owner.source} may`];
  });
}

/** Imports of the store by other rooms that bypass its two entries. */
function storeViolations({ path, imports }: Source): readonly string[] {
  if (path.startsWith('sidecar/store/')) return [];
  return imports.flatMap(({ specifier }) => {
    const target = targetOf(path, specifier);
    return target === undefined || !/^sidecar\/store\/(?!(?:index|databases)\.ts$)/.test(target)
      ? []
      : [`${path} imports ${target}: enter by sidecar/store/index.ts, or databases.ts`];
  });
}

function envViolations({ path, touchesEnv }: Source): readonly string[] {
  return touchesEnv && !ENV_OWNERS.includes(path)
    ? [`${path} reads process.env: only ${ENV_OWNERS.join(' and ')} may; pass values in`]
    : [];
}

/** One description for each cycle that a depth-first search finds. */
function cyclesOf(sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' → '));
    const source = byPath.get(path);
    if (start !== -1 || done.has(path) || source === undefined) return;
    for (const { specifier } of source.imports) {
      const target = targetOf(path, specifier);
      if (target !== undefined) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of byPath.keys()) visit(path, []);
  return cycles;
}

/**
 * The innermost folder of the table that contains a file; else the folder below sidecar/ or kong-plugins/, or the file itself.
 */
function roomOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  for (let depth = folders.length; depth > 1; depth -= 1) {
    const folder = folders.slice(0, depth).join('/');
    if (ROOMS[folder] !== undefined) return folder;
  }
  return path.split('/').slice(0, 2).join('/');
}
