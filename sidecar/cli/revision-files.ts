import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MAX_FILE_BYTES } from '../schemas/repository/collector.js';
import { isRelevantPath, isRead } from '../schemas/repository/file-paths.js';
import { packTarGz, type PackedFile } from '../schemas/repository/pack.js';
import { usage } from './exit-codes.js';
import { printable } from './format.js';

/** Maximum size of git's output, in bytes. */
const MAX_ANSWER = 512 * 1024 * 1024;

interface ListedFile {
  readonly id: string;
  readonly path: string;
}

/**
 * Returns the JSON files of a folder at a Git revision, as a tar.gz. Selects the same files as `readUpload`. `git archive`
 * would omit files that `.gitattributes` marks with `export-ignore`, so changed files would look new. The contents are those of
 * a checkout: filters, such as that of Git LFS, are applied according to the current `.gitattributes`.
 */
export async function filesAt(
  revision: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Uint8Array<ArrayBuffer>> {
  if (revision.startsWith('-')) throw usage(`${revision} is not a git revision.`);
  const name = basename(await realpath(folder));
  const env = environmentOf(environment);
  const git = (words: readonly string[], input = '') => answerOf(revision, { folder, env }, words, input);
  const tree = await git(['ls-tree', '-r', '-z', '--long', '--end-of-options', revision]);
  if (tree.length === 0) throw usage(`At ${revision}, there is nothing in ${folder}.`);
  const files = listedIn(tree);
  // Git attributes are looked up by the path from the root of the repository.
  const inside = (await git(['rev-parse', '--show-prefix'])).toString().replace(/\n$/, '');
  const wanted = files.map(({ id, path }) => `${id} ${inside}${path}\n`).join('');
  const mark = randomUUID();
  const contents = contentsIn(await git(['cat-file', '--filters', `--batch=${mark}`], wanted), mark);
  if (contents.length !== files.length)
    throw usage(`git does not have all contents of ${folder} at ${revision}.`);
  const packed = files.map(({ path }, index): PackedFile => {
    return { path: `${name}/${path}`, content: contents[index] ?? '' };
  });
  return new Uint8Array(await buffer(packTarGz(packed)));
}

/** Returns the environment for git in another folder than the current one. */
function environmentOf({ GIT_DIR, GIT_WORK_TREE, ...others }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // A hook has the GIT_DIR of its repository; git would take the folder for the top of its work tree.
  if (GIT_WORK_TREE === undefined) return others;
  // Both may be relative to the current folder, and a hook has `.` for the work tree.
  const tree = { ...others, GIT_WORK_TREE: resolve(GIT_WORK_TREE) };
  return GIT_DIR === undefined ? tree : { ...tree, GIT_DIR: resolve(GIT_DIR) };
}

/**
 * Lists the files that may belong to data models, without links, submodules, and paths with line breaks, which an import
 * refuses.
 */
function listedIn(tree: Buffer): readonly ListedFile[] {
  const entries = tree.toString().split('\0');
  return entries.flatMap((entry) => {
    const [, id = '', size = '', path = ''] =
      /^100\d{3} blob ([0-9a-f]+) +(\d+)\t([^\n]*)$/.exec(entry) ?? [];
    const isTaken = isRelevantPath(path) && isRead(basename(path)) && Number(size) <= MAX_FILE_BYTES;
    return isTaken ? [{ id, path }] : [];
  });
}

/**
 * Splits the output of `git cat-file --batch` into contents, in the order in which they were requested. Each one follows a line
 * with the mark. The size that git reports is no help, because it is the size before filters are applied.
 */
function contentsIn(answer: Buffer, mark: string): readonly Buffer[] {
  const contents: Buffer[] = [];
  const line = `${mark}\n`;
  for (let at = 0; answer.indexOf(line, at) === at;) {
    const begin = at + line.length;
    const next = answer.indexOf(`\n${line}`, begin);
    const end = next === -1 ? answer.length - 1 : next;
    contents.push(answer.subarray(begin, end));
    at = end + 1;
  }
  return contents;
}

function answerOf(
  revision: string,
  { folder, env }: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
  words: readonly string[],
  input: string,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { encoding: 'buffer', maxBuffer: MAX_ANSWER, env } as const;
    const child = execFile('git', ['-C', folder, ...words], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      const why = stderr.toString().trim() || error.message;
      const lines = why.split(/\s*\n\s*/).map(printable);
      reject(usage(`git cannot read ${revision} in ${folder}: ${lines.join('\n  ')}`, { cause: error }));
    });
    // If git fails, it does not read its input. The reason is reported above.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
