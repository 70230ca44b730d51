/** Builds the console. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** The files that the page refers to. The name of each gets a hash of its content, so that it can be cached for ever. */
const ENTRIES = ['main.tsx', 'styles/index.css', 'favicon.svg'];

/**
 * Returns the files of the console for dist/. There are none if its sources are missing, because the image of Kong is built
 * without them.
 *
 * @param {typeof import('esbuild').build} build
 * @param {string} root of the project, absolute
 * @param {string} dist absolute
 * @returns {Promise<readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]>}
 */
export async function consoleFiles(build, root, dist) {
  const folder = join(root, 'console');
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => undefined);
  if (page === undefined) return [];
  const outdir = join(dist, 'console');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((name) => join(folder, name)),
    outdir,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    bundle: true,
    // Sections and editors are loaded when they are first needed.
    splitting: true,
    format: 'esm',
    minify: true,
    // The first ones with JSON.rawJSON, which writes exact numbers.
    target: ['es2022', 'chrome114', 'firefox135', 'safari18.4'],
    charset: 'utf8',
    loader: { '.svg': 'copy' },
    tsconfig: join(folder, 'tsconfig.json'),
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  return withPacked([
    ...outputFiles,
    { path: join(outdir, 'licenses.md'), contents: Buffer.from(await licensesOf(root, metafile)) },
    // The page comes last, so that the files it refers to already exist.
    {
      path: join(outdir, 'index.html'),
      contents: Buffer.from(pageOf(page, relative(root, outdir), metafile)),
    },
  ]);
}

/** How files are also stored in compressed form, for browsers that accept it. */
const PACKINGS = { '.br': brotliCompressSync, '.gz': gzipSync };

/**
 * Adds the compressed forms of files, each before its file. Unchanged files are not compressed again, because this takes seconds.
 *
 * @param {readonly Pick<import('esbuild').OutputFile, 'path' | 'contents'>[]} files
 */
async function withPacked(files) {
  const all = await Promise.all(
    files.map(async (file) => {
      const isBuilt = await readFile(file.path).then(
        (before) => before.equals(file.contents),
        () => false,
      );
      const packed = Object.entries(PACKINGS).map(async ([ending, pack]) => {
        const path = file.path + ending;
        const before = isBuilt ? await readFile(path).catch(() => undefined) : undefined;
        return { path, contents: before ?? pack(file.contents) };
      });
      return [...(await Promise.all(packed)), file];
    }),
  );
  return all.flat();
}

/**
 * Returns the page with the names of built files instead of source files. The names are relative, because the console may be
 * below the path of a gateway in front.
 *
 * @param {string} source @param {string} outdir relative @param {import('esbuild').Metafile} metafile
 */
function pageOf(source, outdir, { outputs }) {
  return ENTRIES.reduce((page, name) => {
    const [path] =
      Object.entries(outputs).find(
        ([, { entryPoint, inputs }]) => (entryPoint ?? Object.keys(inputs)[0]) === `console/${name}`,
      ) ?? [];
    if (path === undefined || !page.includes(`./${name}`)) throw new Error(`console/${name} was not built.`);
    const parts = importedBy(path, outputs).map(
      (part) => `<link rel="modulepreload" href="./${relative(outdir, part)}" />\n    `,
    );
    return page
      .replace(`./${name}`, `./${relative(outdir, path)}`)
      .replace('<script type="module"', `${parts.join('')}<script type="module"`);
  }, source);
}

/**
 * Returns all files that a script imports before it runs, so that the page can request them at once.
 *
 * @param {string} path @param {import('esbuild').Metafile['outputs']} outputs @returns {string[]}
 */
function importedBy(path, outputs) {
  /** @type {Set<string>} */
  const found = new Set();
  /** @param {string} one */
  const follow = (one) => {
    for (const { path: part, kind } of outputs[one]?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(part)) continue;
      found.add(part);
      follow(part);
    }
  };
  follow(path);
  return [...found];
}

/** Collects the licences of the bundled packages. @param {string} root @param {import('esbuild').Metafile} metafile */
async function licensesOf(root, { inputs }) {
  const names = Object.keys(inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  const texts = [...new Set(names)].sort().map(async (name) => {
    const folder = join(root, 'node_modules', name);
    /** @type {unknown} */
    const description = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const { version, license } = /** @type {{ version: string, license: string }} */ (description);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? '' : `\n${await readFile(join(folder, file), 'utf8')}`;
    return `## ${name} ${version} (${license})\n${text}`;
  });
  return ['# Licenses of the packages in the console\n', ...(await Promise.all(texts))].join('\n');
}
