/** Builds the console with Vite, unless nothing that it is made from has changed since. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { filesBelow } from './outputs.js';

/** What the last build was made from, and its files; its name begins with a dot, so that it is left alone. */
const STAMP = '.console.json';

/**
 * The files of the console, to be put into dist/. None where its sources are not there: the image of Kong is built
 * without them.
 *
 * @param {string} root of the project, absolute
 * @param {string} dist absolute
 * @returns {Promise<readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]>}
 */
export async function consoleFiles(root, dist) {
  const folder = join(root, 'console');
  const sources = (await filesBelow(folder)).sort();
  if (sources.length === 0) return [];
  const shared = [...(await filesBelow(join(root, SHARED_FOLDER))).sort(), join(root, SCHEDULES)];
  const hash = await hashOf(root, [...sources, ...shared, ...madeBy(root)]);
  const stamp = join(dist, STAMP);
  const kept = await lastBuild(stamp, dist, hash);
  if (kept !== undefined) return kept;
  const made = await buildConsole(folder, join(dist, 'console'));
  const text = JSON.stringify({ hash, files: made.map(({ path }) => relative(dist, path)) });
  return [...made, { path: stamp, contents: Buffer.from(text) }];
}

/** What the console has in common with the sidecar: reading and writing JSON, and when schedules are due. */
const SHARED_FOLDER = 'sidecar/shared/json';
const SCHEDULES = 'sidecar/jobs/retention/cron.ts';

/** The packages of the editors. */
const EDITOR = ['autocomplete', 'commands', 'lang-json', 'language', 'lint', 'merge', 'state', 'view'].map(
  (name) => `@codemirror/${name}`,
);

/** What the output depends on besides the sources. @param {string} root */
function madeBy(root) {
  const packages = ['vite', 'preact', 'croner', ...EDITOR].map((name) =>
    join(root, 'node_modules', name, 'package.json'),
  );
  return [import.meta.filename, ...packages];
}

/** @param {string} root @param {readonly string[]} files */
async function hashOf(root, files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(await readFile(file))
      .update('\0');
  return hash.digest('hex');
}

/**
 * The files of the last build, if it was made from the same and they are all there.
 *
 * @param {string} stamp @param {string} dist @param {string} hash
 */
async function lastBuild(stamp, dist, hash) {
  try {
    const contents = await readFile(stamp);
    /** @type {unknown} */
    const text = JSON.parse(contents.toString());
    const last = /** @type {{ hash: string, files: string[] }} */ (text);
    if (last.hash !== hash) return undefined;
    const files = await Promise.all(
      last.files.map(async (name) => ({
        path: join(dist, name),
        contents: await readFile(join(dist, name)),
      })),
    );
    return [...files, { path: stamp, contents }];
  } catch {
    return undefined;
  }
}

/** @param {string} folder @param {string} outDir */
async function buildConsole(folder, outDir) {
  const { build } = await import('vite');
  const result = await build({
    root: folder,
    configFile: false,
    envDir: false,
    // Relative: the console may be below the path of a gateway in front.
    base: './',
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: false,
      write: false,
      target: 'es2022',
      // What is inlined as data: would be refused by the policy of the page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // What is bundled is passed on with its licences.
      license: { fileName: 'licenses.md' },
      // On a slow machine, it would advise users on how to write plugins.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  const { output } = /** @type {{ output: readonly import('vite').Rollup.OutputChunk[] }} */ (
    Array.isArray(result) ? result[0] : result
  );
  return (
    output
      .map((file) => ({
        path: join(outDir, file.fileName),
        contents: Buffer.from(
          'code' in file ? file.code : /** @type {{ source: string | Uint8Array }} */ (file).source,
        ),
      }))
      // The page comes last, so that the files that it names are there before it.
      .sort((a, b) => Number(a.path.endsWith('.html')) - Number(b.path.endsWith('.html')))
  );
}
