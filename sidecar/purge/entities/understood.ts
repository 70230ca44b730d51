import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { conditionsOf, parseQ, type QCondition, type QNode, type QValue } from '../../ngsi-ld/q.js';
import { withMoment } from '../../ngsi-ld/q-time.js';
import type { PurgeContext, QueryView } from '../run/index.js';
import { BrokerRefusedError, FilterIgnoredError } from '../errors.js';
import type { ListedPage } from '../listing/index.js';
import type { Parameter } from '../query/index.js';
import { LAST, LOCAL, NO_SUCH } from '../proof/index.js';

/** Every entity was created and changed after this. */
const EPOCH = '1970-01-01T00:00:00';

const TIME_AS_WRITTEN = /"?\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)?)?"?/;

/** Times that every entity has, by term and by IRI. */
const SYSTEM_TIMES = /^(?:https:\/\/uri\.etsi\.org\/ngsi-ld\/)?(?:createdAt|modifiedAt)$/;

/** Two queries of which a broker that understands them shows something for both, or for neither. */
export interface Comparison {
  /** The query with a condition that is true for everything that `without` shows. */
  readonly holding: readonly Parameter[];
  readonly without: readonly Parameter[];
}

/**
 * Checks, for a query that matched nothing, that the broker understands its `type` and `q`. Some brokers take `createdAt` for
 * an attribute that no entity has, consider `!attr` never true, or take `A|B` for one name. Then nothing ever matches, and the
 * purge looks successful.
 *
 * @throws FilterIgnoredError if nothing matches a condition that is true for every entity, or if `A|B` matches nothing
 *   although `A,B` does
 */
export async function checkUnderstood(context: PurgeContext): Promise<void> {
  await checkTypeUnderstood(context);
  const q = context.selection.find(({ name }) => name === 'q')?.value;
  if (q === undefined) return;
  const inDoubt = await findMisread(context, q, alwaysHolding);
  if (inDoubt !== undefined) {
    const { conditions, holding, isOne } = inDoubt;
    throw new FilterIgnoredError(
      'q',
      `The broker does not understand ${isOne ? 'the condition' : 'one of the conditions'} ${conditions} of ` +
        `q: it lists entities, but none of them for ${holding}, which ${isOne ? 'is' : 'are'} true ` +
        'for all. So an empty result proves nothing. Nothing was deleted.',
    );
  }
  const untimed = await findMisread(context, q, holdingForTimes);
  if (untimed !== undefined) {
    const { conditions, holding, isOne } = untimed;
    context.warn(
      `Nothing matches, and no entity that has what ${conditions} ${isOne ? 'compares' : 'compare'} is listed for ` +
        `${holding}: either ${isOne ? 'its' : 'the'} values are not times, or the broker does not compare them as times.`,
    );
  }
}

/** `A|B` and `A,B` select the same (clause 4.17), and `*` whatever the other parameters do. */
async function checkTypeUnderstood(context: QueryView): Promise<void> {
  const type = context.selection.find(({ name }) => name === 'type')?.value;
  if (type === '*') await checkAnyTypeUnderstood(context);
  if (type === undefined || !type.includes('|')) return;
  const holding = context.selection;
  const without = holding.map((each) =>
    each.name === 'type' ? { ...each, value: type.replaceAll('|', ',') } : each,
  );
  if (await showsOnlyWithout(context, { holding, without })) {
    throw new FilterIgnoredError(
      'type',
      `The broker does not understand "|" in type (${type}): it lists entities ` +
        'where the types are joined by commas. So an empty list does not show ' +
        'that nothing matches. Nothing was deleted. Write commas instead.',
    );
  }
}

async function checkAnyTypeUnderstood(context: QueryView): Promise<void> {
  const others = context.selection.filter(({ name }) => name !== 'type');
  const without = others.length === 0 ? [LOCAL] : others;
  if (await showsOnlyWithout(context, { holding: context.selection, without })) {
    throw new FilterIgnoredError(
      'type',
      'The broker does not understand type=*: it lists entities for the same query without it. So an empty ' +
        'list does not show that nothing matches. Nothing was deleted. Name the types, or leave out type=*.',
    );
  }
}

/** Finds a condition that should hold in place of another one; undefined if there is none. @param text of the condition */
type Holding = (condition: QCondition, text: string, operator: number) => Replacement | undefined;

interface Replacement {
  readonly holding: string;
  /** What is left of the condition in the query without it; nothing if undefined. */
  readonly left?: string;
}

function alwaysHolding(condition: QCondition, text: string, operator: number): Replacement | undefined {
  const { kind, path } = condition;
  const [first = ''] = path.names;
  if (kind === 'exists')
    return condition.negated && !NON_ATTRIBUTE_MEMBERS.has(first)
      ? { holding: `!${first}${NO_SUCH}` }
      : undefined;
  const isSystemTime = path.names.length === 1 && SYSTEM_TIMES.test(first) && kind !== 'pattern';
  return isSystemTime ? { holding: trueForAnyTime(condition, text, operator) } : undefined;
}

