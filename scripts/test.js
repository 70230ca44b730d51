/**
 * Builds, and runs all tests with node:test, except those in test/long, which take minutes each. Types, lint rules and
 * formatting are checked at the same time. Arguments restrict the run to the tests in these paths, without build and checks:
 * npm test -- test/unit
 *
 * All TypeScript is first compiled file by file into .tests/, because compiling it in each of the many processes and worker
 * threads would take longer than the tests.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { filesBelow, loadEsbuild, putOutputs } from './outputs.js';

const { build } = await loadEsbuild();
const root = join(import.meta.dirname, '..');
const compiled = join(root, '.tests');
const isNarrowed = process.argv.length > 2;
const targets = isNarrowed ? process.argv.slice(2) : ['test/unit', 'test/integration'];
const isCovered = process.env['NODE_V8_COVERAGE'] !== undefined;
const isLong = targets.some((target) => target.startsWith('test/long'));

/** Whether dist/ was built. The build runs in parallel with the following code, up to the first test. */
const built = isNarrowed
  ? Promise.resolve(true)
  : ended(spawn(process.execPath, [join(import.meta.dirname, 'build.js')], { stdio: 'inherit' }));

/** Tests also wait: with one process more than there are cores, the cores were idle for an eighth of the time. */
const PROCESSES = availableParallelism() + 2;

/** The slowest files run first. The run then ends with short ones, so that no core is idle for long. */
const LONGEST = (
  'console-browser postgres-sidecars api-import gateway-build settings schema-store-contract-postgres gateway-start ' +
  'api-workbench-hostile purge-jobs gateway-postgres npm-start import-killed undo-kills cli-models ' +
  'json-schema-workers gateway-signals cli-broker undo-restore undo-temporal scans gateway-limits'
).split(' ');

const sources = (
  await Promise.all(
    ['sidecar', 'kong-plugins', 'console', 'test', 'bench'].map((name) => filesBelow(join(root, name))),
  )
).flat();
/** @type {import('esbuild').BuildOptions & { write: false }} */
const options = {
  absWorkingDir: root,
  outdir: compiled,
  outbase: root,
  platform: 'node',
  target: 'node22.19',
  format: 'esm',
  sourcemap: isNarrowed || isCovered ? 'linked' : false,
  sourcesContent: false,
  write: false,
  logLevel: 'warning',
};
const entryPoints = sources.filter((file) => /\.tsx?$/.test(file));
const { outputFiles } = await build({ ...options, entryPoints });
// Hundreds of workers start during the tests, and loading 150 files takes them longer than loading one.
const worker = [join(root, 'sidecar', 'schemas', 'worker.ts')];
const bundled = isCovered
  ? []
  : (await build({ ...options, entryPoints: worker, bundle: true, packages: 'external' })).outputFiles;
const bundledPaths = new Set(bundled.map(({ path }) => path));
await putOutputs([...outputFiles.filter(({ path }) => !bundledPaths.has(path)), ...bundled], compiled);

/** @param {string} target @returns {Promise<string[]>} */
async function testFiles(target) {
  const path = join(root, target);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    console.error(`There is no ${target} in this project.`);
    process.exit(2);
  }
  const files = found.isFile() ? [path] : await filesBelow(path);
  return files
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(compiled, relative(root, file)).replace(/\.ts$/, '.js'));
}

/**
 * Prepares processes that share the test files; see test-process.js.
 *
 * @param {readonly string[]} all compiled test files, those of whole gateways first
 * @returns {Promise<{ queue: string, files: string[] }>} the folder of the queue, and the files to run
 */
