import { targetOf, type Source } from '../support/source-imports.js';

/**
 * The test files that load a file, nearest first: those of its own room (`test/unit/<room>` for `sidecar/<room>`), then by
 * the number of imports between, unit tests before others, then by name. What a file imports as types alone it does not
 * load.
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
  const room = `test/unit/${path.split('/')[1] ?? ''}/`;
  const rank = (file: string) => {
    const far = distances.get(file) ?? 0;
    return (file.startsWith(room) ? 0 : 1000) + 2 * far + (file.startsWith('test/unit/') ? 0 : 1);
  };
  return queue
    .filter((file) => file.endsWith('.test.ts'))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function importersOf(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    for (const { specifier, typeOnly } of imports) {
      const target = targetOf(path, specifier);
      if (target === undefined || typeOnly) continue;
      const known = importers.get(target);
      if (known === undefined) importers.set(target, [path]);
      else known.push(path);
    }
  }
  return importers;
}
