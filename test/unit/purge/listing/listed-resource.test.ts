import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Projection } from '../../../../sidecar/purge/broker/index.js';
import { entities, temporalEntities } from '../../../../sidecar/purge/listing/index.js';
import { projectionParameters, PROJECTION_WORDS } from '../../../../sidecar/purge/listing/page.js';
import { formatParameters } from '../../../../sidecar/purge/query/index.js';

const SELECTION = [{ name: 'type', value: 'T' }];
const PROJECTIONS: readonly Projection[] = ['pick', 'key-values', 'recent-times', 'recent', 'times', 'none'];

const parametersOf = (projection: Projection, instances?: number) =>
  formatParameters(
    projectionParameters(projection, {
      selection: SELECTION,
      ...(instances === undefined ? {} : { instances }),
    }),
  );

describe('a collection of the broker', () => {
  it('a collection is answered with 200, 201 or 203, a history also with 206, and with nothing else', () => {
    const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
    const answersOf = ({ answered }: ReturnType<typeof entities>) =>
      statuses.filter((status) => answered.has(status));
    for (const content of ['ids', 'attributes'] as const)
      assert.deepEqual(answersOf(entities(content)), [200, 201, 203]);
    assert.deepEqual(answersOf(temporalEntities()), [200, 201, 203, 206]);
    assert.deepEqual([entities('ids').answered.size, temporalEntities().answered.size], [3, 4]);
  });

  it('histories are asked for the newest instances and the times as needed, giving up one after the other', () => {
    const shapes = (isBare: boolean, needsTimes: boolean) =>
      temporalEntities().projectionsOf({ selection: SELECTION, isBare, needsTimes });
    assert.deepEqual(shapes(false, true), ['recent-times', 'recent', 'times', 'none']);
    assert.deepEqual(shapes(false, false), ['recent', 'none']);
    assert.deepEqual(shapes(true, true), ['times', 'none']);
    assert.deepEqual(shapes(true, false), ['none']);
  });
});

describe('the parameters that ask for less', () => {
  it('parameters that ask for less are recognised by each name in a problem, in any case, as whole words', () => {
    for (const projection of PROJECTIONS) {
      const sent = parametersOf(projection)
        .split('&')
        .filter((each) => each !== '');
      for (const [name = '', value = ''] of sent.map((each) => each.split('='))) {
        for (const word of [name, ...(name === 'options' ? [value] : [])]) {
          assert.match(
            `The parameter ${word.toUpperCase()} is unknown.`,
            PROJECTION_WORDS[projection] ?? /$^/,
          );
        }
        assert.doesNotMatch(`The parameter x${name}s is unknown.`, PROJECTION_WORDS[projection] ?? /./);
      }
      assert.equal(PROJECTION_WORDS[projection] === undefined, sent.length === 0, projection);
      assert.doesNotMatch('The limit is too large.', PROJECTION_WORDS[projection] ?? /$^/);
    }
  });
});