/** An attribute may hold anything, so this is worth no more than a warning. */
function holdingForTimes(condition: QCondition, text: string, operator: number): Replacement | undefined {
  if (NON_ATTRIBUTE_MEMBERS.has(condition.path.names[0] ?? '')) return undefined;
  const { kind } = comparedIn(condition) ?? {};
  if (kind !== 'dateTime' && kind !== 'date') return undefined;
  return { holding: trueForAnyTime(condition, text, operator), left: text.slice(0, operator).trim() };
}

/** Returns the value with which a condition compares, or the first one of a range; undefined if its opposite would do so. */
function comparedIn(condition: QCondition): QValue | undefined {
  if (condition.kind === 'order') return condition.value;
  if (condition.kind !== 'equality' || condition.operator !== '==') return undefined;
  return condition.operand.kind === 'range' ? condition.operand.from : undefined;
}

/**
 * Returns a condition that any time fulfils. Its times are written like those in the text, which the broker may not read. A range
 * remains one, because the broker may not know ranges of times.
 */
function trueForAnyTime(condition: QCondition, text: string, operator: number): string {
  const path = text.slice(0, operator).trim();
  const compared = text.slice(operator);
  if (condition.kind !== 'equality' || condition.operand.kind !== 'range') {
    const [written = ''] = TIME_AS_WRITTEN.exec(compared) ?? [];
    return `${path}>${withMoment(written, EPOCH) || `${EPOCH}Z`}`;
  }
  const [from = '', to = ''] = compared.split('..');
  return `${path}${withMoment(from, EPOCH)}..${withMoment(to, condition.operator === '==' ? LAST : EPOCH)}`;
}

/** Conditions of which the broker seems to misread at least one. */
interface Misread {
  readonly conditions: string;
  /** What replaced them. */
  readonly holding: string;
  readonly isOne: boolean;
}

/** Replaces conditions of a q by ones that should hold. Returns them if the broker seems to misread any. */
async function findMisread(context: QueryView, q: string, holdingOf: Holding): Promise<Misread | undefined> {
  const root = parseQ(q);
  const textOf = ({ span }: QNode) => q.slice(span.start, span.end);
  const replacements = new Map<QNode, Replacement>();
  for (const condition of conditionsOf(root)) {
    const { start, end, operator = end } = condition.span;
    const replacement = holdingOf(condition, textOf(condition), operator - start);
    if (replacement !== undefined) replacements.set(condition, replacement);
  }
  if (replacements.size === 0) return undefined;
  const others = context.selection.filter(({ name }) => name !== 'q');
  const holding = written(root, (node) => replacements.get(node)?.holding ?? textOf(node)) ?? '';
  const left = written(root, (node) =>
    replacements.has(node) ? replacements.get(node)?.left : textOf(node),
  );
  const without = left === undefined ? others : [...others, { name: 'q', value: left }];
  const isMisread = await showsOnlyWithout(context, {
    holding: [...others, { name: 'q', value: holding }],
    without: without.length === 0 ? [LOCAL] : without,
  });
  if (!isMisread) return undefined;
  return {
    conditions: [...replacements.keys()].map(textOf).join(' and '),
    holding: [...replacements.values()].map((each) => each.holding).join(' and '),
    isOne: replacements.size === 1,
  };
}

/** Writes a q with some conditions replaced; undefined if nothing is left to ask for. */
function written(node: QNode, write: (condition: QCondition) => string | undefined): string | undefined {
  switch (node.kind) {
    case 'and': {
      const parts = node.operands.flatMap((operand) => written(operand, write) ?? []);
      return parts.length === 0 ? undefined : parts.join(';');
    }
    case 'or': {
      const parts = node.operands.map((operand) => written(operand, write));
      return parts.includes(undefined) ? undefined : parts.join('|');
    }
    case 'group': {
      const inner = written(node.inner, write);
      return inner === undefined ? undefined : `(${inner})`;
    }
    case 'exists':
    case 'equality':
    case 'order':
    case 'pattern':
      return write(node);
  }
}

/** Whether the broker certainly shows something only without the condition, although the condition is always true. */
export async function showsOnlyWithout(
  { lister }: Pick<QueryView, 'lister'>,
  { holding, without }: Comparison,
  shows: (page: ListedPage) => boolean = (page) => page.ids.length > 0 || (page.count ?? 0) > 0,
): Promise<boolean> {
  const isShown = async (selection: readonly Parameter[]) => {
    try {
      return shows(await lister.page({ selection, limit: 1, count: true }));
    } catch (error) {
      // A refusal says nothing about what the broker would show.
      if (error instanceof BrokerRefusedError) return undefined;
      throw error;
    }
  };
  if ((await isShown(holding)) !== false) return false;
  if ((await isShown(without)) !== true) return false;
  // Something may have been written in the meantime.
  return (await isShown(holding)) === false;
}
