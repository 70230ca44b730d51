import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TypeModels } from '../../../../sidecar/schemas/models/type-models.js';
import { WorkbenchRefusedError } from '../../../../sidecar/schemas/models/workbench-errors.js';
import type { Model } from '../../../../sidecar/store/records.js';

const modelOf = (title: string, status = 'published') => {
  const [domain = '', name = ''] = title.split('/');
  return { domain, name, status } as unknown as Model;
};

/** An entity of a body, by its types; an IRI has a local name. */
const entity = (pointer: string, ...types: readonly string[]) => ({
  pointer,
  types: types.map((type) => ({ type, localName: type.split('/').at(-1) ?? '' })),
});

type Entities = readonly ReturnType<typeof entity>[];

/** @param models the models of each type, by `type` or `type in domain` */
function typeModelsOf(models: Readonly<Record<string, readonly Model[]>>) {
  const asked: string[] = [];
  const store = {
    now: 1,
    revision: async () => Promise.resolve(String(store.now)),
    models: {
      search: async ({ type, domain }: { type: string; domain?: string | undefined }, page: unknown) => {
        assert.deepEqual(page, { limit: 10, offset: 0 });
        const key = domain === undefined ? type : `${type} in ${domain}`;
        asked.push(key);
        return Promise.resolve({ items: models[key] ?? [] });
      },
    },
  };
  const schemas = { of: async ({ domain, name }: Model) => Promise.resolve({ of: `${domain}/${name}` }) };
  type Parts = ConstructorParameters<typeof TypeModels>;
  const typeModels = new TypeModels(store as unknown as Parts[0], schemas as unknown as Parts[1]);
  const titled = (all: readonly { readonly model: Model; readonly types: readonly string[] }[]) =>
    all.map(({ model, types }) => [`${model.domain}/${model.name}`, types] as const);
  return {
    asked,
    store,
    find: async (found: Entities, domain?: string) => {
      const { models: all, unknownTypes } = await typeModels.of(found, domain);
      return { models: titled(all), unknownTypes };
    },
  };
}

async function refusal(
  found: Entities,
  models: Readonly<Record<string, readonly Model[]>> = {},
  domain?: string,
): Promise<WorkbenchRefusedError> {
  try {
    await typeModelsOf(models).find(found, domain);
  } catch (error) {
    if (error instanceof WorkbenchRefusedError) return error;
    throw error;
  }
  return assert.fail('was not refused');
}

describe('the models of types', () => {
  it('each type of a body is looked up once, and each model is used once with all of its types', async () => {
    const { find, asked } = typeModelsOf({
      Lamp: [modelOf('City/Lamp')],
      Lantern: [modelOf('City/Lamp')],
      Bench: [modelOf('Park/Bench')],
    });
    const found = await find([
      entity('/0', 'Lamp'),
      entity('/1', 'Bench', 'Lamp'),
      entity('/2', 'Lantern', 'Unknown'),
    ]);
    assert.deepEqual(asked, ['Lamp', 'Bench', 'Lantern', 'Unknown']);
    assert.deepEqual(found, {
      models: [
        ['City/Lamp', ['Lamp', 'Lantern']],
        ['Park/Bench', ['Bench']],
      ],
      unknownTypes: ['Unknown'],
    });
  });

  it('a type that is an IRI is looked up by its last part if no model has the whole IRI', async () => {
    const [iri, other] = ['https://terms.example/Lamp', 'https://terms.example/Bench'];
    const { find, asked } = typeModelsOf({
      [iri]: [modelOf('City/Whole')],
      Lamp: [modelOf('City/Lamp')],
      Bench: [modelOf('City/Bench')],
    });
    const { models } = await find([entity('', iri), entity('', other)]);
    assert.deepEqual(asked, [iri, other, 'Bench']);
    assert.deepEqual(models, [
      ['City/Whole', [iri]],
      ['City/Bench', [other]],
    ]);
  });

  it('a type is looked up in the given domain, once until the store is changed', async () => {
    const { find, asked, store } = typeModelsOf({ 'Lamp in City': [modelOf('City/Lamp')] });
    const types = [entity('', 'https://terms.example/Lamp')];
    const reads = ['https://terms.example/Lamp in City', 'Lamp in City'];
    for (let times = 0; times < 2; times += 1) await find(types, 'City');
    assert.deepEqual(asked, reads);
    store.now = 2;
    await find(types, 'City');
    assert.deepEqual(asked, [...reads, ...reads]);
  });

  it('a draft that names a whole IRI yields to a published model that has its last part as type', async () => {
    const iri = 'https://terms.example/Lamp';
    const chosen = async (...models: readonly Model[]) => {
      const { find } = typeModelsOf({ [iri]: [modelOf('A/Whole', 'draft')], Lamp: models });
      return (await find([entity('', iri)])).models[0]?.[0];
    };
    assert.equal(await chosen(modelOf('B/Lamp')), 'B/Lamp');
    assert.equal(await chosen(modelOf('B/Lamp', 'draft')), 'A/Whole');
    assert.equal(await chosen(), 'A/Whole');
  });

  it('a body is refused if the types of an entity have no model, with each such entity', async () => {
    const error = await refusal(
      [entity('/0', 'Lamp'), entity('/1', 'A', 'B'), entity('/2', 'A', 'Lamp'), entity('/3', 'C')],
      { Lamp: [modelOf('City/Lamp')] },
    );
    assert.equal(error.kind, 'notFound');
    assert.deepEqual(error.errors, [
      { pointer: '/1', detail: 'has no model for its type "A", "B"' },
      { pointer: '/3', detail: 'has no model for its type "C"' },
    ]);
    assert.equal(error.message, 'The entity at /1 has no model for its type "A", "B".');
    const inDomain = await refusal([entity('', 'A')], {}, 'City');
    assert.equal(inDomain.message, 'The entity has no model for its type "A" in the domain City.');
  });

  it('five types of a refused entity are listed at most, each shortened', async () => {
    const detailOf = async (...types: readonly string[]) =>
      (await refusal([entity('', ...types)])).errors[0]?.detail ?? '';
    assert.match(await detailOf('A', 'B', 'C', 'D', 'E'), /"A", "B", "C", "D", "E"$/);
    assert.match(await detailOf('A', 'B', 'C', 'D', 'E', 'F'), /"A", "B", "C", "D", "E", …$/);
    assert.ok((await detailOf('x'.repeat(1000))).length < 250);
  });
});
