/** Maximum number of repetitions written for one quantifier; a pattern that needs more has no example. */
const MAX_REPETITIONS = 256;

/** The characters that are tried for a class or an escape, the plainest first. */
const CHARACTERS = [
  ...Array.from('aA01-_. /:@é中'),
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...Array.from({ length: 32 }, (_, index) => String.fromCharCode(index)),
];

/**
 * Returns a string that a pattern matches, or undefined if none of those tried matches. It is made from the pattern's
 * own text: alternatives, groups, classes and quantifiers are followed; assertions are skipped, as they often hold
 * anyway.
 *
 * Must run in a worker: each string is tested, and patterns may backtrack for ever.
 *
 * @param isGood further demands on the string, such as its length
 */
export function patternExample(
  pattern: string,
  isGood: (text: string) => boolean = () => true,
): string | undefined {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
  for (const extra of [0, 1, 2, 3, 5, 8, 16, 32, 64]) {
    const text = new PatternWriter(pattern, extra).write();
    if (text !== undefined && isGood(text) && expression.test(text)) return text;
  }
  return undefined;
}

/** Thrown when a pattern has no example; caught by the writer. */
class NoExample extends Error {}

/** Parses a pattern that is known to be well formed, and writes a short string that it should match. */
class PatternWriter {
  readonly #pattern: string;
  /** Repetitions in addition to the minimum of each quantifier. */
  readonly #extra: number;
  #at = 0;

  constructor(pattern: string, extra: number) {
    this.#pattern = pattern;
    this.#extra = extra;
  }

  write(): string | undefined {
    try {
      return this.#alternatives();
    } catch (error) {
      if (error instanceof NoExample) return undefined;
      throw error;
    }
  }

  #alternatives(): string {
    const first = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !this.#sees('|') && !this.#sees(')')) {
      const one = this.#one();
      text += one.repeat(this.#repetitions());
      if (text.length > MAX_REPETITIONS * MAX_REPETITIONS) throw new NoExample();
    }
    return text;
  }

  #one(): string {
    if (this.#take('^') || this.#take('$')) return '';
    if (this.#take('.')) return 'a';
    if (this.#take('(')) return this.#group();
    if (this.#sees('[')) return this.#character(/\[\^?(?:\\.|[^\]\\])*\]/suy);
    if (this.#sees('\\')) return this.#escape();
    return this.#character(/./suy, true);
  }

  #group(): string {
    const assertion = this.#takeAll(/\?<?[=!]/uy);
    if (assertion === undefined) this.#takeAll(/\?(?:[a-z-]*:|<[^>]*>)/uy);
    const text = this.#alternatives();
    this.#take(')');
    return assertion === undefined ? text : '';
  }

  #escape(): string {
    // Boundaries are skipped, and so are back-references, because what they repeat may well be empty.
    if (this.#takeAll(/\\[bB]|\\[1-9]\d*|\\k<[^>]*>/uy) !== undefined) return '';
    return this.#character(/\\(?:u\{[^}]*\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)/suy);
  }

  /** Reads a part of the pattern that stands for one character, and returns a character that it matches. */
  #character(part: RegExp, isLiteral = false): string {
    const source = this.#takeAll(part);
    if (source === undefined) throw new NoExample();
    if (isLiteral) return source;
    const expression = new RegExp(`^${source}$`, 'u');
    const found = [...CHARACTERS, ...named(source)].find((character) => expression.test(character));
    if (found === undefined) throw new NoExample();
    return found;
  }

  #repetitions(): number {
    const quantifier = this.#takeAll(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/uy);
    if (quantifier === undefined) return 1;
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
    const min = least === undefined ? (quantifier.startsWith('+') ? 1 : 0) : Number(least);
    const max = least === undefined ? (quantifier.startsWith('?') ? 1 : Infinity) : upperOf(min, comma, most);
    if (min > MAX_REPETITIONS) throw new NoExample();
    return Math.min(max, min + this.#extra, MAX_REPETITIONS);
  }

  #sees(character: string): boolean {
    return this.#pattern.startsWith(character, this.#at);
  }

  #take(character: string): boolean {
    const isThere = this.#sees(character);
    if (isThere) this.#at += character.length;
    return isThere;
  }

  #takeAll(part: RegExp): string | undefined {
    part.lastIndex = this.#at;
    const found = part.exec(this.#pattern)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

function upperOf(min: number, comma: string | undefined, most: string | undefined): number {
  if (comma !== ',') return min;
  return most === undefined || most === '' ? Infinity : Number(most);
}

/** The characters that a part of a pattern contains itself, literally or by their code. */
function named(source: string): readonly string[] {
  const codes = [...source.matchAll(/\\(?:u\{([\dA-Fa-f]+)\}|u([\dA-Fa-f]{4})|x([\dA-Fa-f]{2}))/gu)];
  return [
    ...codes.map(([, braced, four, two]) => String.fromCodePoint(parseInt(braced ?? four ?? two ?? '0', 16))),
    ...Array.from(source.replaceAll(/[[\]^\\]/gu, '')),
  ];
}
