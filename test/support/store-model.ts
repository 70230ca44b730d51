import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import { ALL, NO_CONTENT, SETTINGS } from './store-samples.js';
import { contextText, newModelVersion, PlainStore, type Operation } from './plain-store.js';

const TEXTS = ['1', '2', '3'];
const URIS = ['u:1', 'u:2', 'u:3'];

const domain = fc.constantFrom('a', 'A');
const model = fc.record({ domain, name: fc.constantFrom('x', 'y') });
const context = fc.constantFrom('p', 'q');
const uri = fc.constantFrom(...URIS);
const stale = fc.constantFrom(false, false, true);
const version = fc.record({
  text: fc.constantFrom(...TEXTS),
  contexts: fc.subarray(['p', 'q', 'a~x', 'A~y'], { maxLength: 1 }),
  uris: fc.subarray(URIS, { maxLength: 1 }),
});
const EXAMPLES = ['e.json', 'f.json'];
/** Including texts that only examples have. */
const EXAMPLE_TEXTS = [...TEXTS, '4', '5'];
const examples = fc.option(fc.dictionary(fc.constantFrom(...EXAMPLES), fc.constantFrom(...EXAMPLE_TEXTS)), {
  nil: undefined,
});
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create domain'), domain }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete domain'), domain, cascade: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('create model'), model, version, examples }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('update model'), model, version, examples }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('put example', 'delete example'),
      model,
      name: fc.constantFrom(...EXAMPLES),
      text: fc.constantFrom(...EXAMPLE_TEXTS),
      stale,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete model'), model, stale }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create context'), context, version }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('update context'), context, version }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete context'), context, stale }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put reference'), uri, version, absent: stale }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete reference'), uri, stale }) },
);

/** These make most of the later operations find something. */
const FIRST: readonly Operation[] = [
  { do: 'create domain', domain: 'a' },
  { do: 'create domain', domain: 'A' },
  { do: 'put reference', uri: 'u:1', version: { text: '1', contexts: [], uris: [] }, absent: true },
  { do: 'create context', context: 'p', version: { text: '1', contexts: [], uris: [] } },
];

/** Applies a write to the store and to the plain model. */
class Write implements fc.AsyncCommand<PlainStore, SchemaStore> {
  constructor(readonly operation: Operation) {}

  check(): boolean {
    return true;
  }

  async run(plain: PlainStore, store: SchemaStore): Promise<void> {
    assert.equal(await outcome(store, this.operation), plain.apply(this.operation));
  }

  toString(): string {
    return JSON.stringify(this.operation);
  }
}

/**
 * Asserts that a store behaves like the plain model for any series of writes, and keeps everything
 * that is named.
 * @param open opens an empty store; it is closed after each series
 */
export async function behaveByPlainRules(
  open: () => Promise<SchemaStore>,
  { numRuns }: { readonly numRuns: number },
): Promise<void> {
  const writes = fc.commands([operation.map((each) => new Write(each))], { size: 'max', maxCommands: 80 });
  await fc.assert(
    fc.asyncProperty(writes, async (commands) => {
      const real = await open();
      const model = new PlainStore();
      for (const each of FIRST) await new Write(each).run(model, real);
      await fc.asyncModelRun(() => ({ model, real }), commands);
      assert.deepEqual(await view(real), viewOf(model));
      for (const text of [...EXAMPLE_TEXTS, ...TEXTS.map(contextText)]) {
        const sha256 = createHash('sha256').update(text).digest('hex');
        assert.equal(await real.content(sha256), model.texts().has(text) ? text : undefined);
      }
      await real.close();
    }),
    { numRuns },
  );
}

async function outcome(store: SchemaStore, operation: Operation): Promise<string> {
  try {
    await write(store, operation);
    return 'done';
  } catch (error) {
    if (error instanceof Error && 'kind' in error) return String(error.kind);
    throw error;
  }
}

