import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImportPlan, PlannedModel } from '../../../../sidecar/schemas/repository/import-plan.js';
import type { SchemaService } from '../../../../sidecar/schemas/models/index.js';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import { ImportRun } from '../../../../sidecar/schemas/repository/import-run.js';
import { invalidMember } from '../../../../sidecar/schemas/models/errors.js';

const OPTIONS = { dryRun: false, baseUrl: 'http://gateway.example' };

type Call = readonly [what: string, ...details: readonly unknown[]];

interface Service {
  /** Models and domains that are there. */
  readonly there?: ReadonlySet<string>;
  /** Models that were made with earlier documents. */
  readonly outdated?: readonly string[];
  /** What a call fails with, by what it is and its name. */
  readonly failure?: (call: string) => Error | undefined;
}

/** A service that takes everything, and notes the writes. */
function serviceOf({ there = new Set(), outdated = [], failure }: Service) {
  const calls: Call[] = [];
  const known = new Set(there);
  const noted = async <Result>(what: string, result: Result, ...details: readonly unknown[]) => {
    calls.push([what, ...details]);
    const error = failure?.(what);
    if (error !== undefined) throw error;
    return Promise.resolve(result);
  };
  const report = { overall: 'compatible', differences: [] };
  const titleOf = ({ domain, name }: { domain: string; name: string }) => `${domain}/${name}`;
  const schemas = {
    store: {
      domains: {
        get: (name: string) =>
          known.has(name) || there.has(name)
            ? Promise.resolve({ name })
            : Promise.reject(new NotFoundError({ kind: 'domain', name })),
      },
      models: {
        get: (key: { domain: string; name: string }) =>
          known.has(titleOf(key))
            ? Promise.resolve({})
            : Promise.reject(new NotFoundError({ kind: 'model', ...key })),
        texts: () => Promise.resolve({ schema: '{}' }),
      },
    },
    domains: {
      create: async ({ name, ...settings }: { name: string }) => {
        await noted(`domain ${name}`, undefined, settings);
        known.add(name);
      },
    },
    references: {
      spellings: () => Promise.resolve([]),
      put: (uri: string, document: unknown) => noted(`document ${uri}`, { outcome: 'created' }, document),
      outdatedModels: (uri: string) =>
        noted(
          `dependents ${uri}`,
          outdated.map((name) => ({ domain: 'City', name })),
        ),
    },
    contexts: {
      document: (name: string) => Promise.reject(new NotFoundError({ kind: 'context', name })),
      followers: () => Promise.resolve([]),
      create: (name: string, value: unknown) =>
        noted(`context ${name}`, { isNewVersion: true, context: { currentVersion: 1 } }, value),
    },
    models: {
      put: (key: { domain: string; name: string }, change: unknown, options: object) => {
        const outcome = known.has(titleOf(key)) ? 'version' : 'created';
        if (!('dryRun' in options) || options.dryRun === false) known.add(titleOf(key));
        return noted(`model ${titleOf(key)}`, { outcome, change: report }, change, options);
      },
    },
    schemas: {
      of: (key: { domain: string; name: string }) => Promise.resolve({ of: titleOf(key) }),
      ofNew: (key: { domain: string; name: string }, schema: unknown) =>
        Promise.resolve({ of: titleOf(key), tried: schema }),
    },
    comparison: { byContexts: () => Promise.resolve(report) },
  };
  return { schemas: schemas as unknown as SchemaService, calls };
}

const model = (name: string, more: Partial<PlannedModel> = {}): PlannedModel => ({
  ...{ path: `${name}.json`, domain: 'City', name, versions: [], examples: [] },
  ...more,
});

/** Imports files by a plan. */
async function importing(
  service: Service,
  plan: Partial<ImportPlan>,
  files: Readonly<Record<string, unknown>>,
  options: { dryRun?: boolean; signal?: AbortSignal } = {},
) {
  const { schemas, calls } = serviceOf(service);
  const whole: ImportPlan = {
    ...{ domains: [], domainSettings: [], documents: [], contexts: [], contextVersions: new Map() },
    ...{ models: [], refused: [], ignored: 0 },
    ...plan,
  };
  const checked: unknown[] = [];
  const run = new ImportRun(
    {
      schemas,
      workbench: {
        validateAgainst: (schema, _key, text) => {
          checked.push([schema, text]);
          const errors = text.includes('wrong') ? [{ pointer: '', detail: 'is wrong' }] : [];
          return Promise.resolve(JSON.stringify([{ valid: true, errors: [] }, { errors }, { errors }]));
        },
      },
      ...{ clock: { now: () => 0, sleep: () => Promise.resolve() }, deadlineMs: 1000 },
    },
    { ...OPTIONS, ...options },
    {
      files: Object.entries(files).map(([path, value]) => ({
        path,
        bytes: Buffer.from(JSON.stringify(value)),
      })),
      ...{ refused: [], ignored: 0 },
    },
    whole,
  );
  const report = await run.run([{ path: 'broken.json', reason: 'It is broken.' }], 3);
  return { report, calls, checked };
}

