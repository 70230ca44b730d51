/** Puts what esbuild made into a folder, without disturbing who reads from it meanwhile. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** esbuild, or an end with advice where it is not installed. */
export async function loadEsbuild() {
  return import('esbuild').catch(() => {
    console.error('The build needs the development dependencies: run `npm ci --include=dev` first.');
    process.exit(1);
  });
}

/** @param {string} folder @returns {Promise<string[]>} all files below the folder, absolute */
export async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Makes a folder hold exactly these files. Safe to repeat while another process runs from the folder: every file is
 * written aside and renamed into place, files that did not change are not touched, and only files that are no longer
 * made are removed.
 *
 * @param {readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]} outputs
 * @param {string} folder absolute
 */
export async function putOutputs(outputs, folder) {
  for (const output of outputs) {
    const current = await readFile(output.path).catch(() => undefined);
    if (current?.equals(output.contents)) continue;
    await mkdir(dirname(output.path), { recursive: true });
    // Written outside the target folder: a plugin server starting now must never see a half-written plugin.
    const name = relative(folder, output.path).replaceAll(/[\\/]/g, '-');
    const aside = join(folder, `.${String(process.pid)}-${name}`);
    await writeFile(aside, output.contents);
    await rename(aside, output.path);
  }
  const made = new Set(outputs.map((output) => output.path));
  for (const file of await filesBelow(folder)) {
    if (!made.has(file) && !relative(folder, file).startsWith('.')) await rm(file, { force: true });
  }
}
