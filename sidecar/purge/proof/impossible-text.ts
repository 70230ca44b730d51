import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { parseQ, type QCondition, type QNode, type QOperand } from '../../ngsi-ld/q.js';
import { withMoment } from '../../ngsi-ld/q-time.js';

/**
 * Texts of conditions joined by "and" and "or" (`q`, `type`, `scopeQ`), and variants of them that cannot match. What a variant
 * neither makes impossible nor leaves out stays as it was written.
 */

/** Part of a text. Positions are in UTF-16 code units. */
export interface Term {
  readonly kind: 'and' | 'or' | 'leaf';
  readonly start: number;
  readonly end: number;
  /** Empty for a leaf. */
  readonly operands: readonly Term[];
  /** For a leaf: what to write in its place, so that it cannot be met. */
  readonly impossible?: string;
  /** For a leaf: whether its replacement is the condition together with its opposite. */
  readonly isContradiction?: boolean;
  /** For alternatives: whether some can be left out, because their positions include their brackets, if any. */
  readonly mayDrop?: boolean;
}

/** A text that cannot match. */
export interface ImpossibleText {
  readonly text: string;
  /** The part that was made impossible, as it was written. */
  readonly about: string;
  /** Whether it cannot match only because it contradicts itself. A broker may refuse to read it for that reason. */
  readonly isContradiction: boolean;
}

interface Edit extends Pick<Term, 'start' | 'end' | 'isContradiction'> {
  readonly text: string;
}

interface Variant {
  readonly edits: readonly Edit[];
  readonly about: Term;
}

/** Further alternatives are left out of a variant if possible, so that it is not much longer than the text. */
const MAX_ALTERNATIVES = 20;

/**
 * Returns the variants of a text. In each variant, one conjunct is made impossible, and the others stay as they are. Among
 * alternatives, all but one are made impossible as a whole, and the conjuncts of that one in turn. So a broker that lists
 * nothing for any of the variants has applied each conjunct.
 */
export function impossibleTexts(text: string, root: Term): readonly ImpossibleText[] {
  return variantsOf(root).map(({ edits, about }) => ({
    text: edited(text, edits),
    about: text.slice(about.start, about.end).trim(),
    isContradiction: edits.some((edit) => edit.isContradiction === true),
  }));
}

/** Counts the variants of a text, without making them. */
export function countVariants({ kind, operands }: Term): number {
  const counts = operands.map(countVariants);
  if (kind === 'and') return counts.reduce((sum, count) => sum + count, 0);
  return Math.max(
    1,
    counts.reduce((sum, count) => sum + (count > 1 ? count : 0), 0),
  );
}

function variantsOf(term: Term): readonly Variant[] {
  const { kind, operands } = term;
  if (kind === 'and') return operands.flatMap(variantsOf);
  const several = operands.filter((operand) => countVariants(operand) > 1);
  if (several.length === 0) return [{ edits: deadEdits(term), about: term }];
  return several.flatMap((operand) =>
    variantsOf(operand).map(({ edits, about }) => ({
      edits: [...edits, ...deadAlternatives(term, operand)],
      about,
    })),
  );
}

/** Makes every condition of a term impossible. */
function deadEdits(term: Term): readonly Edit[] {
  if (term.kind === 'leaf') return [{ ...term, text: term.impossible ?? '' }];
  return term.kind === 'and' ? term.operands.flatMap(deadEdits) : deadAlternatives(term, undefined);
}

/** Makes alternatives impossible. @param living the alternative that is left as it is, if any */
function deadAlternatives({ operands, mayDrop = false }: Term, living: Term | undefined): readonly Edit[] {
  return operands.flatMap((operand, index): readonly Edit[] => {
    if (operand === living) return [];
    const before = operands[index - 1];
    if (!mayDrop || index < MAX_ALTERNATIVES || before === undefined) return deadEdits(operand);
    return [{ start: before.end, end: operand.end, text: '' }];
  });
}

function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let position = 0;
  for (const { start, end, text: replacement } of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(position, start) + replacement;
    position = end;
  }
  return result + text.slice(position);
}

/** Appended to a name, it makes a name that nothing has. The name keeps its form: a term, a compact IRI or an IRI. */
export const NO_SUCH = 'NoSuchPurgeProbe';

/** Long before anything was stored; some brokers refuse earlier years. */
export const LONG_AGO = '1800-01-01T00:00:00Z';

/**
 * No entity was created or changed before the one, or after the other. Some brokers cannot read times before 1970 (Orion-LD), or
 * later than 2262, the limit of nanoseconds in 64 bits: they take a later time for one in the past (Coraine).
 */
const FIRST = '1970-01-02T00:00:00';
export const LAST = '2261-12-31T23:59:59';

/** Members of entities that hold a time, by term and by IRI. */
const TIMES = /^(?:https:\/\/uri\.etsi\.org\/ngsi-ld\/)?(?:createdAt|modifiedAt|deletedAt|expiresAt)$/;

