import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RepositoryUnclearError } from '../../../../sidecar/schemas/repository/errors.js';
import { COMMON_URL, commonSchema, completeRepository, entitySchema } from '../../../support/repositories.js';
import { type Files, planOf, within } from './planning.js';
import { column, columns } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

const plan = (files: Files, domain?: string) => planOf(files, { domain });

/** The documents to be stored, as `url: path`. */
const stored = (files: Files, domain = 'D') =>
  Object.fromEntries(plan(files, domain).documents.map(({ url, path }) => [url, path]));

const named = (files: Files, domain?: string) =>
  plan(files, domain).models.map(({ domain: of, name }) => `${of}/${name}`);

describe('the models of a repository', () => {
  it('the models of a repository are the folders with a schema.json, in the domain that its $ids name', () => {
    assert.deepEqual(named(completeRepository()), ['dataModel.City/Bench', 'dataModel.City/Lamp']);
    assert.deepEqual(named(completeRepository(), 'Own'), ['Own/Bench', 'Own/Lamp']);
  });

  it('the models of a repository have the nearest context and the examples in their folders', () => {
    const { models, contexts } = plan({
      ...completeRepository(),
      'Lamp/context.jsonld': { '@context': { Lamp: 'https://terms.example/Lamp' } },
    });
    assert.deepEqual(
      models.map(({ context, examples }) => ({ context, examples: examples.map(({ path }) => path) })),
      [
        {
          context: 'context.jsonld',
          examples: ['Bench/examples/example-wrong.jsonld', 'Bench/examples/example.jsonld'],
        },
        { context: 'Lamp/context.jsonld', examples: ['Lamp/examples/example.json'] },
      ],
    );
    assert.deepEqual(column(contexts, 'name'), ['dataModel.City-Lamp-context', 'dataModel.City-context']);
  });

  it('the models of a repository are named by their titles if they are not in a folder', () => {
    const files = {
      'schema.json': { ...schema(), title: 'Kiosk' },
      'tram.json': { ...schema(), title: 'Tram' },
    };
    assert.deepEqual(named(files, 'D'), ['D/Kiosk', 'D/Tram']);
    const nameless = plan({ 'schema.json': { ...schema(), title: 'Not a name' } }, 'D');
    assert.deepEqual(nameless.models, []);
    assert.match(nameless.refused[0]?.reason ?? '', /named after the folder/);
  });

  it('a model has the examples next to its schema.json, also at the root and if its folder is not a valid name', () => {
    const examples = (files: Files) =>
      Object.fromEntries(
        plan(files, 'D').models.map(({ name, examples: found }) => [name, column(found, 'path')]),
      );
    const kiosk = {
      'schema.json': { ...schema(), title: 'Kiosk' },
      'examples/example.json': { type: 'Kiosk' },
      'example/other.jsonld': { type: 'Kiosk' },
    };
    const own = ['example/other.jsonld', 'examples/example.json'];
    assert.deepEqual(examples(kiosk), { Kiosk: own });
    assert.deepEqual(examples(within('kiosk-main', kiosk)), {
      'kiosk-main': own.map((path) => `kiosk-main/${path}`),
    });
    assert.deepEqual(examples({ ...within('_1st', kiosk), 'other/note.json': {} }), {
      Kiosk: own.map((path) => `_1st/${path}`),
    });
    // Those of another model within are its own.
    const both = {
      ...kiosk,
      'Car/schema.json': schema(),
      'Car/examples/example.json': {},
      'tram/tram.json': { ...schema(), title: 'Tram' },
      'tram/examples/example.json': {},
    };
    assert.deepEqual(examples(both), { Kiosk: own, Car: ['Car/examples/example.json'], Tram: [] });
  });

  it('an example is named by its path below the model, and has the representation that it shows', () => {
    const value = { type: 'Property', value: 3 };
    const files = {
      'Car/schema.json': schema(),
      'Car/examples/example.json': { type: 'Car', speed: 3 },
      'Car/examples/old/of 2024.jsonld': [
        { type: 'Car', speed: value },
        { type: 'Car', height: value },
      ],
      'Car/doc/example/both.json': [
        { type: 'Car', speed: 3 },
        { type: 'Car', speed: value },
      ],
      'Car/examples/feature.json': { type: 'Feature', geometry: null, properties: { type: 'Car' } },
      'Car/examples/note.json': { note: 3 },
    };
    const [car] = plan(files, 'D').models;
    assert.deepEqual(
      car?.examples.map(({ name, form }) => [name, form]),
      [
        ['doc-both.json', undefined],
        ['example.json', 'keyvalues'],
        ['feature.json', 'geojson'],
        ['note.json', undefined],
        ['old-of_2024.jsonld', 'normalized'],
      ],
    );
  });

  it('an example of an export is nothing else, whatever its name and content', () => {
    const folder = 'domains/D/Car';
    const files = {
      [`${folder}/schema.json`]: schema(),
      [`${folder}/meta.json`]: {},
      [`${folder}/examples/urls.json`]: { 'https://models.example/a.json': 'a.json' },
      [`${folder}/examples/schema.json`]: { ...schema(), title: 'Other' },
    };
    const { models, documents, refused } = plan(files);
    assert.deepEqual(
      models.map(({ name, examples }) => [name, examples.map((one) => one.name)]),
      [['Car', ['schema.json', 'urls.json']]],
    );
    assert.deepEqual([documents, refused], [[], []]);
  });

  it('two folders that claim the name of one model are both refused', () => {
    const { models, refused } = plan(
      { 'a/Car/schema.json': schema(), 'b/Car/schema.json': schema(), 'Bus/schema.json': schema() },
      'D',
    );
    assert.deepEqual(column(models, 'name'), ['Bus']);
    assert.deepEqual(column(refused, 'path'), ['a/Car/schema.json', 'b/Car/schema.json']);
    // Each reason names the other folder.
    assert.match(refused[0]?.reason ?? '', /^b\/Car\/schema\.json is also named Car;/);
    assert.match(refused[1]?.reason ?? '', /^a\/Car\/schema\.json is also named Car;/);
  });

  it('a repository has the same models in the folder of an archive, which names the domain if there are no $ids', () => {
    const files = { 'Car/schema.json': schema(), 'context.jsonld': { '@context': {} } };
    const commit = '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432';
    // The names that GitHub, its API, and GitLab give to the folder of an archive.
    for (const root of [
      'Traffic-main',
      'Traffic-v1.2',
      'Traffic-9f8e7d6',
      `Traffic-main-${commit}`,
      `Traffic-1.2-${commit}`,
    ])
      assert.deepEqual(named(within(root, files)), ['Traffic/Car'], root);
    assert.equal(plan(within('Traffic-main', files)).contexts[0]?.name, 'Traffic-context');
    assert.throws(() => plan(files), RepositoryUnclearError);
  });

  for (const [folder, domain] of [
    ...['main', 'master', 'develop', '1', '1.2.3', 'v2', 'v2.0', '0a1b2c3', 'f'.repeat(40)].map(
      (revision) => [`Traffic-${revision}`, 'Traffic'] as const,
    ),
    ...['Traffic', 'Traffic-0a1b2c', 'Traffic-other', 'Traffic-1.', 'Traffic-v'].map(
      (name) => [name, name] as const,
    ),
    [`Traffic-${'f'.repeat(41)}`, `Traffic-${'f'.repeat(41)}`],
  ] as const) {
    it(`the folder ${folder} of an archive names the domain ${domain}`, () => {
      assert.deepEqual(named({ [`${folder}/Car/schema.json`]: schema(), [`${folder}/x.json`]: {} }), [
        `${domain}/Car`,
      ]);
    });
  }

  it('a context is named after the folders around it, without invalid characters, once for all models that use it', () => {
    const contexts = (files: Files, domain?: string) => column(plan(files, domain).contexts, 'name');
    assert.deepEqual(
      contexts(
        {
          'my  models/of (all)/context.jsonld': { '@context': {} },
          'my  models/of (all)/Car/schema.json': schema(),
          'my  models/of (all)/Bus/schema.json': schema(),
          'notes.json': {},
        },
        'D',
      ),
      ['D-my_models-of_all_-context'],
    );
    // If models of several domains use it, the first one names it.
    const at = (domain: string) => ({ ...schema(), $id: `https://models.example/${domain}/Car/schema.json` });
    const shared = {
      'all/context.jsonld': { '@context': {} },
      'all/First/Car/schema.json': at('First'),
      'all/Second/Car/schema.json': at('Second'),
    };
    assert.deepEqual(named(shared), ['First/Car', 'Second/Car']);
    assert.equal(contexts(shared).length, 1);
    assert.match(contexts(shared)[0] ?? '', /^First-/);
    const long = `${'x'.repeat(100)}/${'y'.repeat(100)}`;
    const tooLong = plan(
      { [`${long}/Car/schema.json`]: schema(), [`${long}/context.jsonld`]: { '@context': {} }, 'x.json': {} },
      'D',
    );
    assert.deepEqual(tooLong.contexts, []);
    assert.match(tooLong.refused[0]?.reason ?? '', /too long for the name of a context/);
  });

  it('an export may have domains and contexts without models, and versions of contexts by their numbers', () => {
    const files = {
      'contexts/own.jsonld': { '@context': {} },
      'contexts/own.versions/2.jsonld': { '@context': {} },
      'contexts/own.versions/10.jsonld': { '@context': {} },
      'contexts/own.versions.jsonld': { '@context': {} },
      'settings/A.json': { description: 'One' },
      'settings/B.json': {},
    };
    const { contexts, contextVersions, domains, domainSettings } = plan(files);
    assert.deepEqual(contexts.map(({ name }) => name).sort(), ['own', 'own.versions']);
    const numbers = [2, 10].map((number) => ({ path: `contexts/own.versions/${number}.jsonld`, number }));
    assert.deepEqual([...contextVersions], [['own', numbers]]);
    assert.deepEqual(domains, ['A', 'B']);
    assert.deepEqual(domainSettings, [
      { path: 'settings/A.json', domain: 'A' },
      { path: 'settings/B.json', domain: 'B' },
    ]);
    // Under another name, the settings are those of the only domain that has models.
    const withModel = { ...files, 'domains/B/Car/schema.json': schema() };
    assert.deepEqual(plan(withModel, 'C').domainSettings, [{ path: 'settings/B.json', domain: 'C' }]);
    assert.deepEqual(plan(files, 'C').domainSettings, []);
    assert.deepEqual(plan({ 'contexts/own.jsonld': { '@context': {} } }).contexts.length, 1);
  });

  it('models of an export have the domains of their folders, and a single domain can be renamed', () => {
    const files = {
      'domains/A/Car/schema.json': schema(),
      'domains/A/Car/meta.json': { compatibility: 'none' },
      'domains/A/Car/context.jsonld': { '@context': {} },
      'domains/A/Car/versions/2.json': schema(),
      'domains/A/Car/versions/10.json': schema(),
      'contexts/own.jsonld': { '@context': {} },
    };
    const [car] = plan(files).models;
    assert.deepEqual(
      { domain: car?.domain, context: car?.context, settings: car?.settings, versions: car?.versions },
      {
        domain: 'A',
        context: undefined,
        settings: 'domains/A/Car/meta.json',
        versions: ['domains/A/Car/versions/2.json', 'domains/A/Car/versions/10.json'],
      },
    );
    assert.deepEqual(column(plan(files).contexts, 'name'), ['own']);
    assert.deepEqual(named(files, 'B'), ['B/Car']);
    const two = { ...files, 'domains/C/Car/schema.json': schema() };
    assert.deepEqual(named(two), ['A/Car', 'C/Car']);
    assert.throws(() => plan(two, 'B'), /several domains/);
  });
});

