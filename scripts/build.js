/**
 * Builds everything into dist/: the sidecar, the command line and their worker (ESM), each Kong plugin as one CommonJS file,
 * the launcher of Kong's plugin server next to the folder of the plugins, and the console.
 */
import { basename, join } from 'node:path';
import { consoleFiles } from './console.js';
import { kongBuilds } from './kong.js';
import { loadEsbuild, putOutputs } from './outputs.js';

const { build } = await loadEsbuild();
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  platform: 'node',
  target: 'node22.19',
  write: false,
  logLevel: 'warning',
};

/**
 * Bundles a program and its worker into a few files; with hundreds of files, starting takes a fifth longer. The files are in one
 * folder, because a worker is looked up next to the module that starts it.
 *
 * @param {string} name of the program, and of its other files @param {string} outdir @param {boolean} sourcemap
 */
async function program(name, outdir, sourcemap) {
  const { outputFiles = [] } = await build({
    ...common,
    entryPoints: {
      [name]: join(root, 'sidecar', `${name}.ts`),
      worker: join(root, 'sidecar', 'schemas', 'worker.ts'),
    },
    outdir,
    chunkNames: `${name}-[hash]`,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    sourcemap: sourcemap && 'linked',
  });
  // A worker may be starting in the meantime, so files that the entries import are written before the entries.
  const isEntry = (/** @type {string} */ path) => !basename(path).startsWith(`${name}-`);
  return outputFiles.toSorted((one, other) => Number(isEntry(one.path)) - Number(isEntry(other.path)));
}

const sidecar = await program('main', join(dist, 'sidecar'), true);
/** For the package, without source maps. */
const cli = await program('cli', dist, false);

const forKong = await Promise.all(
  kongBuilds(root, dist).map((options) => build({ ...options, write: false })),
);

await putOutputs(
  [
    ...sidecar,
    ...cli,
    ...forKong.flatMap(({ outputFiles }) => outputFiles),
    ...(await consoleFiles(build, root, dist)),
  ],
  dist,
);
