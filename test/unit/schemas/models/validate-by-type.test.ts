import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Model } from '../../../../sidecar/store/records.js';
import {
  UnreadableBodyError,
  WorkbenchRefusedError,
} from '../../../../sidecar/schemas/models/workbench-errors.js';
import { validatedByType } from '../../../../sidecar/schemas/models/validate-by-type.js';
import type { RunOptions } from '../../../../sidecar/shared/workers/tasks.js';

type Parts = Parameters<typeof validatedByType>[0];

const modelOf = (title: string, status = 'published') => {
  const [domain = '', name = ''] = title.split('/');
  return { domain, name, status } as unknown as Model;
};

/** An entity of a body, by the types that it has; an IRI has a local name. */
const entity = (pointer: string, ...types: readonly string[]) => ({
  pointer,
  types: types.map((type) => ({ type, localName: type.split('/').at(-1) ?? '' })),
});

interface Setting {
  readonly found: readonly ReturnType<typeof entity>[] | object;
  /** The models of each type, by `type` or `type in domain`. */
  readonly models?: Readonly<Record<string, readonly Model[]>>;
  readonly deprecatedAt?: number;
  readonly options?: Parameters<typeof validatedByType>[2];
  /** What the validations and preparations give; an answer when there is none left. */
  readonly outcomes?: readonly unknown[];
}

async function validating({ found, models = {}, deprecatedAt, options = {}, outcomes = [] }: Setting) {
  const asked: string[] = [];
  const runs: { kind: string; input: Readonly<Record<string, unknown>>; options: RunOptions | undefined }[] =
    [];
  const left = [...outcomes];
  const parts = {
    deadlineMs: 100,
    search: {
      ofType: (type: string, domain: string | undefined) => {
        const key = domain === undefined ? type : `${type} in ${domain}`;
        asked.push(key);
        return Promise.resolve(models[key] ?? []);
      },
    },
    schemas: {
      of: ({ domain, name }: Model, version: number | undefined) =>
        Promise.resolve({
          contentHash: `${domain}/${name} ${version}`,
          lifecycle: { status: 'published', deprecatedAt, sunsetAt: undefined },
          text: () => Promise.resolve(`schema of ${domain}/${name}`),
        }),
    },
    workers: {
      run: (kind: string, input: Readonly<Record<string, unknown>>, given?: RunOptions) => {
        runs.push({ kind, input, options: given });
        if (kind === 'typesInBody') return Promise.resolve(Array.isArray(found) ? { found } : found);
        return Promise.resolve(left.shift() ?? { answer: 'done' });
      },
    },
  } as unknown as Parts;
  const answer = await validatedByType(parts, 'text', options);
  return { answer, asked, runs };
}

const refusal = async (setting: Setting): Promise<WorkbenchRefusedError> => {
  try {
    await validating(setting);
  } catch (error) {
    if (error instanceof WorkbenchRefusedError) return error;
    throw error;
  }
  return assert.fail('was not refused');
};

const titlesIn = (input: Readonly<Record<string, unknown>> | undefined) =>
  ((input?.['models'] ?? []) as readonly { title: string; types: readonly string[] }[]).map(
    ({ title, types }) => [title, types] as const,
  );

