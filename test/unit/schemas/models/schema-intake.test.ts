import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import type { RemoteDocuments } from '../../../../sidecar/schemas/remote/remote-documents.js';
import { ContextBaseError, SchemaNotAcceptedError } from '../../../../sidecar/schemas/models/errors.js';
import type { VersionSource } from '../../../../sidecar/schemas/models/accept-version.js';
import { modelTasks, type ServiceWorkers } from '../../../../sidecar/schemas/models/model-tasks.js';
import type { AcceptedOwnContext, OwnContexts } from '../../../../sidecar/schemas/models/own-context.js';
import { SchemaIntake, type VersionInput } from '../../../../sidecar/schemas/models/schema-intake.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import { rejection } from './harness.js';

const BASE = 'https://terms.example/';
const STORED = 'https://stored.example/x';
const FETCHED = 'https://allowed.example/x';
const KEY = { domain: 'city', name: 'Lamp' };
const LAMP = { type: 'object', properties: { power: {}, height: { properties: { unit: {} } } } };
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** An intake with tasks that run here, and what it does, in order. */
function intakeOf(own: Partial<AcceptedOwnContext> = {}) {
  const done: unknown[] = [];
  const stored = '{"type":"number"}';
  const store = {
    references: {
      spellings: () => Promise.resolve([]),
      texts: async ([uri]: readonly string[]) =>
        new Map(
          uri === STORED ? [[uri, { uri, text: stored, sha256: hash(stored), size: stored.length }]] : [],
        ),
      put: async ({ uri }: { readonly uri: string }, expected: string) => done.push([uri, expected]),
    },
  } as unknown as SchemaStore;
  const remote = {
    allows: (url: string) => url.startsWith('https://allowed.example/'),
    fetch: async (url: string) => ({ url, text: '{}', document: { type: 'string' } }),
  } as unknown as RemoteDocuments;
  const workers = {
    run: async (kind: 'acceptVersion', { own: _own, ...input }: VersionSource) => modelTasks[kind](input),
  } as unknown as ServiceWorkers;
  const ownContexts = {
    named: (given: unknown) => given,
    accept: async (...given: readonly unknown[]) => {
      done.push(given.slice(1, 3));
      const keepReferences = async () => void done.push('own');
      return { ...{ text: 'own', ownTerms: [], embeddedUrls: [], warnings: [], keepReferences }, ...own };
    },
  } as unknown as OwnContexts;
  const intake = new SchemaIntake({
    ...{ store, remote, workers, contextBase: BASE, ownContexts },
    descriptions: { known: () => undefined },
  });
  const accept = (schema: JsonValue, more: Partial<VersionInput> = {}) =>
    intake.accept(KEY, { schema, contextBase: undefined, context: undefined, baseUrl: '', ...more });
  return { accept, done };
}

describe('taking in the schema of a model', () => {
  it('the terms of a model are its name, its attributes and the members of their values, below its own base or the common one', async () => {
    const { accept, done } = intakeOf();
    for (const [contextBase, base] of [
      [undefined, BASE],
      ['https://own.example/', 'https://own.example/'],
    ] as const) {
      const { context, warnings } = await accept(LAMP, { contextBase });
      const terms = Object.fromEntries(
        ['Lamp', 'height', 'power', 'unit'].map((name) => [name, base + name]),
      );
      assert.deepEqual(JSON.parse(context), { '@context': [terms, coreContextUrl()] });
      assert.deepEqual(warnings, []);
    }
    assert.deepEqual(done, []);
  });

  it('a base that is none, and a schema that is no object, are refused with their places', async () => {
    const { accept } = intakeOf();
    await rejection(accept(LAMP, { contextBase: 'https://own.example' }), ContextBaseError);
    for (const schema of [true, null, [], 'text']) {
      const { code, errors } = await rejection(accept(schema), SchemaNotAcceptedError);
      assert.deepEqual(
        [code, errors],
        ['SCHEMA_INVALID', [{ pointer: '/schema', detail: 'must be a JSON object' }]],
      );
    }
    const { errors } = await rejection(
      accept({ properties: { power: { type: 1 } } }),
      SchemaNotAcceptedError,
    );
    assert.ok(errors.length > 0 && errors.every(({ pointer }) => pointer.startsWith('/schema/properties/')));
  });

  it('the documents of a schema are named with their hashes, and those that were fetched are stored, then those of its context', async () => {
    const { accept, done } = intakeOf();
    const schema = { properties: { one: { $ref: STORED }, two: { $ref: FETCHED } } };
    const { references, keepReferences } = await accept(schema, { context: { one: 'urn:one' } });
    assert.deepEqual([...references].sort(), [
      [FETCHED, hash('{"type":"string"}')],
      [STORED, hash('{"type":"number"}')],
    ]);
    done.length = 0;
    await keepReferences();
    assert.deepEqual(done, [[FETCHED, 'absent'], 'own']);
  });

  it('a document that is nowhere is named in the refusal, with why', async () => {
    const { accept } = intakeOf();
    const uri = 'https://other.example/x';
    const { errors, missingUris } = await rejection(accept({ $ref: uri }), SchemaNotAcceptedError);
    assert.deepEqual(missingUris, [uri]);
    assert.match(errors[0]?.detail ?? '', /neither stored here nor from an allowed origin/);
  });

  it('warnings of the own context are those on names and the type of the model and on keywords, but for what generated terms say', async () => {
    const warning = (code: string, term: string) => ({ code, pointer: `/context/${term}`, detail: term });
    const { accept } = intakeOf({
      warnings: [
        ...['power', 'unit', 'Lamp', '@vocab', 'stranger'].map((term) => warning('coercion', term)),
        ...[warning('core-term', 'power'), warning('core-context-not-last', 'power')],
      ] as never,
      ownTerms: ['name'],
    });
    const schema = { properties: { ...LAMP.properties, name: {}, location: {}, '@at': {} } };
    const { warnings } = await accept(schema, { context: {} });
    assert.deepEqual(
      warnings.map(({ code, term }) => `${code} ${term}`),
      [
        ...['no-term @at', 'core-term location'],
        ...['power', 'unit', 'Lamp', '@vocab'].map((term) => `coercion ${term}`),
      ],
    );
  });

  it('a schema that asks for other types than the name of the model says so, and these are terms, too', async () => {
    const typed = (type: JsonValue): JsonValue => ({ properties: { type } });
    for (const [schema, types, ending] of [
      [typed({ const: 'Lamp' }), [], undefined],
      [typed({ enum: ['Lamp', 'Light'] }), [], undefined],
      [
        typed({ const: 'Light' }),
        ['Light'],
        'have the type "Light", as the schema asks for, not "Lamp", its name.',
      ],
      [
        typed({ enum: ['Light', 'Torch'] }),
        ['Light', 'Torch'],
        '"Light" or "Torch", as the schema asks for, not "Lamp", its name.',
      ],
      [
        typed({ const: 5 }),
        [],
        'does not allow entities of the type "Lamp", the name of the model, nor of any other.',
      ],
    ] as const) {
      const { warnings, context } = await intakeOf().accept(schema);
      const [warning, ...others] = warnings;
      assert.deepEqual(
        [warning?.code, warning?.term, others],
        [...(ending === undefined ? [undefined, undefined] : ['other-type', 'Lamp']), []],
      );
      assert.ok(ending === undefined || warning?.detail.endsWith(ending) === true, warning?.detail);
      const { '@context': parts } = JSON.parse(context) as { '@context': readonly object[] };
      assert.deepEqual(Object.keys(parts[0] ?? {}), [...new Set(['Lamp', ...types])].sort());
    }
  });
});
