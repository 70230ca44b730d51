import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RefusedFile } from '../../../../sidecar/schemas/repository/collector.js';
import { type Files, planOf, within } from './planning.js';
import { column, columns } from '../../../support/columns.js';

const plan = (files: Files, unread: readonly RefusedFile[] = [], domain?: string) =>
  planOf(files, { domain, unread });

const model = ($id: string | undefined, ...refs: readonly string[]) => ({
  ...($id === undefined ? {} : { $id }),
  properties: { type: { type: 'string' } },
  allOf: refs.map(($ref) => ({ $ref })),
});
const shared = ($id: string, type = 'string') => ({ $id, definitions: { name: { type } } });

const RAW = 'https://raw.githubusercontent.com/acme';
const PAGES = 'https://acme.github.io';
const COMMON = `${PAGES}/data-models/common-schema.json`;

const models = (files: Files) => plan(files).models.map(({ domain, name }) => `${domain}/${name}`);
const documents = (files: Files) =>
  Object.fromEntries(plan(files).documents.map(({ url, path }) => [url, path]));

describe('a repository on a code host', () => {
  for (const branch of ['master', 'main', 'refs/heads/master', 'refs/heads/main', 'v1.0'])
    it(`a repository whose $ids have the branch ${branch} has its own name for a domain, and for its context`, () => {
      const { models: found, contexts } = plan({
        'context.jsonld': { '@context': {} },
        'Wind/schema.json': model(`${RAW}/weather/${branch}/Wind/schema.json`),
      });
      assert.deepEqual(
        [...found.map(({ domain }) => domain), ...contexts.map(({ name }) => name)],
        ['weather', 'weather-context'],
      );
    });

  it('a document is found under every form of its URL', () => {
    const spellings = [
      `${PAGES}/weather`,
      'https://acme.github.com/weather',
      `${RAW}/weather/master`,
      `${RAW}/weather/main`,
      `${RAW}/weather/refs/heads/master`,
      'https://github.com/acme/weather/blob/main',
    ].map((base) => `${base}/wind-schema.json`);
    const files = {
      'wind-schema.json': { definitions: {} },
      'Wind/schema.json': model(`${PAGES}/weather/Wind/schema.json`, ...spellings),
    };
    assert.deepEqual(documents(files), Object.fromEntries(spellings.map((url) => [url, 'wind-schema.json'])));
  });

  it('a renamed repository finds its documents also by its former name, and replaces no document stored under that', () => {
    const url = `${RAW}/BLDG/master/BLDG-schema.json`;
    const files = {
      'BLDG-schema.json': shared(`${PAGES}/BLDG/BLDG-schema.json`),
      'Roof/schema.json': model('https://acme.github.com/SAREF/Roof/schema.json', url),
      'Wall/schema.json': model('https://acme.github.com/SAREF/Wall/schema.json', url),
    };
    assert.deepEqual(models(files), ['SAREF/Roof', 'SAREF/Wall']);
    const found = (of: Files) => plan(of).documents.find((document) => document.url === url);
    assert.deepEqual(found(files), { path: 'BLDG-schema.json', url, mayReplace: false });
    // In an archive of that name, the document is its own.
    assert.equal(found(within('BLDG-main', files))?.mayReplace, true);
  });

  it('a folder whose model names another repository still has the URLs of the repository around it', () => {
    const url = `${RAW}/drafts/refs/heads/master/City/common.json`;
    const files = within('drafts', {
      'City/common.json': shared(url),
      'City/Bench/schema.json': model(`${PAGES}/dataModel.City/Bench/schema.json`, url),
      'Lamp/schema.json': model(`${PAGES}/drafts/Lamp/schema.json`),
      'Tree/schema.json': model(`${PAGES}/drafts/Tree/schema.json`),
    });
    assert.deepEqual(models(files), ['dataModel.City/Bench', 'drafts/Lamp', 'drafts/Tree']);
    assert.deepEqual(plan(files).refused, []);
    assert.equal(documents(files)[url], 'drafts/City/common.json');
  });

  it('a single model that names another repository does not turn the folders beside it into repositories', () => {
    const files = {
      'City/Bench/schema.json': model(`${PAGES}/dataModel.City/Bench/schema.json`),
      'Lamp/schema.json': model(`${PAGES}/drafts/Lamp/schema.json`),
      'Tree/schema.json': model(`${PAGES}/drafts/Tree/schema.json`),
      'Well/schema.json': model(undefined),
    };
    assert.deepEqual(models(files), ['dataModel.City/Bench', 'drafts/Lamp', 'drafts/Tree', 'drafts/Well']);
  });

  it('a context never takes the URLs of the contexts of other repositories', () => {
    const files = {
      'context.jsonld': { '@context': {} },
      'Wind/schema.json': model(`${RAW}/weather/master/Wind/schema.json`),
      'Wind/examples/example.jsonld': {
        '@context': ['weather', 'parking', 'device'].map((name) => `${RAW}/${name}/master/context.jsonld`),
      },
    };
    assert.deepEqual(Object.keys(documents(files)), [`${RAW}/weather/master/context.jsonld`]);
  });
});