describe('the shared documents of models', () => {
  it('shared documents are stored under each URL that names them', () => {
    assert.deepEqual(stored(completeRepository()), {
      [COMMON_URL]: 'shared/common-schema.json',
      // Where the repository publishes it, according to the $ids of its models.
      'https://models.example/dataModel.City/city-schema.json': 'city-schema.json',
      // As a code host has it, according to the name of the repository.
      'https://raw.code.example/city/dataModel.City/main/city-schema.json': 'city-schema.json',
      'https://models.example/dataModel.City/shared/common-schema.json': 'shared/common-schema.json',
    });
  });

  it('shared documents are found by relative paths, even if no schema has an $id', () => {
    const files = {
      'models/Car/schema.json': { ...schema(), allOf: [{ $ref: '../../parts/wheel.json' }] },
      'parts/wheel.json': { definitions: { a: { $ref: 'tyre.json#/x' } } },
      'parts/tyre.json': { properties: { x: { type: 'string' } } },
    };
    const { models, documents } = plan(files, 'D');
    assert.equal(models[0]?.id, 'https://repository.invalid/D/models/Car/schema.json');
    assert.deepEqual(columns(documents, 'url', 'path'), [
      ['https://repository.invalid/D/parts/tyre.json', 'parts/tyre.json'],
      ['https://repository.invalid/D/parts/wheel.json', 'parts/wheel.json'],
    ]);
    // Another repository may have other files of these names.
    const urls = (...of: Parameters<typeof plan>) => column(plan(...of).documents, 'url');
    const archive = Object.fromEntries(
      Object.entries(files).map(([path, file]) => [`city-main/${path}`, file]),
    );
    assert.ok(urls(files, 'E').every((url) => url.startsWith('https://repository.invalid/E/')));
    assert.ok(urls(archive, undefined).every((url) => url.startsWith('https://repository.invalid/city/')));
  });

  it('shared documents may be named by a table of URLs, or by URLs in place of paths', () => {
    const files = {
      'Car/schema.json': {
        ...schema(),
        allOf: [{ $ref: 'https://a.example/common.json' }, { $ref: 'https://b.example/x' }],
      },
      'shared/urls.json': { 'https://a.example/common.json': 'mine.json' },
      'shared/mine.json': { definitions: {} },
      'https://b.example/x': { type: 'object', properties: {} },
    };
    assert.deepEqual(stored(files), {
      'https://a.example/common.json': 'shared/mine.json',
      'https://b.example/x': 'https://b.example/x',
    });
  });

  it('a document that is given a URL takes precedence over a document with the URL as its $id, even if that has the right name', () => {
    const url = 'https://a.example/common.json';
    const claiming = { $id: url, definitions: { other: {} } };
    for (const [files, path] of [
      [
        { 'shared/urls.json': { [url]: 'mine.json' }, 'shared/mine.json': { definitions: {} } },
        'shared/mine.json',
      ],
      [{ [url]: { definitions: {} } }, url],
    ] as const) {
      const car = { ...schema(), allOf: [{ $ref: url }] };
      const found = plan({ 'Car/schema.json': car, ...files, 'own/common.json': claiming }, 'D');
      assert.deepEqual(found.documents, [{ path, url, mayReplace: path === url }]);
      assert.deepEqual(found.refused, []);
    }
  });

  it('a document that is given an invalid URL is refused with the URL, whatever gives it', () => {
    const wrong = words(`
      https://a.example/x#part https://a.example/x# ftp://a.example/x https://:secret@a.example/x
      file:///x.json
    `);
    for (const url of wrong) {
      const { documents, refused } = plan({ 'Car/schema.json': schema(), [url]: { definitions: {} } }, 'D');
      assert.deepEqual([documents, column(refused, 'path')], [[], [url]], url);
      assert.match(refused[0]?.reason ?? '', /^It is not an absolute http, https or urn URL/);
    }
    const table = (url: string) =>
      plan(
        {
          'Car/schema.json': schema(),
          'urls.json': { 'https://a.example/good': 'x.json', [url]: 'x.json' },
          'x.json': { definitions: {} },
        },
        'D',
      );
    for (const url of wrong.slice(0, 2)) {
      const { documents, refused } = table(url);
      assert.deepEqual(
        documents.map((one) => one.url),
        ['https://a.example/good'],
      );
      assert.deepEqual(column(refused, 'path'), ['urls.json']);
      assert.ok(refused[0]?.reason.startsWith(`${url} is not a URL`));
    }
  });

  it('a relative $ref means the neighbouring file, also encoded, with a query, or through other folders', () => {
    const refs = ['a%20b.json', 'c.json?x=1#/y', './d.json', '../parts//e.json', '../parts/./f.json'];
    const files = Object.fromEntries(
      ['parts/a b.json', 'parts/c.json', 'parts/d.json', 'parts/e.json', 'parts/f.json'].map(
        (path) => [path, { definitions: {} }] as const,
      ),
    );
    const { documents } = plan(
      { 'parts/schema.json': { ...schema(), allOf: refs.map(($ref) => ({ $ref })) }, ...files },
      'D',
    );
    assert.deepEqual([...new Set(column(documents, 'path'))], Object.keys(files).sort());
    // A path that leads out of the repository, or is absolute, is not in it.
    for (const $ref of ['../../x.json', '/x.json'])
      assert.deepEqual(
        plan({ 'x.json': { definitions: {} }, 'Car/schema.json': { ...schema(), $ref } }, 'D').documents,
        [],
      );
  });

  it('a document has fifty URLs at most', () => {
    const urls = (count: number) => {
      const refs = Array.from({ length: count }, (_, n) => ({ $ref: `../common.json?n=${n}` }));
      const files = { 'Car/schema.json': { ...schema(), allOf: refs }, 'common.json': { definitions: {} } };
      return plan(files, 'D').documents.length;
    };
    assert.deepEqual([urls(50), urls(51)], [50, 50]);
  });

  it('a document of an export has only the URLs of its table, whatever its $id says', () => {
    const urls = (table: object) =>
      plan({
        'domains/A/Car/schema.json': schema(),
        'references/common-1.json': { ...commonSchema(), $id: 'https://other.example/common.json' },
        'references/urls.json': table,
      }).documents.map(({ url }) => url);
    assert.deepEqual(urls({ [COMMON_URL]: 'common-1.json' }), [COMMON_URL]);
    assert.deepEqual(urls({ 'https://x.example/none.json': 'none.json' }), [
      'https://other.example/common.json',
    ]);
  });

  it('the name of a context never makes a shared document of a file that is not a context', () => {
    const example = { '@context': 'https://models.example/dataModel.City/Lamp/examples/example.json' };
    const files = { ...completeRepository(), 'Bench/examples/example.jsonld': example };
    assert.deepEqual(stored(files), stored(completeRepository()));
  });

  it('a model may be the shared document of another model', () => {
    const car = {
      ...schema(),
      $id: 'https://a.example/r/Car/schema.json',
      allOf: [{ $ref: 'https://a.example/r/Bus/schema.json' }],
    };
    const bus = {
      ...schema(),
      $id: 'https://a.example/r/Bus/schema.json',
      allOf: [{ $ref: '../Car/schema.json' }],
    };
    const { models, documents } = plan({ 'Car/schema.json': car, 'Bus/schema.json': bus }, 'D');
    assert.equal(models.length, 2);
    assert.deepEqual(documents.map(({ url }) => url).sort(), [
      'https://a.example/r/Bus/schema.json',
      'https://a.example/r/Car/schema.json',
    ]);
  });

  it('shared documents are never guessed: of two that differ under one URL, its own file is used, or none', () => {
    const other = { ...commonSchema('number') };
    const byName = plan({ ...completeRepository(), 'shared/old-schema.json': other }, 'D');
    assert.equal(byName.documents.find(({ url }) => url === COMMON_URL)?.path, 'shared/common-schema.json');
    assert.match(
      byName.refused.find(({ path }) => path === 'shared/old-schema.json')?.reason ?? '',
      /is the URL of shared\/common-schema\.json/,
    );
    const { documents, refused } = plan({ ...completeRepository(), 'x/common-schema.json': other }, 'D');
    assert.equal(
      documents.find(({ url }) => url === COMMON_URL),
      undefined,
    );
    assert.deepEqual(column(refused, 'path'), ['shared/common-schema.json', 'x/common-schema.json']);
  });

  it('shared documents are stored once if two files of a URL are equal', () => {
    const twice = { ...completeRepository(), 'x/common-schema.json': commonSchema() };
    assert.equal(stored(twice)[COMMON_URL], 'shared/common-schema.json');
    assert.deepEqual(plan(twice, 'D').refused, []);
  });

  it('shared documents never come from repositories whose URLs only look similar', () => {
    const files = {
      'Car/schema.json': {
        ...entitySchema('Car', 'speed'),
        $id: 'https://a.example/dataModel.Cars/Car/schema.json',
        allOf: [{ $ref: 'https://a.example/dataModel.Other/common.json' }],
      },
      'common.json': { definitions: {} },
    };
    assert.deepEqual(stored(files), {});
  });

  it('shared documents are found in limited time in a web of references', () => {
    const names = Array.from({ length: 8 }, (_, index) => `${index}.json`);
    const reference = fc.tuple(
      fc.constantFrom('', './', '../', 'a/', '../a/', '/'),
      fc.constantFrom(...names),
    );
    const document = fc.array(reference, { maxLength: 4 }).map((references) => ({
      definitions: Object.fromEntries(
        references.map(([folder, name], at) => [`d${at}`, { $ref: `${folder}${name}` }]),
      ),
    }));
    fc.assert(
      fc.property(fc.array(document, { minLength: 8, maxLength: 16 }), (documents) => {
        const files = Object.fromEntries(
          documents.map((one, at) => [`${at < 8 ? '' : 'a/'}${at % 8}.json`, one]),
        );
        const start = { ...schema(), allOf: names.map((name) => ({ $ref: `../${name}` })) };
        const { documents: found } = plan({ 'Car/schema.json': start, ...files }, 'D');
        assert.equal(new Set(column(found, 'url')).size, found.length);
      }),
      { numRuns: 100 },
    );
  });
});

function schema(): object {
  return { type: 'object', properties: { id: { type: 'string' }, type: { type: 'string' } } };
}
