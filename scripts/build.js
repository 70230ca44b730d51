/**
 * Builds everything into dist/: the sidecar file by file and the command line bundled (ESM), each Kong plugin as one CommonJS
 * file, the launcher of Kong's plugin server beside their folder, and the console.
 */
import { join } from 'node:path';
import { consoleFiles } from './console.js';
import { kongBuilds } from './kong.js';
import { filesBelow, loadEsbuild, putOutputs } from './outputs.js';

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

const sidecarSources = (await filesBelow(join(root, 'sidecar'))).filter((file) => file.endsWith('.ts'));
const sidecar = await build({
  ...common,
  entryPoints: sidecarSources,
  outdir: join(dist, 'sidecar'),
  outbase: join(root, 'sidecar'),
  format: 'esm',
  sourcemap: 'linked',
});

/** The command line with all it needs of this project, for the package: few files, and no maps. */
const cli = await build({
  ...common,
  // Side by side, for workers are looked for beside the module that starts them.
  entryPoints: {
    cli: join(root, 'sidecar', 'cli.ts'),
    worker: join(root, 'sidecar', 'schemas', 'worker.ts'),
  },
  outdir: dist,
  chunkNames: 'cli-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
});

const forKong = await Promise.all(
  kongBuilds(root, dist).map((options) => build({ ...options, write: false })),
);

await putOutputs(
  [
    ...(sidecar.outputFiles ?? []),
    ...(cli.outputFiles ?? []),
    ...forKong.flatMap(({ outputFiles }) => outputFiles),
    ...(await consoleFiles(build, root, dist)),
  ],
  dist,
);
