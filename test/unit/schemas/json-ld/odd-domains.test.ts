import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import {
  addWords,
  decidingPart,
  DomainTermsBuilder,
} from '../../../../sidecar/schemas/json-ld/domain-terms.js';
import { createProcessor } from '../../../../sidecar/schemas/json-ld/processor.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { runs } from '../../../support/thoroughness.js';
import { CORE, loaderOf } from './contexts.js';

type Context = Readonly<Record<string, unknown>>;

const term = fc.constantFrom(
  ...['speed', 'unit', 'urn', 'tag', 'https', 'ex', 'meta', 'kind', 'Bench', 'constructor'],
  ...['a/b', 'ex:speed', 'foo:', '@odd', 'https://a/speed', 'urn:x:1'],
);

const iri = fc.constantFrom('https://a/x', 'https://a/', 'urn:x:1', 'urn:', 'tag:y', 'ex:speed', 'https:x');

const text = fc.oneof(iri, term, fc.constantFrom('@type', '@id', '@nest', '@odd', '_:b', 'rel/x', ''));

const definition = fc.oneof(
  { weight: 2, arbitrary: iri },
  text,
  fc.constant(null),
  fc.record(
    {
      '@id': fc.oneof(iri, text, fc.constant(null)),
      '@type': fc.oneof(fc.constantFrom('@id', '@vocab', '@json', '@none'), text),
      '@container': fc.constantFrom<unknown>('@list', '@set', '@index', '@language', '@id', [
        '@set',
        '@index',
      ]),
      '@prefix': fc.boolean(),
      '@protected': fc.boolean(),
    },
    { requiredKeys: ['@id'] },
  ),
  fc.record({ '@type': fc.constantFrom('@id', 'tag:y') }),
  fc.record({ '@reverse': text }),
  fc.record({ '@id': iri, '@nest': fc.constantFrom('meta', '@nest') }),
  fc.record({ '@id': iri, '@index': term, '@container': fc.constant('@index') }),
  fc.record({ '@id': iri, '@context': fc.dictionary(term, text, { maxKeys: 2, noNullPrototype: true }) }),
  fc.record({ '@id': iri, '@language': fc.constantFrom('de', null) }),
);

const keywords = fc.record(
  {
    '@vocab': fc.constantFrom('https://v/', 'rel/', '', 'urn:v:', null),
    '@version': fc.constant(1.1),
    '@protected': fc.boolean(),
    '@language': fc.constant('de'),
    '@base': fc.constant('https://b/'),
  },
  { requiredKeys: [] },
);

const map = fc
  .tuple(keywords, fc.dictionary(term, definition, { maxKeys: 5, noNullPrototype: true }))
  .map(([first, rest]): Context => ({ ...first, ...rest }));

const generated = fc.dictionary(
  fc.constantFrom('speed', 'unit', 'urn', 'tag', 'https', 'ex', 'meta', 'Bench'),
  fc.constantFrom('https://g/x', 'urn:x:g', 'tag:g'),
  { maxKeys: 3, noNullPrototype: true },
);

/** For a stored context, which may change, all names are generated; for another one only those that it lacks. */
const model = fc.record({ generated, own: map, isStored: fc.boolean() });
const models = fc.array(model, { minLength: 1, maxLength: 3 });

/** What a document says that has one member; the name of the error if it cannot be expanded. */
async function said(context: readonly unknown[], name: string): Promise<readonly unknown[]> {
  const document = { '@context': structuredClone([...context, CORE]), '@id': 'https://x/1', [name]: 1 };
  return createProcessor()
    .expand(document, { documentLoader: loaderOf() })
    .catch((error: unknown) => [String(error)]);
}

it('the context of a domain is valid, and each of its terms means the same as in its models, however odd these are', async () => {
  let [domains, compared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(models, async (given) => {
      const builder = new DomainTermsBuilder();
      const usable = [];
      for (const [at, { generated: attributes, own, isStored }] of given.entries()) {
        const read = async (context: unknown) => contextMeaning(structuredClone(context), loaderOf());
        try {
          const { terms: defined } = await read(own);
          const lacking = Object.fromEntries(
            Object.entries(attributes).filter(([name]) => isStored || !defined.has(name)),
          );
          const context = [lacking, own];
          await read([...context, CORE]);
          const words = new Set<string>();
          addWords(own, words);
          const { terms } = await read(decidingPart(lacking, [own as JsonObject], words));
          const names = Object.keys(attributes);
          builder.add({ model: `M${at}`, names, generated: new Map(Object.entries(lacking)), own: terms });
          usable.push({ context, names, terms });
        } catch {
          // The context of such a model is refused when the model is written.
        }
      }
      const { terms, warnings } = builder.result();
      await contextMeaning([structuredClone(terms), CORE], loaderOf());
      if (usable.length > 0) domains += 1;
      for (const name of Object.keys(terms)) {
        const users = usable.filter((model) => model.names.includes(name));
        const isUncoerced = warnings.some(
          ({ code, term: about }) => code === 'coercion-left-out' && about === name,
        );
        const here = await said([terms], name);
        for (const { context } of users.length > 0 ? users : usable.filter((one) => one.terms.has(name))) {
          const there = await said(context, name);
          if (isUncoerced) assert.deepEqual(Object.keys(here[0] ?? {}), Object.keys(there[0] ?? {}), name);
          else assert.deepEqual(here, there, name);
          compared += 1;
        }
      }
    }),
    { numRuns: runs(120) },
  );
  // Most random contexts are invalid: usually some 50 domains have a model with a valid one.
  assert.ok(domains > 20 && compared > 20, `${domains} domains, ${compared} terms`);
});
