import assert from 'node:assert/strict';
import { it } from 'node:test';
import { counted, text } from '../../../console/strings.js';

type Sentence = (...given: readonly unknown[]) => string;

/** All sentences with parameters, by their path. */
function sentencesIn(part: object, path = ''): readonly (readonly [string, Sentence])[] {
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    const at = `${path}.${name}`;
    if (typeof value === 'function') return [[at, value as Sentence] as const];
    return typeof value === 'object' && value !== null ? sentencesIn(value, at) : [];
  });
}

it('counts are singular for one, and grouped and plural for others', () => {
  for (const [unit, one, many] of [
    [undefined, '1 entity', '2,000 entities'],
    ['entities', '1 entity', '2,000 entities'],
    ['attributes', '1 attribute', '2,000 attributes'],
    ['datasets', '1 dataset', '2,000 datasets'],
    ['instances', '1 instance', '2,000 instances'],
    ['models', '1 model', '2,000 models'],
    ['others', '1 others', '2,000 others'],
  ] as const) {
    assert.deepEqual([counted(1, unit), counted(2000, unit)], [one, many]);
    assert.equal(counted(0, unit), many.replace('2,000', '0'));
  }
});

it('a sentence contains all of its parameters, with counts in groups of three digits or unchanged', () => {
  /** These parameters only choose the words, such as whether there may be more, and how many there are. */
  const silent = new Set(['.confirm.title 2', '.retention.enforceNow 2']);
  let said = 0;
  for (const [path, sentence] of sentencesIn(text)) {
    if (path === '.retention.matches') continue;
    const given = Array.from({ length: sentence.length }, (_, at) => 1111 * (at + 1));
    const words = sentence(...given);
    for (const [at, value] of given.entries()) {
      if (silent.has(`${path} ${at}`)) continue;
      assert.match(words, new RegExp(`${value}|${value.toLocaleString('en')}`), `${path} ${at}`);
      said += 1;
    }
  }
  assert.ok(said > 80);
  assert.match(text.retention.matches([1, 2000]), / 2 runs.* 1, 2,000\./);
});

it('a sentence about one thing is in the singular, and says whether there may be more', () => {
  const { confirm, preview, retention, models } = text;
  const { imports, references, contexts } = models;
  for (const [one, many] of [
    [preview.sample(1), preview.sample(2)],
    [models.found(1), models.found(2)],
    [models.domainWarnings(1), models.domainWarnings(2)],
    [models.removeWhat(1, 'c'), models.removeWhat(2, 'c')],
    [contexts.followersChanged(1), contexts.followersChanged(2)],
    [references.update(1), references.update(2)],
    [imports.go(1), imports.go(2)],
    [imports.ignored(1), imports.ignored(2)],
  ] as const) {
    const words = /\b(?:models|warnings|errors|files|changes)\b|The first \d|\d versions/;
    assert.doesNotMatch(one, words);
    assert.match(many, words);
  }
  for (const [sure, more] of [
    [confirm.title(5, 'entities', false), confirm.title(5, 'entities', true)],
    [retention.enforceNow(5, 'entities', false), retention.enforceNow(5, 'entities', true)],
  ] as const)
    assert.deepEqual([sure.includes('at least 5'), more.includes('at least 5')], [false, true]);
});
