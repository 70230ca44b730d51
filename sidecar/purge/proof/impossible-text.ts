/**
 * Texts in which conditions stand, joined by "and" and "or" (`q`, `type`, `scopeQ`), and the variants of such a text that
 * cannot match. All that is not made impossible stays as it was written.
 */

/** Part of a text. Positions are in UTF-16 code units. */
export interface Term {
  readonly kind: 'and' | 'or' | 'leaf';
  readonly start: number;
  readonly end: number;
  /** None for a leaf. */
  readonly operands: readonly Term[];
  /** For a leaf: what to write in its place so that it cannot be met. */
  readonly impossible?: string;
  /** For a leaf: its replacement is the condition together with its opposite. */
  readonly isContradiction?: boolean;
  /** For alternatives: their brackets, if any, are within their positions, so that some can be left out. */
  readonly mayDrop?: boolean;
}

/** A text that cannot match. */
export interface ImpossibleText {
  readonly text: string;
  /** The part that was made impossible, as it was written. */
  readonly about: string;
  /** Only by contradicting itself: a broker may refuse to read it for that reason. */
  readonly isContradiction: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Variant {
  readonly edits: readonly Edit[];
  readonly about: Term;
  readonly isContradiction: boolean;
}

/** Alternatives that a variant has at most, so that it is not much longer than the text. */
const MAX_ALTERNATIVES = 20;

/**
 * The variants of a text: each conjunct made impossible in turn, the others as they are. Of alternatives, all but one are
 * impossible as a whole, and each conjunct of that one in turn. So a broker that lists nothing for any of the variants has
 * applied each conjunct.
 */
export function impossibleTexts(text: string, root: Term): readonly ImpossibleText[] {
  return variantsOf(root).map(({ edits, about, isContradiction }) => ({
    text: edited(text, edits),
    about: text.slice(about.start, about.end).trim(),
    isContradiction,
  }));
}

/** How many variants a text has, without making them. */
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
  if (kind === 'leaf' || several.length === 0)
    return [{ edits: deadEdits(term), about: term, isContradiction: hasContradiction(term) }];
  return several.flatMap((operand) =>
    variantsOf(operand).map((variant) => ({
      edits: [...variant.edits, ...deadAlternatives(term, operand)],
      about: variant.about,
      isContradiction:
        variant.isContradiction || operands.some((each) => each !== operand && hasContradiction(each)),
    })),
  );
}

/** Makes every condition of a term impossible. */
function deadEdits(term: Term): readonly Edit[] {
  if (term.kind === 'leaf') return [{ start: term.start, end: term.end, text: term.impossible ?? '' }];
  return term.kind === 'and' ? term.operands.flatMap(deadEdits) : deadAlternatives(term, undefined);
}

/** @param living an alternative that is left as it is */
function deadAlternatives({ operands, mayDrop = false }: Term, living: Term | undefined): readonly Edit[] {
  return operands.flatMap((operand, index): readonly Edit[] => {
    if (operand === living) return [];
    const before = operands[index - 1];
    if (!mayDrop || index < MAX_ALTERNATIVES || before === undefined) return deadEdits(operand);
    return [{ start: before.end, end: operand.end, text: '' }];
  });
}

function hasContradiction({ isContradiction, operands }: Term): boolean {
  return isContradiction === true || operands.some(hasContradiction);
}

function edited(text: string, edits: readonly Edit[]): string {
  const inOrder = [...edits].sort((a, b) => a.start - b.start);
  let result = '';
  let position = 0;
  for (const { start, end, text: replacement } of inOrder) {
    result += text.slice(position, start) + replacement;
    position = end;
  }
  return result + text.slice(position);
}