describe('validation by the types of entities', () => {
  it('each type of a body is looked up once, and each model is taken once with all of its types', async () => {
    const { answer, asked, runs } = await validating({
      found: [entity('/0', 'Lamp'), entity('/1', 'Bench', 'Lamp'), entity('/2', 'Lantern', 'Unknown')],
      models: {
        Lamp: [modelOf('City/Lamp')],
        Lantern: [modelOf('City/Lamp')],
        Bench: [modelOf('Park/Bench')],
      },
    });
    assert.equal(answer, 'done');
    assert.deepEqual(asked, ['Lamp', 'Bench', 'Lantern', 'Unknown']);
    assert.deepEqual(titlesIn(runs.at(-1)?.input), [
      ['City/Lamp', ['Lamp', 'Lantern']],
      ['Park/Bench', ['Bench']],
    ]);
    assert.equal(runs.at(-1)?.options?.queueKey, 'validate City/Lamp undefined Park/Bench undefined');
  });

  it('a type that is an IRI is looked up by the last part of it, where nothing has the whole', async () => {
    const [iri, other] = ['https://terms.example/Lamp', 'https://terms.example/Bench'];
    const { asked, runs } = await validating({
      found: [entity('', iri), entity('', other)],
      models: {
        [iri]: [modelOf('City/Whole')],
        Lamp: [modelOf('City/Lamp')],
        Bench: [modelOf('City/Bench')],
      },
    });
    assert.deepEqual(asked, [iri, other, 'Bench']);
    assert.deepEqual(
      titlesIn(runs.at(-1)?.input).map(([title]) => title),
      ['City/Whole', 'City/Bench'],
    );
  });

  it('a draft counts only where no other model has the type; a deprecated model counts like a published one', async () => {
    const chosen = async (...models: readonly Model[]) =>
      titlesIn(
        (await validating({ found: [entity('', 'Lamp')], models: { Lamp: models } })).runs.at(-1)?.input,
      )[0]?.[0];
    const draft = modelOf('A/Lamp', 'draft');
    assert.equal(await chosen(draft), 'A/Lamp');
    assert.equal(await chosen(draft, modelOf('B/Lamp')), 'B/Lamp');
    assert.equal(await chosen(draft, modelOf('B/Lamp', 'deprecated')), 'B/Lamp');
  });

  it('a draft that names a whole IRI gives way to a published model that has its last part as type', async () => {
    const iri = 'https://terms.example/Lamp';
    const chosen = async (...models: readonly Model[]) => {
      const all = { [iri]: [modelOf('A/Whole', 'draft')], Lamp: models };
      const { runs } = await validating({ found: [entity('', iri)], models: all });
      return titlesIn(runs.at(-1)?.input).map(([title]) => title);
    };
    assert.deepEqual(await chosen(modelOf('B/Lamp')), ['B/Lamp']);
    assert.deepEqual(await chosen(modelOf('B/Lamp', 'draft')), ['A/Whole']);
    assert.deepEqual(await chosen(), ['A/Whole']);
  });

  it('a domain, a form, strictness and the signal are handed on, each where it belongs', async () => {
    const { signal } = new AbortController();
    const { asked, runs } = await validating({
      found: [entity('', 'https://terms.example/Lamp')],
      models: { 'Lamp in City': [modelOf('City/Lamp')] },
      options: { domain: 'City', form: 'concise', isStrict: false, signal },
      deprecatedAt: Date.UTC(2026, 0, 31),
    });
    assert.deepEqual(asked, ['https://terms.example/Lamp in City', 'Lamp in City']);
    const [types, validation] = runs;
    assert.deepEqual(types?.input, { text: 'text', form: 'concise' });
    const { models, ...rest } = validation?.input ?? {};
    assert.deepEqual(rest, { text: 'text', form: 'concise', isStrict: false });
    assert.match(JSON.stringify(models), /"deprecation":"is of the model Lamp, .*2026-01-31"/);
    for (const { options } of runs) {
      assert.equal(options?.signal, signal);
      assert.equal(options.mayFinish, true);
    }
    const plain = await validating({ found: [entity('', 'Lamp')], models: { Lamp: [modelOf('City/Lamp')] } });
    assert.deepEqual(Object.keys(plain.runs.at(-1)?.input ?? {}).sort(), ['models', 'text']);
  });

  it('a body with an entity of which no type has a model is refused, with each such entity', async () => {
    const error = await refusal({
      found: [entity('/0', 'Lamp'), entity('/1', 'A', 'B'), entity('/2', 'A', 'Lamp'), entity('/3', 'C')],
      models: { Lamp: [modelOf('City/Lamp')] },
    });
    assert.equal(error.code, 'TYPE_UNKNOWN');
    assert.deepEqual(error.errors, [
      { pointer: '/1', detail: 'has no model for its type "A", "B"' },
      { pointer: '/3', detail: 'has no model for its type "C"' },
    ]);
    assert.equal(error.message, 'The entity at /1 has no model for its type "A", "B".');
    const inDomain = await refusal({ found: [entity('', 'A')], options: { domain: 'City' } });
    assert.equal(inDomain.message, 'The entity has no model for its type "A" in the domain City.');
  });

  it('the types of a refused entity are five at most, and each is cut', async () => {
    const detailOf = async (...types: readonly string[]) =>
      (await refusal({ found: [entity('', ...types)] })).errors[0]?.detail ?? '';
    assert.match(await detailOf('A', 'B', 'C', 'D', 'E'), /"A", "B", "C", "D", "E"$/);
    assert.match(await detailOf('A', 'B', 'C', 'D', 'E', 'F'), /"A", "B", "C", "D", "E", …$/);
    assert.ok((await detailOf('x'.repeat(1000))).length < 250);
  });

  it('a body with a type of several models is refused, with these and what to do', async () => {
    const error = await refusal({
      found: [entity('/0', 'Lamp', 'Bench'), entity('/1', 'Lamp')],
      models: {
        Lamp: [modelOf('City/Lamp'), modelOf('Park/Lamp')],
        Bench: [modelOf('City/Bench')],
      },
    });
    assert.equal(error.code, 'TYPE_AMBIGUOUS');
    const detail = '"Lamp" is the type of City/Lamp and Park/Lamp';
    assert.deepEqual(error.errors, [
      { pointer: '/0', detail },
      { pointer: '/1', detail },
    ]);
    assert.match(error.message, /^The entity at \/0 has no single model: .*; name the domain \(\?domain=\)/);
  });

  it('a body that cannot be read, or is refused for what it is, is refused with that', async () => {
    const unreadable = { line: 1, column: 2, detail: 'expected a colon', isTooDeep: false };
    await assert.rejects(validating({ found: { unreadable } }), UnreadableBodyError);
    const refused = { code: 'BODY_INVALID', detail: 'no entity', errors: [{ pointer: '/x', detail: 'y' }] };
    const error = await refusal({ found: { refused } });
    assert.deepEqual([error.code, error.errors], ['BODY_INVALID', refused.errors]);
  });

  it('a worker is sent the schemas that it asks for and no others, also those that only the preparation needs', async () => {
    const [lamp, bench] = ['City/Lamp undefined', 'City/Bench undefined'];
    const { runs } = await validating({
      found: [entity('/0', 'Lamp'), entity('/1', 'Bench')],
      models: { Lamp: [modelOf('City/Lamp')], Bench: [modelOf('City/Bench')] },
      outcomes: [{ needs: [lamp] }, { needs: [bench] }, { needs: [lamp] }, { areKept: true }],
    });
    const sent = runs
      .filter(({ kind }) => kind === 'prepareByType')
      .map(({ input }) => input['schemas'] as readonly (readonly [string, string])[]);
    assert.deepEqual(sent, [
      [[lamp, 'schema of City/Lamp']],
      [
        [lamp, 'schema of City/Lamp'],
        [bench, 'schema of City/Bench'],
      ],
    ]);
    assert.deepEqual(runs.find(({ kind }) => kind === 'prepareByType')?.input['models'], [
      { key: lamp, name: 'Lamp' },
      { key: bench, name: 'Bench' },
    ]);
    assert.equal(runs.at(-1)?.kind, 'validateByType');
  });
});
