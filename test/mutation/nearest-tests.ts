import { posix } from 'node:path';
import { targetOf, type Source } from '../support/source-imports.js';

const COMMON: ReadonlySet<string> = new Set(['sidecar', 'test', 'unit', 'integration']);

/**
 * Returns the test files that load a file, nearest first. Near means few imports between them and
 * many common words in the paths, since a test in the same folder or with the same name is more
 * relevant than one that reaches the file through shared helpers. Unit tests come first. Tests in
 * test/long are omitted because they take minutes. Type-only imports do not count.
 */
export function nearestTests(path: string, sources: readonly Source[]): readonly string[] {
  const importers = importersOf(sources);
  const distances = new Map([[path, 0]]);
  const queue = [path];
  for (const file of queue) {
    const next = (distances.get(file) ?? 0) + 1;
    for (const importer of importers.get(file) ?? []) {
      if (distances.has(importer)) continue;
      distances.set(importer, next);
      queue.push(importer);
    }
  }
  const folders = wordsOf(posix.dirname(path));
  const names = wordsOf(posix.basename(path));
  const rank = (test: string) => {
    const words = wordsOf(test);
    const shared = (others: ReadonlySet<string>) => [...others].filter((word) => words.has(word)).length;
    const far = 4 * (distances.get(test) ?? 0) + (test.startsWith('test/unit/') ? 0 : 2);
    return far - 5 * shared(folders) - 8 * shared(names);
  };
  return queue
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('test/long/'))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** The words of a path, in the singular, without words that every path has. */
function wordsOf(path: string): Set<string> {
  const words = path.replace(/(?:\.test)?\.tsx?$/, '').split(/[/.-]/);
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/s$/, '')));
}

function importersOf(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  const paths = new Set(sources.map(({ path }) => path));
  for (const { path, imports } of sources) {
    for (const { specifier, typeOnly } of imports) {
      const named = targetOf(path, specifier);
      if (named === undefined || typeOnly) continue;
      const target = paths.has(named) ? named : named.replace(/\.ts$/, '.tsx');
      const known = importers.get(target);
      if (known === undefined) importers.set(target, [path]);
      else known.push(path);
    }
  }
  return importers;
}
