/**
 * Builds everything into dist/: the sidecar file by file (ESM), each Kong plugin as one CommonJS file.
 *
 * Safe to repeat while another process runs from dist/: every file is written aside and renamed into
 * place, files that did not change are not touched, and only files the build no longer makes are removed.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const { build } = await import('esbuild').catch(() => {
  console.error('The build needs the development dependencies: run `npm ci --include=dev` first.');
  process.exit(1);
});

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** @param {string} folder @returns {Promise<string[]>} all files below the folder, absolute */
async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  platform: 'node',
  target: 'node20.19',
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

const pluginFolders = (await readdir(join(root, 'kong-plugins'), { withFileTypes: true })).filter((entry) =>
  entry.isDirectory(),
);
const plugins = await build({
  ...common,
  // Kong's plugin server loads every file of its folder: one bundled file for each plugin, nothing beside it.
  entryPoints: pluginFolders.map((folder) => ({
    in: join(root, 'kong-plugins', folder.name, 'index.ts'),
    out: folder.name,
  })),
  outdir: join(dist, 'kong-plugins'),
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
});

const outputs = [...(sidecar.outputFiles ?? []), ...(plugins.outputFiles ?? [])];
for (const output of outputs) {
  const current = await readFile(output.path).catch(() => undefined);
  if (current?.equals(output.contents)) continue;
  await mkdir(dirname(output.path), { recursive: true });
  // Written outside the target folder: a plugin server starting now must never see a half-written plugin.
  const aside = join(
    dist,
    `.${String(process.pid)}-${relative(dist, output.path).replaceAll(/[\\/]/g, '-')}`,
  );
  await writeFile(aside, output.contents);
  await rename(aside, output.path);
}

const made = new Set(outputs.map((output) => output.path));
for (const file of await filesBelow(dist)) {
  if (!made.has(file) && !relative(dist, file).startsWith('.')) await rm(file, { force: true });
}
