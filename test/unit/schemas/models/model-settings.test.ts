import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSame, settingsAfter } from '../../../../sidecar/schemas/models/model-settings.js';
import type { Model, ModelSettings } from '../../../../sidecar/store/records.js';
import { InvalidBodyError } from '../../../../sidecar/shared/errors.js';

const NOW = Date.UTC(2026, 5, 1);
const LATER = '2027-01-31T00:00:00Z';
const LATER_AT = Date.parse(LATER);

const SETTINGS: ModelSettings = {
  description: 'A lamp.',
  contextBase: 'https://terms.example/',
  compatibility: 'full',
  status: 'published',
  deprecatedAt: undefined,
  sunsetAt: LATER_AT,
  ownContext: '{"a":1,"b":2}',
};

const modelOf = ({ compatibility, ...settings }: ModelSettings): Model =>
  ({ ...settings, name: 'Lamp', compatibility: 'backward', ownCompatibility: compatibility }) as Model;

const MODEL = modelOf(SETTINGS);

const after = (change: object, model: Model | undefined = MODEL, now = NOW) =>
  settingsAfter(model, SETTINGS.ownContext, change, now);

describe('the settings of a model after a change', () => {
  it('an omitted setting stays, and a setting that is null is removed', () => {
    assert.deepEqual(after({}), SETTINGS);
    for (const [change, gone] of [
      [{ description: null }, 'description'],
      [{ contextBase: null }, 'contextBase'],
      [{ compatibility: null }, 'compatibility'],
      [{ context: null }, 'ownContext'],
      [{ sunset: null }, 'sunsetAt'],
    ] as const)
      assert.deepEqual(after(change), { ...SETTINGS, [gone]: undefined });
  });

  it('each given setting is changed independently of the others', () => {
    for (const [change, now] of [
      [{ description: 'Other' }, { description: 'Other' }],
      [{ contextBase: 'urn:x:' }, { contextBase: 'urn:x:' }],
      [{ compatibility: 'none' }, { compatibility: 'none' }],
      [{ context: 'terms' }, { ownContext: '"terms"' }],
      [{ sunset: '2028-01-01T00:00:00+01:00' }, { sunsetAt: Date.UTC(2027, 11, 31, 23) }],
    ] as const)
      assert.deepEqual(after(change), { ...SETTINGS, ...now });
  });

  it('a context in which only the order of members differs is not a change', () => {
    assert.equal(after({ context: { b: 2, a: 1 } }).ownContext, SETTINGS.ownContext);
    assert.equal(after({ context: { b: 2, a: 2 } }).ownContext, '{"b":2,"a":2}');
  });

  it('a new model is published and has the given settings', () => {
    const fresh = settingsAfter(undefined, undefined, {}, NOW);
    assert.deepEqual(
      Object.entries(fresh).filter(([, value]) => value !== undefined),
      [['status', 'published']],
    );
    assert.equal(settingsAfter(undefined, undefined, { status: 'draft' }, NOW).status, 'draft');
  });

  it('the time of deprecation is that of the first deprecation, unless the model was published in between', () => {
    const then = NOW - 1000;
    assert.equal(after({ status: 'deprecated' }).deprecatedAt, NOW);
    assert.equal(after({ status: 'deprecated', deprecatedAt: then }).deprecatedAt, then);
    const deprecated = modelOf({ ...SETTINGS, status: 'deprecated', deprecatedAt: then });
    assert.equal(after({}, deprecated).deprecatedAt, then);
    assert.equal(after({ status: 'deprecated', deprecatedAt: NOW }, deprecated).deprecatedAt, then);
    assert.equal(after({ status: 'published' }, deprecated).deprecatedAt, undefined);
    assert.equal(after({ status: 'published', deprecatedAt: then }).deprecatedAt, undefined);
  });

  it('a sunset may be in the second in which the model was deprecated, and not before', () => {
    const at = (sunset: string, milliseconds: number) =>
      after({ status: 'deprecated', sunset }, MODEL, NOW + milliseconds).sunsetAt;
    assert.equal(at('2026-06-01T00:00:00Z', 0), NOW);
    assert.equal(at('2026-06-01T00:00:00Z', 999), NOW);
    assert.throws(() => at('2026-06-01T00:00:00Z', 1000), InvalidBodyError);
    assert.throws(() => at('2026-05-31T23:59:59.999Z', 0), /must not be before .*2026-06-01T00:00:00\.000Z/);
    // A model that is not deprecated may have a sunset in the past.
    assert.ok((after({ sunset: '2020-01-01T00:00:00Z' }).sunsetAt ?? NOW) < NOW);
  });

  for (const [sunset, isTaken] of [
    ['2027-01-31T00:00:00Z', true],
    ['2027-01-31t00:00:00z', true],
    ['2027-01-31T00:00:00.123456789Z', true],
    ['2027-01-31T00:00:00-12:30', true],
    ['2027-01-31T00:00:00', false],
    ['2027-01-31T00:00Z', false],
    ['2027-01-31', false],
    ['2027-13-31T00:00:00Z', false],
    ['2027-02-29T00:00:00Z', false],
    ['2027-01-31T25:00:00Z', false],
    ['x2027-01-31T00:00:00Z', false],
    ['2027-01-31T00:00:00Z ', false],
    ['', false],
  ] as const) {
    it(`a sunset is ${isTaken ? '' : 'not '}a date and time of RFC 3339: "${sunset}"`, () => {
      if (isTaken) assert.equal(typeof after({ sunset }).sunsetAt, 'number');
      else assert.throws(() => after({ sunset }), InvalidBodyError);
    });
  }
});

describe('the current settings of a model', () => {
  it('a model has other settings if any one of them differs', () => {
    assert.ok(isSame(MODEL, SETTINGS.ownContext, SETTINGS));
    for (const other of [
      { description: 'Other' },
      { contextBase: 'urn:x:' },
      { compatibility: 'none' },
      { status: 'deprecated' },
      { deprecatedAt: 1 },
      { sunsetAt: 1 },
      { ownContext: '{}' },
    ] as const)
      assert.ok(!isSame(MODEL, SETTINGS.ownContext, { ...SETTINGS, ...other }), JSON.stringify(other));
  });
});