async function write(store: SchemaStore, operation: Operation): Promise<unknown> {
  switch (operation.do) {
    case 'create domain':
      return store.domains.create({ name: operation.domain });
    case 'delete domain':
      return store.domains.delete(operation.domain, { cascade: operation.cascade });
    case 'create model':
    case 'update model': {
      const found = await store.references.texts(operation.version.uris);
      const references = new Map(
        operation.version.uris.map((each) => [each, found.get(each)?.sha256 ?? NO_CONTENT]),
      );
      const made = newModelVersion(operation.version, references);
      const kept =
        operation.examples &&
        new Map(Object.entries(operation.examples).map(([name, text]) => [name, { text }]));
      return operation.do === 'create model'
        ? store.models.create(operation.model, SETTINGS, made, kept)
        : store.models.update(operation.model, { settings: SETTINGS, version: made, examples: kept });
    }
    case 'delete model':
      return store.models.delete(operation.model, ifMatch(operation.stale));
    case 'put example':
      return store.examples.put(
        operation.model,
        operation.name,
        { text: operation.text },
        ifMatch(operation.stale),
      );
    case 'delete example':
      return store.examples.delete(operation.model, operation.name, ifMatch(operation.stale));
    case 'create context':
    case 'update context': {
      const made = { text: operation.version.text, contexts: new Set(operation.version.contexts) };
      return operation.do === 'create context'
        ? store.contexts.create(operation.context, made)
        : store.contexts.update(operation.context, made);
    }
    case 'delete context':
      return store.contexts.delete(operation.context, ifMatch(operation.stale));
    case 'put reference': {
      const { text, uris } = operation.version;
      const made = { uri: operation.uri, source: 'stored', text, references: new Set(uris) } as const;
      return store.references.put(made, operation.absent ? 'absent' : undefined);
    }
    case 'delete reference':
      return store.references.delete(operation.uri, ifMatch(operation.stale));
  }
}

function ifMatch(isStale: boolean): readonly string[] | undefined {
  return isStale ? ['of another time'] : undefined;
}

/** Returns everything that can be read, as lines. */
async function view(store: SchemaStore): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { name } of (await store.domains.list(ALL)).items) {
    lines.push(`domain ${name}`);
    for (const { name: of, contextName } of (await store.models.list(name, ALL)).items) {
      const key = { domain: name, name: of };
      for (const example of (await store.examples.list(key, ALL)).items)
        lines.push(
          `example ${contextName} ${example.name} ${String(await store.content(example.content.sha256))}`,
        );
      for (const { number } of (await store.models.versions(key, ALL)).items) {
        const { schema, context: generated, version } = await store.models.texts(key, number);
        const pins = new Map<string, string>();
        for (const { uri, sha256 } of version.references) pins.set(uri, String(await store.content(sha256)));
        lines.push(modelLine(contextName, number, schema, pins));
        assert.equal(generated, contextText(schema));
        const { version: step } = await store.contexts.get(contextName, number);
        assert.equal(await store.content(step.content.sha256), generated);
      }
    }
  }
  for (const { name, kind, currentVersion } of (await store.contexts.list(ALL)).items) {
    for (let number = 1; kind === 'custom' && number <= currentVersion; number++) {
      const { version: at } = await store.contexts.get(name, number);
      lines.push(`context ${name} ${number} ${String(await store.content(at.content.sha256))}`);
    }
  }
  for (const [name, { text }] of await store.references.texts(URIS)) lines.push(`reference ${name} ${text}`);
  return lines.sort();
}

function viewOf(plain: PlainStore): readonly string[] {
  const lines: string[] = [];
  for (const [name, models] of plain.domains) {
    lines.push(`domain ${name}`);
    for (const [of, versions] of models)
      versions.forEach(({ text, pins }, index) =>
        lines.push(modelLine(`${name}~${of}`, index + 1, text, pins)),
      );
  }
  for (const [model, examples] of plain.examples)
    for (const [name, text] of examples) lines.push(`example ${model} ${name} ${text}`);
  for (const [name, versions] of plain.contexts)
    versions.forEach(({ text }, index) => lines.push(`context ${name} ${index + 1} ${text}`));
  for (const [name, { text }] of plain.references) lines.push(`reference ${name} ${text}`);
  return lines.sort();
}

function modelLine(name: string, number: number, text: string, pins: ReadonlyMap<string, string>): string {
  return `model ${name} ${number} ${text} ${JSON.stringify([...pins].sort())}`;
}
