/**
 * Builds, and runs all tests with node:test, but for those in test/long, which take minutes each. Types, rules and formatting
 * are checked meanwhile. Arguments narrow the run to the tests below these paths, without build and checks:
 * npm test -- test/unit
 *
 * All TypeScript is compiled first, file by file into .tests/: compiling it in each of the many processes and worker threads
 * takes longer than the tests.
 */
import { spawn, spawnSync } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { filesBelow, loadEsbuild, putOutputs } from './outputs.js';

const root = join(import.meta.dirname, '..');
const compiled = join(root, '.tests');
const isNarrowed = process.argv.length > 2;
const targets = isNarrowed ? process.argv.slice(2) : ['test/unit', 'test/integration'];
const isLong = targets.some((target) => target.startsWith('test/long'));

if (!isNarrowed) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'build.js')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

const GROUP_SIZE = 12;

const { build } = await loadEsbuild();
const sources = (
  await Promise.all(
    ['sidecar', 'kong-plugins', 'console', 'test', 'bench'].map((name) => filesBelow(join(root, name))),
  )
).flat();
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: sources.filter((file) => file.endsWith('.ts')),
  outdir: compiled,
  outbase: root,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  sourcemap: 'linked',
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

/**
 * Unit tests share processes, a dozen files each: to start one for each file takes longer than most of them.
 *
 * @param {readonly string[]} all compiled test files @returns {Promise<string[]>} the files to run
 */
async function inGroups(all) {
  const unit = all.filter((file) => file.startsWith(join(compiled, 'test', 'unit')));
  const groups = [];
  for (let from = 0; from < unit.length; from += GROUP_SIZE) {
    const text = unit
      .slice(from, from + GROUP_SIZE)
      .map((file) => `await import(${JSON.stringify(pathToFileURL(file))});\n`);
    const group = join(compiled, `unit-${String(from / GROUP_SIZE).padStart(2, '0')}.test.js`);
    await writeFile(group, text.join(''));
    groups.push(group);
  }
  return [...groups, ...all.filter((file) => !unit.includes(file))];
}

const found = (await Promise.all(targets.map(testFiles))).flat().sort();
const files = found.length > 2 * GROUP_SIZE ? await inGroups(found) : found;
/** @type {NodeJS.ProcessEnv} */
const env = {
  ...process.env,
  NODE_ENV: 'test',
  ...(isNarrowed ? {} : { TEST_IS_BUILT: 'yes' }),
  ...(isLong ? { TEST_THOROUGHLY: 'yes' } : {}),
};
// One server for all files that need one; a file that is run without this script starts one for itself.
if (!env.TEST_DATABASE_URL && found.filter((file) => file.includes('postgres')).length > 1)
  env.TEST_DATABASE_URL = await startPostgres();

/** Starts a PostgreSQL, which ends with this process. @returns {Promise<string>} its URL */
async function startPostgres() {
  const program = join(compiled, 'test', 'support', 'postgres-server.js');
  // Its standard input is a pipe that breaks when this process ends; out of its group, it survives Ctrl+C for tidying up.
  const server = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  server.on('exit', (code) => {
    if (code) process.exit(code);
  });
  const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  return String(line.value);
}

const child = spawn(
  process.execPath,
  [
    // They take a tenth of the time of all tests; who looks for a fault narrows the run.
    ...(isNarrowed ? ['--enable-source-maps'] : []),
    '--test',
    '--test-reporter=spec',
    `--test-timeout=${isLong ? 1_800_000 : 300_000}`,
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    ...files,
  ],
  { cwd: root, stdio: 'inherit', env },
);
const tested = ended(child);
if (!isNarrowed) {
  // Tests wait more than they work. A fault that the checks find ends them: it would be far up in what they print.
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
