import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { byPath } from '../../../../sidecar/schemas/repository/collector.js';
import { describeDocument } from '../../../../sidecar/schemas/repository/describe.js';
import { discover, type DiscoverOptions } from '../../../../sidecar/schemas/repository/discover.js';
import type { DescribedFile, ImportPlan } from '../../../../sidecar/schemas/repository/import-plan.js';

/** Documents by their paths; a string is a file that is not JSON. */
export type Files = Readonly<Record<string, unknown>>;

/** The plan of an import for the files of a repository. */
export function planOf(files: Files, options: DiscoverOptions = {}): ImportPlan {
  const described = Object.entries(files).flatMap(([path, content]): readonly DescribedFile[] => {
    if (typeof content === 'string') return [];
    const text = JSON.stringify(content);
    const description = describeDocument(text);
    assert.ok('facts' in description);
    return [{ path, sha256: hash('sha256', text), facts: description.facts }];
  });
  // In the order in which they are read: `10.json` before `2.json`.
  return discover(described.sort(byPath), options);
}

/** The files in a folder. */
export function within(folder: string, files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));
}
