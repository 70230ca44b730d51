import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../support/project.js';
import { mutantsOf, type Mutant } from './mutants.js';

/** A change, and the file that it applies to. */
export interface Candidate {
  readonly path: string;
  readonly text: string;
  readonly mutant: Mutant;
}

/** A change from a list: a text that occurs exactly once in a file, and its replacement. */
export interface WrittenChange {
  readonly path: string;
  readonly find: string;
  readonly replace: string;
}

/** Returns all changes that can be generated for these files. */
export async function generatedCandidates(paths: readonly string[]): Promise<Candidate[]> {
  const all: Candidate[] = [];
  for (const path of paths) {
    const text = await readFile(join(ROOT, path), 'utf8');
    all.push(...mutantsOf(text, path.endsWith('.tsx')).map((mutant) => ({ path, text, mutant })));
  }
  return all;
}

/**
 * Reads a list of changes: a JSON array of `{path, find, replace}`.
 * @throws if a text to find does not occur exactly once in its file
 */
export async function writtenCandidates(file: string): Promise<Candidate[]> {
  const changes = JSON.parse(await readFile(file, 'utf8')) as readonly WrittenChange[];
  return Promise.all(
    changes.map(async ({ path, find, replace }) => {
      const text = await readFile(join(ROOT, path), 'utf8');
      return { path, text, mutant: placeOf(path, text, find, replace) };
    }),
  );
}

function placeOf(path: string, text: string, find: string, replace: string): Mutant {
  const start = text.indexOf(find);
  if (find === '' || start === -1 || text.includes(find, start + 1))
    throw new Error(`${path} must hold exactly once: ${find}`);
  return { start, end: start + find.length, replacement: replace, kind: 'written' };
}
