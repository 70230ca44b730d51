/** Writes the output of esbuild to a folder, without disturbing programs that read from it at the same time. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Loads esbuild. Ends the process with advice if Node.js is too old, or packages are missing. */
export async function loadEsbuild() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 19)) {
    // Same check as in sidecar/shared/node-version.ts. npm scripts get here if npm was not allowed to run install scripts.
    console.error(
      `This needs Node.js 22.19 or newer, and runs on ${process.versions.node}. Install a supported version (22, 24 or 26), or run \`npm rebuild node --ignore-scripts=false\`: it installs one for npm scripts.`,
    );
    process.exit(2);
  }
  try {
    const esbuild = await import('esbuild');
    // Fails if its binary is missing, or is for another system.
    await esbuild.transform('');
    return esbuild;
  } catch {
    console.error(
      'esbuild cannot run: packages are missing, or were installed on another system. Run `npm ci --include=dev --include=optional`.',
    );
    process.exit(1);
  }
}

/** @param {string} folder @returns {Promise<string[]>} all files below the folder, absolute */
export async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Makes a folder contain exactly these files. It is safe to repeat this while another process runs from the folder: every
 * file is written elsewhere and renamed into place, unchanged files are not touched, and only files that are no longer built
 * are removed. Ends the process with advice if the folder cannot be written.
 *
 * @param {readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]} outputs
 * @param {string} folder absolute
 */
export async function putOutputs(outputs, folder) {
  try {
    await put(outputs, folder);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    console.error(
      `Cannot write ${folder} (${error.message}). Use a copy of the project that this user may write, on a disk with room.`,
    );
    process.exit(1);
  }
}

/** @param {readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]} outputs @param {string} folder */
async function put(outputs, folder) {
  for (const output of outputs) {
    const current = await readFile(output.path).catch(() => undefined);
    if (current?.equals(output.contents)) continue;
    await mkdir(dirname(output.path), { recursive: true });
    // Written outside the target folder, because a plugin server that is starting must never see a half-written plugin.
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