describe('the URLs of other repositories', () => {
  const health = {
    'health-schema.json': shared(COMMON, 'number'),
    'Scan/schema.json': model(
      `${PAGES}/health/Scan/schema.json`,
      COMMON,
      `${PAGES}/health/health-schema.json`,
    ),
    'Dose/schema.json': model(`${PAGES}/health/Dose/schema.json`),
  };

  it('a file that claims the URL of a file of another repository is refused only for that URL', () => {
    for (const files of [health, within('health-master', health)]) {
      const { documents: found, refused } = plan(files);
      assert.deepEqual(columns(found, 'url', 'mayReplace'), [[`${PAGES}/health/health-schema.json`, true]]);
      assert.deepEqual(
        refused.map(({ path }) => path.replace('health-master/', '')),
        ['health-schema.json'],
      );
      assert.match(
        refused[0]?.reason ?? '',
        /common-schema\.json, which belongs to a file of another repository/,
      );
    }
  });

  it("a claim on the URL of a file has no effect if the file's own repository is imported as well", () => {
    const { documents: found } = plan({
      ...within('health', health),
      ...within('data-models', { 'common-schema.json': shared(COMMON) }),
    });
    assert.equal(found.find(({ url }) => url === COMMON)?.path, 'data-models/common-schema.json');
  });

  it('a file that has the $id of another file of its repository replaces no document of that URL', () => {
    const mayReplace = (path: string) =>
      plan({
        'Car/schema.json': model(`${PAGES}/data-models/Car/schema.json`, COMMON),
        [path]: shared(COMMON),
      }).documents.find(({ url }) => url === COMMON)?.mayReplace;
    assert.equal(mayReplace('common-schema.json'), true);
    assert.equal(mayReplace('moved/common-schema.json'), true);
    assert.equal(mayReplace('old-schema.json'), false);
  });
});

describe('several repositories in one archive', () => {
  const template = { $id: '', title: '', properties: { type: {} } };
  const all = {
    ...within('weather', { 'Wind/schema.json': model(`${RAW}/weather/master/Wind/schema.json`) }),
    ...within('parking-main', { 'Spot/schema.json': model(`${RAW}/parking/main/Spot/schema.json`) }),
    ...within('data-models', {
      'common-schema.json': shared(COMMON),
      'templates/dataModel/schema.json': template,
    }),
  };
  const domains = ['data-models/dataModel', 'parking/Spot', 'weather/Wind'];

  it('several repositories have a domain each, even if only the name of a folder tells which', () => {
    assert.deepEqual(models(all), domains);
    assert.deepEqual(models(within('all', all)), domains);
  });

  it('models of several repositories belong to the one that their $id names, with their contexts', () => {
    const gathered = {
      'Wind/schema.json': model(`${RAW}/weather/master/Wind/schema.json`),
      'Wind/context.jsonld': { '@context': { speed: 'https://terms.example/speed' } },
      'Rain/schema.json': model(`${RAW}/weather/master/Rain/schema.json`),
      'Spot/schema.json': model(`${PAGES}/parking/Spot/schema.json`),
      'Tree/schema.json': model(`${PAGES}/parks/Tree/schema.json`),
    };
    const apart = ['parks/Tree', 'parking/Spot', 'weather/Rain', 'weather/Wind'];
    for (const files of [gathered, within('samples', gathered), within('a/b', gathered)]) {
      assert.deepEqual(models(files).toSorted(), apart.toSorted());
      const { contexts, refused } = plan(files);
      assert.ok(contexts.every(({ name }) => name.startsWith('weather-')));
      assert.deepEqual(refused, []);
    }
    // If the name of a repository is known and most $ids agree, the others are mistakes.
    assert.deepEqual(
      [...new Set(column(plan(within('parking-main', gathered)).models, 'domain'))],
      ['weather'],
    );
    const { 'Tree/schema.json': _, ...most } = gathered;
    assert.deepEqual([...new Set(column(plan(most).models, 'domain'))], ['weather']);
    assert.deepEqual([...new Set(column(plan(gathered, [], 'Own').models, 'domain'))], ['Own']);
  });

  it('a template without a name and a domain is refused alone', () => {
    const files = {
      'a/b/weather/Wind/schema.json': model(`${RAW}/weather/master/Wind/schema.json`),
      'templates/schema.json': template,
      'note.json': {},
    };
    const { models: found, refused } = plan(files);
    assert.deepEqual(
      found.map(({ domain, name }) => `${domain}/${name}`),
      ['weather/Wind'],
    );
    assert.deepEqual(column(refused, 'path'), ['templates/schema.json']);
  });

  it('relative $refs give a schema the same $id alone and among other repositories', () => {
    const wind = { 'Wind/schema.json': model(undefined, '../parts.json'), 'parts.json': { definitions: {} } };
    const ids = (files: Files) => plan(files).models.flatMap(({ id }) => id ?? []);
    const alone = ids(within('wind-main', wind));
    assert.deepEqual(alone, ['https://repository.invalid/wind/Wind/schema.json']);
    const weather = { 'Rain/schema.json': model(`${RAW}/weather/master/Rain/schema.json`) };
    assert.deepEqual(ids({ ...within('wind', wind), ...within('weather', weather) }), alone);
  });
});

