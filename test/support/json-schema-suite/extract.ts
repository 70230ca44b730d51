/**
 * Writes the cases of the official JSON Schema Test Suite that the tests use; its argument is a
 * checkout of the suite.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { JsonValue, Schema } from '../../../sidecar/shared/json/json.js';
import { type Dialect, DIALECT_URIS } from '../../../sidecar/schemas/json-schema/keywords.js';

interface Group {
  readonly schema: Schema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

const FOLDERS = {
  'draft-07': 'draft7',
  '2019-09': 'draft2019-09',
  '2020-12': 'draft2020-12',
} as const satisfies Partial<Record<Dialect, string>>;

/** Formats that this project does not check, because they need the tables of IDNA. */
const UNCHECKED = /^optional\/format\/idn-/;

const [checkout = ''] = process.argv.slice(2);
const cases = new Map<string, { readonly drafts: (keyof typeof FOLDERS)[]; readonly name: string }>();
for (const dialect of Object.keys(FOLDERS) as (keyof typeof FOLDERS)[]) {
  const folder = join(checkout, 'tests', FOLDERS[dialect]);
  for (const file of await jsonFiles(folder)) {
    if (UNCHECKED.test(file) || (file.startsWith('optional/') && !file.startsWith('optional/format/')))
      continue;
    const groups = JSON.parse(await readFile(join(folder, file), 'utf8')) as readonly Group[];
    for (const [index, { schema, tests }] of groups.entries()) {
      // The second group of host names is about A-labels.
      if (file === 'optional/format/hostname.json' && index > 0) continue;
      const kept = tests.filter(({ description }) => !description.includes('only an annotation by default'));
      const written = JSON.stringify([
        withoutDraft(schema, dialect),
        kept.map(({ data, valid }) => [data, valid]),
      ]);
      const known = cases.get(written) ?? {
        drafts: [],
        name: `${FOLDERS[dialect]}/${file.replace(/\.json$/, '')} ${index}`,
      };
      cases.set(written, known);
      known.drafts.push(dialect);
    }
  }
}
const documents: string[] = [];
for (const file of await jsonFiles(join(checkout, 'remotes'))) {
  if (/^(?:draft[346]|v1)\//.test(file)) continue;
  const text = await readFile(join(checkout, 'remotes', file), 'utf8');
  documents.push(JSON.stringify([`http://localhost:1234/${file}`, JSON.parse(text)]));
}
await write(
  'cases.jsonl',
  [...cases].map(
    ([written, { drafts, name }]) => `[${JSON.stringify(name)},${JSON.stringify(drafts)},${written.slice(1)}`,
  ),
);
await write('documents.jsonl', documents);

/** The `$schema` of the case's own draft is omitted. */
function withoutDraft(schema: Schema, dialect: Dialect): Schema {
  if (typeof schema === 'boolean' || schema['$schema'] !== DIALECT_URIS[dialect]) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema'));
}

async function jsonFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((one) => one.isFile() && one.name.endsWith('.json'))
    .map((one) => relative(folder, join(one.parentPath, one.name)))
    .sort();
}

async function write(name: string, lines: readonly string[]): Promise<void> {
  await writeFile(join(import.meta.dirname, name), `${lines.join('\n')}\n`);
}
