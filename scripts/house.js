/**
 * Measures the sources in sidecar/ and kong-plugins/: `npm run house -- [REV …]` prints a column for each git revision, or one
 * for the work tree. Each revision is also compiled file by file and started, with the currently installed packages, to count
 * the files and functions that a purge, a validation and other requests run, from the request to its answer.
 */
import { execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { filesBelow, loadEsbuild } from './outputs.js';

const { build } = await loadEsbuild();

const root = join(import.meta.dirname, '..');

/** @typedef {Record<string, number | string>} Figures */

/** Files in front of the engine and of the validator, and files that keep records. */
const FRONT = /\/sidecar\/(?:[^/]+|(?:http|jobs|metrics|store|schemas\/store)\/.*)$/;

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { id: { type: 'string' }, type: { const: 'Vehicle' }, speed: { type: 'number', maximum: 300 } },
};
const RETENTION_POLICY = {
  name: 'house',
  target: 'entities',
  query: 'type=Vehicle',
  olderThan: 'P1D',
  by: 'speed.observedAt',
  schedule: '0 3 * * *',
  mode: 'enforce',
};
const ENTITY = { id: 'urn:ngsi-ld:Vehicle:1', type: 'Vehicle', speed: 500 };

const revisions = process.argv.slice(2);
const unknown = revisions.find((name) => name.startsWith('-') || !isRevision(name));
if (unknown !== undefined) {
  console.error(`Usage: npm run house -- [REV …], where REV is a git revision; ${unknown} is none.`);
  process.exit(2);
}
/** @type {[string, Figures][]} */
const columns = [];
for (const revision of revisions) columns.push([revision, await measureRevision(revision)]);
if (revisions.length === 0) columns.push(['work tree', await measure(root)]);
print(columns);

/** @param {string} name */
function isRevision(name) {
  return spawnSync('git', ['rev-parse', '--quiet', '--verify', `${name}^{tree}`], { cwd: root }).status === 0;
}