describe('contexts by any name', () => {
  const context = { '@context': { speed: 'https://terms.example/speed' } };
  const contexts = (files: Files, domain?: string) =>
    plan(files, [], domain).contexts.map(({ path, name }) => `${path}: ${name}`);

  it('a context of any name is stored, by its folder and its own name, also without a model', () => {
    const files = { 'city.jsonld': context, 'parts/light context.json': context };
    assert.deepEqual(contexts(within('terms-main', files)), [
      'terms-main/city.jsonld: terms-city',
      'terms-main/parts/light context.json: terms-parts-light_context',
    ]);
    assert.deepEqual(contexts(files, 'D'), [
      'city.jsonld: D-city',
      'parts/light context.json: D-parts-light_context',
    ]);
    const { contexts: none, refused } = plan(files);
    assert.deepEqual([none, refused.length], [[], 2]);
  });

  it('a model uses the context called context.jsonld, or called like the model, or the only one next to or around it', () => {
    const taken = (files: Files) =>
      plan({ 'Car/schema.json': model(undefined), 'x.json': {}, ...files }, [], 'D').models[0]?.context;
    const [own, named, only, around] = [
      'Car/context.jsonld',
      'Car/car-context.jsonld',
      'Car/terms.jsonld',
      'terms.jsonld',
    ] as const;
    assert.equal(taken({ [own]: context, [named]: context, [only]: context }), own);
    assert.equal(taken({ [named]: context, [only]: context }), named);
    assert.equal(taken({ [only]: context, [around]: context }), only);
    assert.equal(taken({ [around]: context }), around);
    assert.equal(taken({ 'Car/a.jsonld': context, 'Car/b.jsonld': context }), undefined);
  });

  it('two contexts that would get the same name are not mixed up', () => {
    const { contexts: found, refused } = plan({ 'a.json': context, 'a.jsonld': context }, [], 'D');
    assert.deepEqual(column(found, 'path'), ['a.json']);
    assert.match(refused[0]?.reason ?? '', /Its name would be D-a, like that of a\.json: rename/);
  });
});

describe('files that cannot be read', () => {
  const unread = (path: string): RefusedFile => ({ path, reason: 'It is too large.', onlyIfUsed: true });
  const car = { 'Car/schema.json': model(undefined, '../parts.json'), 'x.json': {} };

  it('an unreadable file is refused if data models use it, and otherwise ignored', () => {
    const used = ['Bus/schema.json', 'parts.json', 'Car/context.jsonld', 'Car/examples/example.json'];
    const {
      refused,
      documents: found,
      ignored,
    } = plan(car, [...used, 'tsconfig.json', 'tools/settings.json'].map(unread), 'D');
    assert.deepEqual(
      refused.map((file) => file),
      [...used].sort().map((path) => ({ path, reason: 'It is too large.' })),
    );
    assert.deepEqual(found, []);
    assert.equal(ignored, plan(car, [], 'D').ignored + 2);
  });
});