async function queued(all) {
  const queue = await mkdtemp(join(tmpdir(), 'test-queue-'));
  process.on('exit', () => rmSync(queue, { recursive: true, force: true }));
  const rank = (/** @type {string} */ file) => LONGEST.indexOf(basename(file, '.test.js')) >>> 0;
  const ordered = all.toSorted((one, other) => rank(one) - rank(other));
  await writeFile(join(queue, 'files.json'), JSON.stringify(ordered));
  await Promise.all(ordered.map(async (_file, index) => writeFile(join(queue, String(index)), '')));
  const program = JSON.stringify(join(import.meta.dirname, 'test-process.js'));
  const files = Array.from({ length: PROCESSES }, (_, index) => join(queue, `process-${index}.test.mjs`));
  await Promise.all(files.map(async (file) => writeFile(file, `import ${program};\n`)));
  return { queue, files };
}

const found = (await Promise.all(targets.map(testFiles))).flat().sort();
const isGrouped = found.length > 20;
const { queue, files } = isGrouped ? await queued(found) : { queue: undefined, files: found };
/** @type {NodeJS.ProcessEnv} */
const env = {
  ...process.env,
  NODE_ENV: 'test',
  // Many processes load the same modules. With this cache, coverage would not be exact.
  ...(isCovered ? {} : { NODE_COMPILE_CACHE: join(compiled, '.compiled-by-node') }),
  ...(isNarrowed ? {} : { TEST_IS_BUILT: 'yes' }),
  ...(isLong ? { TEST_THOROUGHLY: 'yes' } : {}),
  ...(queue === undefined ? {} : { TEST_QUEUE: queue }),
};
// Starts one server for all files that need it; a file that is run without this script starts its own.
if (!env.TEST_DATABASE_URL && found.filter((file) => /integration.*postgres/.test(file)).length > 1)
  env.TEST_DATABASE_URL = await startPostgres();

/** Starts a PostgreSQL server, which ends with this process. @returns {Promise<string>} its URL */
async function startPostgres() {
  const program = join(compiled, 'test', 'support', 'postgres-server.js');
  // Its standard input is a pipe that breaks when this process ends. It has its own process group, so that it survives Ctrl+C
  // and can clean up.
  const server = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  server.on('exit', (code) => {
    if (code) process.exit(code);
  });
  const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  return String(line.value);
}

if (!(await built)) process.exit(1);
const child = spawn(
  process.execPath,
  [
    // Source maps and promise hooks take a quarter of the time of many tests; a developer who looks for a fault runs few files.
    isGrouped
      ? `--import=${pathToFileURL(join(import.meta.dirname, 'without-promise-hooks.js')).href}`
      : '--enable-source-maps',
    // Tests create short-lived objects, as the checks do.
    '--max-semi-space-size=64',
    '--test',
    '--test-reporter=spec',
    // For a file, or for all files that a process takes: on a machine that is busy with other things.
    `--test-timeout=${isGrouped ? 10_800_000 : 1_800_000}`,
    `--test-concurrency=${PROCESSES}`,
    ...files,
  ],
  { cwd: root, stdio: 'inherit', env },
);
const tested = ended(child);
if (!isNarrowed) {
  // Tests wait more than they use the processor. If the checks find a fault, the tests are stopped, because the message would
  // otherwise be far up in their output.
  const isClean = await ended(
    spawn(process.execPath, [join(import.meta.dirname, 'check.js')], { cwd: root, stdio: 'inherit' }),
  );
  if (!isClean) {
    child.kill();
    await tested;
    console.error('The checks failed, and ended the tests: see npm run check.');
    process.exit(1);
  }
}
const isPassed = await tested;
if (queue !== undefined && !(await isEmptied(queue))) {
  console.error(
    `Some test files did not run: the folder with their queue, ${queue}, was removed or damaged.`,
  );
  process.exit(1);
}
process.exit(isPassed ? 0 : 1);

/** Whether all files of a queue were taken. @param {string} queue its folder */
async function isEmptied(queue) {
  const left = await readdir(queue).catch(() => undefined);
  return left?.includes('files.json') === true && !left.some((name) => /^\d+$/.test(name));
}

/** @param {import('node:child_process').ChildProcess} process @returns {Promise<boolean>} whether it ended well */
function ended(process) {
  return new Promise((resolve) => process.once('exit', (code) => resolve(code === 0)));
}