/** The one of them that clients set, often to the last moment there is. */
const EXPIRY = /expiresAt$/;

/**
 * Returns the conditions of a vetted `q`. A condition on an attribute is made impossible by another name; the rest of it stays
 * as it was, because brokers ignore what they cannot read, such as a path, a list or a date. That does not work for a negated
 * condition, because some brokers consider it met if the attribute is missing. It is combined with its opposite instead;
 * whatever matches both, the broker lists wrongly.
 *
 * @param isHistory whether the query is of temporal entities. There, one instance may meet a condition and another one its
 *   opposite, so a negated condition is written without the negation and with another name
 */
export function termOfQ(text: string, isHistory: boolean): Term {
  return termOf(parseQ(text), { text, isHistory }, 'first');
}

/** A q as it is written, and whether the query is of temporal entities. */
interface Parsed {
  readonly text: string;
  readonly isHistory: boolean;
}

/** The position of a condition among others. */
type Place = 'alternative' | 'first' | 'last';

function termOf(node: QNode, q: Parsed, place: Place): Term {
  const { text, isHistory } = q;
  const { start, end, operator = end } = node.span;
  switch (node.kind) {
    case 'and':
    case 'or': {
      const operands = node.operands.map((operand, index) =>
        termOf(operand, q, node.kind === 'or' ? 'alternative' : index === 0 ? 'first' : 'last'),
      );
      return { kind: node.kind, start, end, operands, mayDrop: true };
    }
    case 'group':
      // An "and" with one operand; its positions include the brackets.
      return { kind: 'and', start, end, operands: [termOf(node.inner, q, 'first')] };
    case 'exists':
    case 'equality':
    case 'order':
    case 'pattern': {
      const condition = text.slice(start, end);
      const opposite = positiveOf(node, condition, operator - start);
      const leaf = { kind: 'leaf', start, end, operands: [] } as const;
      if (opposite === undefined)
        return { ...leaf, impossible: impossibleOf(node, condition, operator - start) };
      const [name = ''] = node.path.names;
      if (isHistory) return { ...leaf, impossible: name + NO_SUCH + opposite.slice(name.length) };
      // The condition stays the first or the last one, because brokers may ignore the condition at just that position.
      const both = place === 'last' ? `${opposite};${condition}` : `${condition};${opposite}`;
      return { ...leaf, impossible: place === 'alternative' ? `(${both})` : both, isContradiction: true };
    }
  }
}

/**
 * Returns the opposite of a negated condition; undefined for a condition that is not negated.
 *
 * @param at where its operator begins
 */
function positiveOf(node: QCondition, condition: string, at: number): string | undefined {
  switch (node.kind) {
    case 'exists':
      return node.negated ? condition.slice(1) : undefined;
    case 'equality':
      return node.operator === '!=' ? `${condition.slice(0, at)}==${condition.slice(at + 2)}` : undefined;
    case 'pattern':
      return node.negated ? condition.slice(0, at) + condition.slice(at + 1) : undefined;
    case 'order':
      return undefined;
  }
}

function impossibleOf(node: QCondition, condition: string, at: number): string {
  const [first = ''] = node.path.names;
  const isMember = node.path.names.length === 1 && NON_ATTRIBUTE_MEMBERS.has(first);
  const path = condition.slice(0, at);
  const compared = condition.slice(at);
  // Entities may have these members whatever they are, so the value has to be impossible.
  if (isMember && TIMES.test(first) && (node.kind === 'order' || node.kind === 'equality'))
    return path + impossibleTime(EXPIRY.test(first) ? compared.replace(/^>=?/, '<') : compared);
  if (isMember && node.kind === 'equality') return `${path}==${impossibleOperand(node.operand)}`;
  return first + NO_SUCH + condition.slice(first.length);
}

/**
 * Returns a comparison with a time that no entity has. Its operator and the form of its times stay as they were: a broker that
 * cannot read a time may list everything (Orion-LD, for one with a zone). So does the time itself if no entity can have it.
 *
 * @param compared the comparison from its operator on
 */
function impossibleTime(compared: string): string {
  const isLater = compared.startsWith('>');
  const year = /\d{4}(?=-\d\d-\d\d)/.exec(compared)?.[0] ?? '';
  if (isLater ? year > LAST : compared.startsWith('<') && year !== '' && year < FIRST) return compared;
  const moment = isLater ? LAST : FIRST;
  const changed = withMoment(compared, moment);
  if (changed !== compared) return changed;
  return `${/^[<>=]+/.exec(compared)?.[0] ?? ''}${moment}Z`;
}

function impossibleOperand({ kind }: QOperand): string {
  const value = '"NoSuchValuePurgeProbe"';
  if (kind === 'value') return value;
  return kind === 'list' ? `${value},${value}` : `${value}..${value}`;
}