const writes = (calls: readonly Call[]) => calls.map(([what]) => what);

describe('the run of an import', () => {
  it('an earlier version that is refused is reported, and the others are stored', async () => {
    let count = 0;
    const failure = () => ((count += 1) === 1 ? invalidMember('name', 'must be another one') : undefined);
    const { report } = await importing(
      { failure },
      { models: [model('Lamp', { versions: ['v1.json', 'v2.json'] })] },
      { 'v1.json': {}, 'v2.json': {}, 'Lamp.json': {} },
    );
    assert.deepEqual(
      report.files.map(({ path, status }) => [path, status]),
      [
        ['Lamp.json', 'created'],
        ['broken.json', 'refused'],
        ['v1.json', 'refused'],
      ],
    );
  });

  it('a domain that is there is left as it is, also where another client makes it meanwhile', async () => {
    const plan = {
      domains: ['City'],
      domainSettings: [{ path: 's.json', domain: 'City' }],
      models: [model('Lamp')],
    };
    const files = { 's.json': { description: 'A city.' }, 'Lamp.json': {} };
    const there = await importing({ there: new Set(['City']) }, plan, files);
    assert.deepEqual(writes(there.calls), ['model City/Lamp']);
    const failure = (call: string) =>
      call === 'domain City' ? invalidMember('name', 'is taken') : undefined;
    const meanwhile = new Set<string>();
    const overtaken = (call: string) => {
      meanwhile.add('City');
      return failure(call);
    };
    const { report } = await importing({ there: meanwhile, failure: overtaken }, plan, files);
    assert.deepEqual([report.summary.domains, report.summary.created], [['City'], 1]);
    const refused = await importing({ failure }, plan, files);
    assert.deepEqual(refused.report.summary.domains, []);
    assert.deepEqual(
      refused.report.files.map(({ path, status }) => [path, status]),
      [
        ['Lamp.json', 'refused'],
        ['broken.json', 'refused'],
        ['s.json', 'refused'],
      ],
    );
    assert.match(refused.report.files[0]?.reason ?? '', /^Its domain City cannot be created\. .*is taken/);
    const created = await importing({}, plan, files);
    assert.deepEqual(created.calls[0], ['domain City', { description: 'A city.', compatibility: undefined }]);
    const wrong = await importing({}, plan, { ...files, 's.json': { compatibility: 'some' } });
    assert.deepEqual(writes(wrong.calls), []);
    assert.match(wrong.report.files[2]?.reason ?? '', /compatibility must be/);
  });

  it('an import whose client has left writes nothing more, and says why it ended', async () => {
    for (const last of ['domain City', 'document urn:x', 'context terms', 'model City/Bench']) {
      const leaving = new AbortController();
      const calls: string[] = [];
      await assert.rejects(
        importing(
          {
            failure: (call) => {
              calls.push(call);
              if (call === last) leaving.abort(new Error('gone'));
              return undefined;
            },
          },
          {
            domains: ['City'],
            documents: [{ path: 'x.json', url: 'urn:x', mayReplace: true }],
            contexts: [{ path: 'c.jsonld', name: 'terms' }],
            models: [model('Bench'), model('Lamp')],
          },
          { 'x.json': {}, 'c.jsonld': { '@context': {} }, 'Bench.json': {}, 'Lamp.json': {} },
          { signal: leaving.signal },
        ),
        /gone/,
      );
      assert.equal(calls.at(-1), last);
    }
  });

  it('what is refused because the client has left ends the import, and is no refusal of a file', async () => {
    const leaving = new AbortController();
    const failure = () => {
      leaving.abort(new Error('gone'));
      return invalidMember('name', 'must be another one');
    };
    await assert.rejects(
      importing({ failure }, { models: [model('Lamp')] }, { 'Lamp.json': {} }, { signal: leaving.signal }),
      /gone/,
    );
  });

  it('an outage ends an import with its own error', async () => {
    const broken = new StoreUnavailableError('down');
    for (const at of ['document urn:x', 'context terms', 'model City/Lamp', 'domain City'])
      await assert.rejects(
        importing(
          { failure: (call) => (call === at ? broken : undefined) },
          {
            domains: ['City'],
            documents: [{ path: 'x.json', url: 'urn:x', mayReplace: true }],
            contexts: [{ path: 'c.jsonld', name: 'terms' }],
            models: [model('Lamp')],
          },
          { 'x.json': {}, 'c.jsonld': { '@context': {} }, 'Lamp.json': {} },
        ),
        broken,
      );
  });
});