/** @param {string} revision @returns {Promise<Figures>} */
async function measureRevision(revision) {
  const folder = await mkdtemp(join(tmpdir(), 'house-'));
  try {
    const archive = execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1 << 28 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return await measure(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @returns {Promise<Figures>} */
async function measure(folder) {
  const requests = await measureRequests(folder).catch((/** @type {unknown} */ error) => {
    console.error('The requests could not be measured:', error);
    return {};
  });
  return { ...(await measureSources(folder)), ...requests };
}

/** @param {string} folder @returns {Promise<Figures>} */
async function measureSources(folder) {
  const paths = (await Promise.all(['sidecar', 'kong-plugins'].map((name) => filesBelow(join(folder, name)))))
    .flat()
    // The types of the API are generated.
    .filter((path) => path.endsWith('.ts') && !path.endsWith('/client/types.ts'));
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  const lines = texts.map((text) => text.split('\n').length - 1).sort((a, b) => a - b);

  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  const arrows = new Set();
  let crossings = 0;
  paths.forEach((path, index) => {
    for (const target of importsOf(path, texts[index] ?? '')) {
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
      const [from, to] = [roomOf(relative(folder, path)), roomOf(relative(folder, target))];
      if (from === to || from === undefined || to === undefined) continue;
      arrows.add(`${from} ${to}`);
      crossings += 1;
    }
  });
  const rooms = (await readdir(join(folder, 'sidecar'), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  );
  return {
    files: paths.length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    'median of lines': lines[Math.floor(lines.length / 2)] ?? 0,
    'files of at most 30 lines': lines.filter((count) => count <= 30).length,
    'files of at most 50 lines': lines.filter((count) => count <= 50).length,
    'files with one importer': [...importers.values()].filter(({ size }) => size === 1).length,
    'rooms at the first level': rooms.length,
    'pairs of rooms of which one imports the other': arrows.size,
    'imports between rooms': crossings,
  };
}

/** Returns the project's files that a file imports, including type imports. @param {string} path @param {string} text */
function importsOf(path, text) {
  const found = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const own = found.filter((name) => name.startsWith('.'));
  return new Set(own.map((name) => posix.join(dirname(path), name).replace(/\.js$/, '.ts')));
}

/**
 * Returns the room at the first level; undefined for files directly in sidecar/, which wire the rooms.
 *
 * @param {string} path from the root
 */
function roomOf(path) {
  const [component, room, ...rest] = path.split('/');
  return rest.length === 0 ? undefined : `${component} ${room}`;
}

/** @param {string} folder @returns {Promise<Figures>} */
async function measureRequests(folder) {
  const compiled = join(folder, '.tests', '.house');
  await build({
    absWorkingDir: folder,
    outbase: folder,
    outdir: compiled,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    entryPoints: (await filesBelow(join(folder, 'sidecar'))).filter((file) => file.endsWith('.ts')),
  });
  const coverage = await mkdtemp(join(tmpdir(), 'house-coverage-'));
  const broker = await startBroker();
  const child = fork(join(compiled, 'sidecar', 'main.js'), {
    cwd: coverage,
    execArgv: ['--import', join(import.meta.dirname, 'house-recorder.js')],
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
      BROKER_URL: broker.url,
      DATABASE_PATH: ':memory:',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const printed = await once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data');
    const url = /http:\/\/[\d.]+:\d+/.exec(String(printed[0]))?.[0] ?? '';

    /**
     * Sends a request, and counts what runs from then on.
     *
     * @param {string} path @param {RequestInit} request
     * @param {() => boolean} isDone whether the work that it started has ended
     */
    const run = async (path, request, isDone = () => true) => {
      await written(child);
      for (const name of await readdir(coverage)) await rm(join(coverage, name));
      const response = await fetch(`${url}${path}`, request);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      await response.text();
      while (!isDone()) await sleep(20);
      await written(child);
      return ranIn(coverage, compiled);
    };
    const json = (/** @type {unknown} */ body) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await run('/api/v2/domains', json({ name: 'house' }));
    await run('/api/v2/domains/house/models', json({ name: 'Vehicle', schema: SCHEMA }));
    const read = await run('/api/v2/domains/house/models/Vehicle', {});
    const purge = await run('/ngsi-ld/v1/entities?type=Vehicle&q=speed%3E100', { method: 'DELETE' });
    // The first entity compiles the model.
    await run('/api/v2/validate/house/Vehicle', json(ENTITY));
    const validation = await run('/api/v2/validate/house/Vehicle', json(ENTITY));
    const properties = { ...SCHEMA.properties, speed: { type: 'number', maximum: 200 } };
    const version = { ...json({ schema: { ...SCHEMA, properties } }), method: 'PUT' };
    const put = await run('/api/v2/domains/house/models/Vehicle', version);
    const retention = await runRetention(run, json, broker);
    return {
      'a purge runs, in files': purge.files.length,
      'of these in the engine and below': purge.files.filter((file) => !FRONT.test(file)).length,
      'a purge runs, in functions': purge.functions,
      'a wrong number runs, in files': validation.files.length,
      'of these in the schema rooms and below': validation.files.filter((file) => !FRONT.test(file)).length,
      'a wrong number runs, in functions': validation.functions,
      'a GET of a model runs, in files': read.files.length,
      'a GET of a model runs, in functions': read.functions,
      'a PUT of a version runs, in files': put.files.length,
      'a retention run runs, in files': retention.files.length,
    };
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    broker.close();
    await rm(coverage, { recursive: true, force: true });
  }
}

/**
 * Runs a retention policy that deletes, from the request to the end of its purge.
 *
 * @param {(path: string, request: RequestInit, isDone?: () => boolean) => ReturnType<typeof ranIn>} run
 * @param {(body: unknown) => RequestInit} json
 * @param {Awaited<ReturnType<typeof startBroker>>} broker
 */
async function runRetention(run, json, broker) {
  await run('/api/v2/retention-policies', json(RETENTION_POLICY));
  broker.refill();
  return run(`/api/v2/retention-policies/${RETENTION_POLICY.name}/run`, { method: 'POST' }, broker.isEmpty);
}

/** Starts a broker with three entities, which match all queries except probes of a filter. */
async function startBroker() {
  const all = [1, 2, 3].map((n) => ({ id: `urn:ngsi-ld:Vehicle:${n}`, type: 'Vehicle' }));
  let entities = all;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') {
        entities = [];
        response.writeHead(204).end();
        return;
      }
      const { searchParams } = new URL(request.url ?? '', 'http://broker');
      const isProbe = [...searchParams.values()].some((value) => value.includes('PurgeProbe'));
      const listed = isProbe ? [] : entities.slice(Number(searchParams.get('offset') ?? 0));
      response.writeHead(200, {
        'content-type': 'application/json',
        'ngsild-results-count': String(isProbe ? 0 : entities.length),
      });
      response.end(JSON.stringify(listed));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    refill: () => void (entities = all),
    isEmpty: () => entities.length === 0,
    close: () => server.close(),
  };
}

/** Makes the gateway write its coverage. @param {import('node:child_process').ChildProcess} child */
async function written(child) {
  // Workers write their coverage a moment after their answer.
  await sleep(500);
  child.send('write');
  await once(child, 'message');
}

/**
 * Returns the project's files and functions that ran. The top-level code of a module does not count.
 *
 * @param {string} coverage folder with what V8 wrote @param {string} compiled
 */
async function ranIn(coverage, compiled) {
  /** @type {Set<string>} */
  const files = new Set();
  const functions = new Set();
  for (const name of await readdir(coverage)) {
    /** @type {unknown} */
    const written = JSON.parse(await readFile(join(coverage, name), 'utf8'));
    const { result } = /** @type {import('node:inspector').Profiler.TakePreciseCoverageReturnType} */ (
      written
    );
    for (const { url, functions: seen } of result) {
      if (!url.startsWith('file:') || !fileURLToPath(url).startsWith(compiled)) continue;
      for (const { ranges } of seen) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0 || whole.startOffset === 0) continue;
        files.add(url);
        functions.add(`${url} ${whole.startOffset}`);
      }
    }
  }
  return { files: [...files], functions: functions.size };
}

/** @param {readonly [string, Figures][]} columns */
function print(columns) {
  const names = Object.keys(columns[0]?.[1] ?? {});
  const row = (/** @type {string} */ name, /** @type {readonly (string | number)[]} */ cells) =>
    console.log(`${name.padEnd(48)}${cells.map((cell) => String(cell).padStart(12)).join('')}`);
  row(
    '',
    columns.map(([title]) => title),
  );
  for (const name of names) {
    row(
      name,
      columns.map(([, figures]) => figures[name] ?? '–'),
    );
  }
}
