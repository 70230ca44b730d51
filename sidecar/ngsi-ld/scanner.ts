import { NgsiLdSyntaxError } from './syntax-error.js';

/** A reading position in the text of one parameter. Patterns must be sticky, so that scanning takes linear time. */
export class Scanner {
  readonly parameter: string;
  readonly text: string;
  position = 0;

  constructor(parameter: string, text: string) {
    this.parameter = parameter;
    this.text = text;
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** Returns the next UTF-16 code unit; the empty string at the end. */
  peek(): string {
    return this.text.charAt(this.position);
  }

  /** Consumes `token` if it comes next. */
  take(token: string): boolean {
    if (!this.text.startsWith(token, this.position)) return false;
    this.position += token.length;
    return true;
  }

  /** Consumes and returns what the sticky `pattern` matches at this position; undefined if it does not match. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const matched = pattern.exec(this.text)?.[0];
    if (matched !== undefined) this.position += matched.length;
    return matched;
  }

  skipSpaces(): void {
    this.match(/[ \t]*/y);
  }

  /** Throws NgsiLdSyntaxError; `position` defaults to the reading position. */
  fail(expected: string, position = this.position): never {
    throw new NgsiLdSyntaxError(this.parameter, position, expected, this.text);
  }
}
