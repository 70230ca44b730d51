/**
 * Builds, and runs all tests with node:test, except those in test/long, which take minutes each. Types, lint rules and
 * formatting are checked at the same time. Arguments restrict the run to the tests in these paths, without build and checks:
 * npm test -- test/unit
 *
 * All TypeScript is first compiled file by file into .tests/, because compiling it in each of the many processes and worker
 * threads would take longer than the tests.
 */
import { spawn } from 'node:child_process';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
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

/** Number of processes that share the test files. Each costs two seconds of processor time to start and to warm up. */
const GROUPS = { unit: 3, others: 7 };

/**
 * The slowest files, each in a different group. The run then ends with groups of short ones, so that no core is idle for long.
 */
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
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: sources.filter((file) => /\.tsx?$/.test(file)),
  outdir: compiled,
  outbase: root,
  platform: 'node',
  target: 'node22.19',
  format: 'esm',
  sourcemap: isNarrowed || isCovered ? 'linked' : false,
  sourcesContent: false,
  write: false,
  logLevel: 'warning',
});
await putOutputs(outputFiles, compiled);

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

/** Resources that files share, such as workers, are closed after the last file; see test/support/shared-by-files.ts. */
const GROUP_START = `import { createRequire } from 'node:module';
import { after, describe } from 'node:test';
const load = createRequire(import.meta.url);
globalThis.closedAfterLastFile = [];
after(async () => {
  for (const close of globalThis.closedAfterLastFile) await close();
});
`;

/**
 * Returns a suite with everything in a file, which is loaded at once so that its hooks belong to the suite.
 *
 * @param {string} file compiled
 */
function suiteOf(file) {
  const title = relative(compiled, file).replace(/\.js$/, '.ts');
  return `describe(${JSON.stringify(title)}, () => void load(${JSON.stringify(file)}));\n`;
}

/**
 * Puts test files into groups that share a process, because starting a process for each file and loading the gateway there
 * takes longer than most tests. Tests of whole gateways come first.
 *
 * @param {readonly string[]} all compiled test files @returns {Promise<string[]>} the files to run
 */
async function inGroups(all) {
  const isUnit = (/** @type {string} */ file) => file.startsWith(join(compiled, 'test', 'unit'));
  const groups = [
    ...dealt(longestFirst(all.filter((file) => !isUnit(file))), GROUPS.others),
    ...dealt(all.filter(isUnit), GROUPS.unit),
  ].filter((members) => members.length > 0);
  // A restricted run that starts in the meantime leaves names with a leading dot alone.
  const groupFolder = join(compiled, '.groups');
  await mkdir(groupFolder, { recursive: true });
  return Promise.all(
    groups.map(async (members, index) => {
      const group = join(groupFolder, `group-${String(index).padStart(2, '0')}.test.js`);
      await writeFile(group, GROUP_START + members.map(suiteOf).join(''));
      return group;
    }),
  );
}

/** @param {readonly string[]} files @returns {string[]} */
function longestFirst(files) {
  const rank = (/** @type {string} */ file) => LONGEST.indexOf(basename(file, '.test.js')) >>> 0;
  return files.toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Deals items to groups in turn: neighbours in the alphabet test similar things and take equally long, so they are separated.
 *
 * @param {readonly string[]} items @param {number} count of groups @returns {string[][]}
 */
function dealt(items, count) {
  return Array.from({ length: count }, (_, group) => items.filter((_item, index) => index % count === group));
}

const found = (await Promise.all(targets.map(testFiles))).flat().sort();
const isGrouped = found.length > 2 * (GROUPS.unit + GROUPS.others);
const files = isGrouped ? await inGroups(found) : found;
/** @type {NodeJS.ProcessEnv} */
const env = {
  ...process.env,
  NODE_ENV: 'test',
  // Many processes load the same modules. With this cache, coverage would not be exact.
  ...(isCovered ? {} : { NODE_COMPILE_CACHE: join(compiled, '.compiled-by-node') }),
  ...(isNarrowed ? {} : { TEST_IS_BUILT: 'yes' }),
  ...(isLong ? { TEST_THOROUGHLY: 'yes' } : {}),
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
    // For a file, or for all files that share a process: half an hour, for a machine that is busy with other things.
    '--test-timeout=1800000',
    // Tests also wait: with one process more than there are cores, the cores were idle for an eighth of the time.
    `--test-concurrency=${availableParallelism() + 2}`,
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
process.exit((await tested) ? 0 : 1);

/** @param {import('node:child_process').ChildProcess} process @returns {Promise<boolean>} whether it ended well */
function ended(process) {
  return new Promise((resolve) => process.once('exit', (code) => resolve(code === 0)));
}
