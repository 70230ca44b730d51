import type { ProbedParameter } from '../broker/capabilities.js';
import { compilePattern } from '../../ngsi-ld/pattern.js';
import { parseTypeSelector, type TypeSelector } from '../../ngsi-ld/type-selector.js';
import { parseScopeQuery } from '../../ngsi-ld/scope-query.js';
import { QueryRefusedError } from '../errors.js';
import type { Parameter } from '../query/parameters.js';
import { countVariants, impossibleTexts, type Term } from './impossible-text.js';
import { LONG_AGO, NO_SUCH, termOfQ } from './impossible-q.js';

/** A selection in which one filter, or one condition of it, cannot match. */
export interface Impossible {
  readonly filter: ProbedParameter;
  readonly selection: readonly Parameter[];
  /** What was made impossible, as the caller wrote it. */
  readonly about: string;
  /** Only by contradicting itself: a broker may refuse to read it for that reason. */
  readonly isContradiction: boolean;
}

/** Parameters of the filters that can be made impossible. */
const PROBED: readonly ProbedParameter[] = [
  ...(['type', 'attrs', 'q', 'idPattern', 'scopeQ', 'georel'] as const),
  ...(['datasetId', 'timerel', 'timeproperty'] as const),
];

/** Names in a list that is made impossible: enough to be a list, and not too long for a URL. */
const MAX_NAMES = 20;

/** Queries that the proof of one parameter may take. */
const MAX_CONDITIONS = 50;

/** The filters of a selection that can be made impossible. */
export function filtersOf(selection: readonly Parameter[]): readonly ProbedParameter[] {
  const names = new Set(selection.map(({ name }) => name));
  return PROBED.filter((filter) => names.has(filter));
}

/**
 * A selection with one of its filters made impossible, condition by condition, and everything else as it is. With a change of
 * how filters are proven, raise the format of notes (broker/note.ts): other gateways would believe proofs of the former kind.
 *
 * @param isHistory the query is of temporal entities
 * @throws QueryRefusedError for a filter of more conditions than can be proven
 */
export function impossibleSelections(
  selection: readonly Parameter[],
  filter: ProbedParameter,
  isHistory = false,
): readonly Impossible[] {
  const value = selection.find(({ name }) => name === filter)?.value ?? '';
  return replacementsOf(filter, value, isHistory).map(
    ({ parameters, about = value, isContradiction = false }) => {
      const replaced = new Set(parameters.map(({ name }) => name));
      if (filter === 'timerel') replaced.add('endTimeAt');
      const others = selection.filter(({ name }) => !replaced.has(name));
      return { filter, selection: [...others, ...parameters], about, isContradiction };
    },
  );
}

interface Replacement {
  readonly parameters: readonly Parameter[];
  readonly about?: string;
  readonly isContradiction?: boolean;
}

function replacementsOf(filter: ProbedParameter, value: string, isHistory: boolean): readonly Replacement[] {
  const one = (text: string): readonly Replacement[] => [{ parameters: [{ name: filter, value: text }] }];
  switch (filter) {
    case 'type':
      // Any type: there is nothing to honour.
      return value === '*' ? [] : variantsOf(filter, value, termOfType(value));
    case 'q':
      return variantsOf(filter, value, termOfQ(value, isHistory));
    case 'scopeQ':
      return variantsOf(filter, value, termOfScopes(value));
    case 'attrs': {
      const names = value.split(',').slice(0, MAX_NAMES);
      return one(names.map((name) => name + NO_SUCH).join(','));
    }
    case 'idPattern':
      return one(impossiblePattern(value));
    case 'georel':
      return [{ parameters: [{ name: 'geoproperty', value: 'noSuchGeoPropertyPurgeProbe' }] }];
    case 'datasetId':
      return one('urn:ngsi-ld:Dataset:NoSuchDatasetPurgeProbe');
    case 'timerel':
      return [
        {
          parameters: [
            { name: 'timerel', value: 'before' },
            { name: 'timeAt', value: LONG_AGO },
          ],
        },
      ];
    case 'timeproperty':
      return one('noSuchTimePurgeProbe');
  }
}

function variantsOf(filter: ProbedParameter, value: string, term: Term): readonly Replacement[] {
  const count = countVariants(term);
  if (count > MAX_CONDITIONS) {
    const detail = `${filter} has ${count} conditions, and each takes a query to prove that the broker honours it. A purge takes at most ${MAX_CONDITIONS}: split it.`;
    throw new QueryRefusedError('badRequestData', detail, filter);
  }
  return impossibleTexts(value, term).map(({ text, about, isContradiction }) => ({
    parameters: [{ name: filter, value: text }],
    about,
    isContradiction,
  }));
}

/** What RE2 can compile is checked by the gateway as well; other patterns may be beyond the broker, too, so they are kept. */
function impossiblePattern(pattern: string): string {
  return compilePattern('idPattern', pattern) === undefined
    ? `(?:${pattern})^NoSuchEntityPurgeProbe`
    : '^urn:ngsi-ld:NoSuchEntityPurgeProbe:1$';
}

function termOfType(text: string): Term {
  const names = text.matchAll(/[^,|;()\s]+/g);
  return termOfSelector(parseTypeSelector(text), names);
}

/** @param names where the names are found, in the order of the selector */
function termOfSelector(selector: TypeSelector, names: Iterator<RegExpExecArray>): Term {
  if (selector.kind === 'and' || selector.kind === 'or')
    return joined(
      selector.kind,
      selector.operands.map((operand) => termOfSelector(operand, names)),
    );
  return leafOf(names, (name) => name + NO_SUCH);
}

function termOfScopes(text: string): Term {
  const patterns = text.matchAll(/[^,|;()]+/g);
  return joined(
    'or',
    parseScopeQuery(text).map((all) =>
      joined(
        'and',
        all.map(() => leafOf(patterns, (pattern) => `/NoSuchScopePurgeProbe${pattern}`)),
      ),
    ),
  );
}

function leafOf(found: Iterator<RegExpExecArray>, impossible: (text: string) => string): Term {
  const next = found.next();
  const [text, start] = next.done === true ? ['', 0] : [next.value[0], next.value.index];
  return { kind: 'leaf', start, end: start + text.length, operands: [], impossible: impossible(text) };
}

/** Brackets around the operands are not part of the term. */
function joined(kind: 'and' | 'or', operands: readonly Term[]): Term {
  return { kind, start: operands[0]?.start ?? 0, end: operands.at(-1)?.end ?? 0, operands };
}
