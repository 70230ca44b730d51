import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import { limitsOf, RepositoryCollector } from '../../../../sidecar/schemas/repository/collector.js';
import { readTarGz } from '../../../../sidecar/schemas/repository/tar.js';
import { referenceFileName, type SchemaService } from '../../../../sidecar/schemas/models/index.js';
import type { Page } from '../../../../sidecar/store/records.js';
import { NotFoundError } from '../../../../sidecar/store/errors.js';
import { exportAll } from '../../../../sidecar/schemas/repository/export.js';

const BASE_URL = 'http://gateway.example';
const own = (name: string, version?: number) =>
  `${BASE_URL}/api/v2/contexts/${name}${version === undefined ? '' : `?version=${version}`}`;

interface Held {
  /** Texts of the schemas of each model, oldest first, by `domain/model`. */
  readonly models?: Readonly<Record<string, readonly string[]>>;
  readonly domains?: Readonly<Record<string, object>>;
  /** Versions of each context, oldest first; `domain~model` are generated ones. */
  readonly contexts?: Readonly<Record<string, readonly JsonValue[]>>;
  readonly references?: Readonly<Record<string, JsonValue>>;
  /** The context of a model, and the documents that its schema refers to. */
  readonly details?: Readonly<Record<string, { context?: JsonValue; references?: readonly string[] }>>;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function schemasOf({ models = {}, domains = {}, contexts = {}, references = {}, details = {} }: Held) {
  const pageOf = <Item>(all: readonly Item[], { limit, offset }: Page) =>
    Promise.resolve({ items: all.slice(offset, offset + limit), total: all.length });
  const domainNames = [...new Set([...Object.keys(domains), ...Object.keys(models).map(domainOf)])].sort();
  const domain = (name: string) => ({ name, compatibility: 'none', ...domains[name] });
  const textsOf = ({ domain: of, name }: { domain: string; name: string }) => models[`${of}/${name}`] ?? [];
  const kindOf = (name: string) => (name.includes('~') ? 'generated' : 'custom');
  const domainReads = {
    list: (page: Page) => pageOf(domainNames.map(domain), page),
    get: (name: string) =>
      domainNames.includes(name)
        ? Promise.resolve(domain(name))
        : Promise.reject(new NotFoundError({ kind: 'domain', name })),
  };
  const modelReads = {
    list: (of: string, page: Page) =>
      pageOf(
        Object.keys(models)
          .filter((key) => domainOf(key) === of)
          .map((key) => ({ name: key.split('/')[1] })),
        page,
      ),
    texts: (key: { domain: string; name: string }) => {
      const { context, references: named = [] } = details[`${key.domain}/${key.name}`] ?? {};
      const version = { number: textsOf(key).length, references: named.map((uri) => ({ uri })) };
      const ownContext = context === undefined ? undefined : JSON.stringify(context);
      return Promise.resolve({ model: { ...key, status: 'published' }, version, ownContext });
    },
    versions: (key: { domain: string; name: string }, page: Page) =>
      pageOf(
        textsOf(key).map((text, index) => ({ number: index + 1, schema: { sha256: hashOf(text) } })),
        page,
      ),
  };
  const documents = {
    of: (key: { domain: string; name: string }, kind: string, { version }: { version?: number }) => {
      const text = kind === 'context' ? '{"@context": {}}' : (textsOf(key).at((version ?? 0) - 1) ?? 'none');
      return Promise.resolve({ bytes: Buffer.from(text), sha256: hashOf(text) });
    },
  };
  const listReferences = (page: Page) =>
    pageOf(
      Object.keys(references).map((uri) => ({ uri })),
      page,
    );
  return {
    store: {
      ...{ domains: domainReads, models: modelReads, references: { list: listReferences } },
      examples: { list: () => Promise.resolve({ items: [], total: 0 }) },
    },
    documents,
    contexts: {
      list: (page: Page) =>
        pageOf(
          Object.keys(contexts).map((name) => ({ name, kind: kindOf(name) })),
          page,
        ),
      document: (name: string, version?: number) => {
        const all = contexts[name] ?? [];
        const found = version === undefined ? all.at(-1) : all[version - 1];
        if (found === undefined) return Promise.reject(new NotFoundError({ kind: 'context', name }));
        const bytes = Buffer.from(JSON.stringify({ '@context': found }));
        return Promise.resolve({ bytes, kind: kindOf(name) });
      },
    },
    references: {
      spellings: () => Promise.resolve([]),
      get: (uri: string) =>
        references[uri] === undefined
          ? Promise.reject(new NotFoundError({ kind: 'reference', uri }))
          : Promise.resolve({ bytes: Buffer.from(JSON.stringify(references[uri])) }),
    },
  } as unknown as SchemaService;
}

function domainOf(key: string): string {
  return key.split('/')[0] ?? '';
}

/** The files of an export, by their paths. */
async function exported(held: Held, domain?: string): Promise<Readonly<Record<string, string>>> {
  const archive = await buffer(await exportAll(schemasOf(held), domain, BASE_URL));
  const collector = new RepositoryCollector(limitsOf(10_000_000));
  await readTarGz(archive, collector);
  const { files } = collector.result();
  return Object.fromEntries(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
}

const paths = async (held: Held, domain?: string) => Object.keys(await exported(held, domain));

describe('an export', () => {
  it('an export has everything of each list, to the last item of the last page', async () => {
    const many = Array.from({ length: 201 }, (_, n) => n);
    const versions = many.map((n) => `{"n":${n}}`);
    const files = await paths({
      models: {
        'A/Old': versions,
        ...Object.fromEntries(many.map((n) => [`A/M${n}`, ['{}']])),
      },
      domains: Object.fromEntries(many.map((n) => [`D${n}`, { description: 'x' }])),
      contexts: Object.fromEntries(many.map((n) => [`c${n}`, [{}]])),
      references: Object.fromEntries(many.map((n) => [`https://a.example/${n}.json`, {}])),
    });
    const count = (pattern: RegExp) => files.filter((path) => pattern.test(path)).length;
    assert.equal(count(/^domains\/A\/M\d+\/schema\.json$/), 201);
    assert.equal(count(/^domains\/A\/Old\/versions\//), 200);
    assert.equal(count(/^settings\/D/), 201);
    assert.equal(count(/^contexts\/c\d+\.jsonld$/), 201);
    assert.equal(count(/^references\/\d/), 201);
  });

  it('the earlier schemas of a model are those that differ from the one before, and end before the current one', async () => {
    const versionsOf = async (...texts: readonly string[]) => {
      const files = Object.entries(await exported({ models: { 'A/M': texts } }));
      return files
        .filter(([path]) => path.includes('/versions/'))
        .map(([path, text]) => [path.slice(21), text]);
    };
    assert.deepEqual(await versionsOf('{"n":1}'), []);
    assert.deepEqual(await versionsOf('{"n":1}', '{"n":1}', '{"n":2}', '{"n":1}', '{"n":3}'), [
      ['1.json', '{"n":1}'],
      ['2.json', '{"n":2}'],
      ['3.json', '{"n":1}'],
    ]);
    assert.deepEqual(await versionsOf('{"n":1}', '{"n":2}', '{"n":2}'), [['1.json', '{"n":1}']]);
  });

  const held: Held = {
    models: { 'A/M': ['{}'], 'B/N': ['{}'] },
    details: {
      'A/M': { context: ['terms', 'https://a.example/context'], references: ['https://a.example/used'] },
      'B/N': { context: own('other') },
    },
    contexts: {
      terms: [[own('deep', 1), own('B~N', 2)]],
      deep: [{ a: 'urn:1' }, own('early'), { a: 'urn:3' }],
      early: [{}],
      other: [{}],
      ...{ 'A~M': [{}], 'B~N': [{}, {}, {}] },
    },
    references: {
      'https://a.example/used': {},
      'https://a.example/context': { '@context': ['next'] },
      'https://a.example/next': { '@context': own('viaDocument') },
      'https://a.example/unused': {},
    },
  };

  it('an export of one domain has what its models lead to, by contexts, their versions and documents, and nothing else', async () => {
    const files = await paths({ ...held, contexts: { ...held.contexts, viaDocument: [{}] } }, 'A');
    assert.deepEqual(files, [
      'contexts/B~N.versions/2.jsonld',
      'contexts/deep.jsonld',
      'contexts/deep.versions/1.jsonld',
      'contexts/deep.versions/2.jsonld',
      'contexts/early.jsonld',
      'contexts/terms.jsonld',
      'contexts/viaDocument.jsonld',
      ...['context.jsonld', 'meta.json', 'schema.json'].map((name) => `domains/A/M/${name}`),
      ...['context', 'next'].map((name) => `references/${referenceFileName(`https://a.example/${name}`)}`),
      'references/urls.json',
      `references/${referenceFileName('https://a.example/used')}`,
    ]);
  });

  it('an export of everything has all custom contexts and documents, named or not', async () => {
    const files = await exported(held);
    for (const name of ['terms', 'deep', 'early', 'other']) assert.ok(files[`contexts/${name}.jsonld`]);
    assert.equal(files['contexts/A~M.jsonld'], undefined);
    assert.ok(files['contexts/B~N.versions/2.jsonld']);
    const urls = JSON.parse(files['references/urls.json'] ?? '{}') as Readonly<Record<string, string>>;
    assert.deepEqual(Object.keys(urls), Object.keys(held.references ?? {}));
    for (const file of Object.values(urls)) assert.ok(files[`references/${file}`]);
  });

  it('an export of a domain that is not there is refused before it begins', async () => {
    await assert.rejects(exportAll(schemasOf(held), 'C', BASE_URL), { kind: 'notFound' });
  });

  it('an export without documents has no table of URLs', async () => {
    assert.deepEqual(await paths({ domains: { A: {} } }), ['settings/A.json']);
  });
});
