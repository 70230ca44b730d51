import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MAX_FILE_BYTES } from '../schemas/repository/collector.js';
import { isOfInterest, isRead } from '../schemas/repository/file-paths.js';
import { packTarGz, type PackedFile } from '../schemas/repository/pack.js';
import { usage } from './exit-codes.js';
import { printable } from './format.js';

/** Bytes that git answers with. */
const MAX_ANSWER = 512 * 1024 * 1024;

/** A file of a revision. */
interface ListedFile {
  readonly id: string;
  readonly path: string;
}

/**
 * The JSON files of a folder as they were at a revision of git, as a tar.gz. They are those that `readUpload` takes of a folder:
 * `git archive` would leave out what `.gitattributes` marks with `export-ignore`, and what has changed there would look new.
 *
 * @throws CliError
 */
export async function filesAt(revision: string, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  if (revision.startsWith('-')) throw usage(`${revision} is not a git revision.`);
  const name = basename(await realpath(folder));
  const git = (words: readonly string[], input = '') => answerOf(revision, folder, words, input);
  const tree = await git(['ls-tree', '-r', '-z', '--long', '--end-of-options', revision]);
  if (tree.length === 0) throw usage(`At ${revision}, there is nothing in ${folder}.`);
  const files = listedIn(tree);
  const contents = contentsIn(await git(['cat-file', '--batch'], files.map(({ id }) => `${id}\n`).join('')));
  const packed = files.map(({ path }, index): PackedFile => {
    const content = contents[index];
    if (content === undefined) throw usage(`git has no content of ${path} at ${revision}.`);
    return { path: `${name}/${path}`, content };
  });
  return new Uint8Array(await buffer(packTarGz(packed)));
}

/** The files that may be of data models; no links and submodules. */
function listedIn(tree: Buffer): readonly ListedFile[] {
  const entries = tree.toString().split('\0');
  return entries.flatMap((entry) => {
    const [, id = '', size = '', path = ''] = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(entry) ?? [];
    const isTaken = isOfInterest(path) && isRead(basename(path)) && Number(size) <= MAX_FILE_BYTES;
    return isTaken ? [{ id, path }] : [];
  });
}

/** The contents in the answer of `git cat-file --batch`, in the order in which they were asked for. */
function contentsIn(answer: Buffer): readonly Buffer[] {
  const contents: Buffer[] = [];
  for (let at = 0; at < answer.length;) {
    const end = answer.indexOf('\n', at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(answer.toString('latin1', at, end)) ?? [];
    // Something else is the last that is read.
    if (size === undefined) break;
    const begin = end + 1;
    contents.push(answer.subarray(begin, begin + Number(size)));
    at = begin + Number(size) + 1;
  }
  return contents;
}

function answerOf(
  revision: string,
  folder: string,
  words: readonly string[],
  input: string,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { encoding: 'buffer', maxBuffer: MAX_ANSWER } as const;
    const child = execFile('git', ['-C', folder, ...words], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      const why = stderr.toString().trim() || error.message;
      reject(usage(`git cannot read ${revision} in ${folder}: ${printable(why)}`, { cause: error }));
    });
    // A git that fails does not read it; the reason is told above.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
