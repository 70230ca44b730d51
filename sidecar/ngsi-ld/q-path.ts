import type { QLink, QPath } from './q-ast.js';
import type { Scanner } from './q-scanner.js';

const NAME_RUN = /(?:[\p{L}\p{M}\p{N}_:/#.%@?&+-]|~(?!=))+/uy;
const NAME_START = /^[\p{L}_]/u;
const HIERARCHICAL_IRI = /^[A-Za-z][A-Za-z0-9+-]*:\/\//;
const NEXT_ABSOLUTE_IRI = /\.(?:[A-Za-z][A-Za-z0-9+-]*:\/\/|urn:)/g;
const MEMBER_NAME = /[^\][.\u0000-\u001f\u007f]+/uy;
const BRACE_TEXT = /[^{}\u0000-\u001f\u007f]+/uy;
const MAX_BRACES_DEPTH = 16;

const A_NAME = 'an attribute name';

/**
 * Splits a run of name characters into its dotted names; undefined when a name is missing or does not begin
 * with a letter or `_`.
 *
 * Clause 4.9 knows short names only, so that the dot is always a separator. Brokers take IRIs too, which hold
 * dots of their own. The rule here:
 * - a short name or compact IRI (`speed`, `ex:speed`) ends at the first dot;
 * - in an absolute IRI (`scheme://…` or `urn:…`) the dots up to its last `/` or `#` (`urn:`: its last `:`) belong to
 *   the IRI, and so does the whole authority; a dot after that is a separator;
 * - `.scheme://` and `.urn:` begin a new name.
 */
export function splitDottedNames(run: string): readonly string[] | undefined {
  const names: string[] = [];
  let start = 0;
  for (;;) {
    const end = endOfName(run, start);
    const name = run.slice(start, end);
    if (!NAME_START.test(name)) return undefined;
    names.push(name);
    if (end >= run.length) return names;
    start = end + 1;
  }
}

function endOfName(run: string, start: number): number {
  let from = start;
  const urn = run.startsWith('urn:', start);
  const scheme = urn ? 'urn:' : HIERARCHICAL_IRI.exec(run.slice(start, start + 64))?.[0];
  if (scheme !== undefined) {
    NEXT_ABSOLUTE_IRI.lastIndex = start + scheme.length;
    const bound = NEXT_ABSOLUTE_IRI.exec(run)?.index ?? run.length;
    const iri = run.slice(start + scheme.length, bound);
    const lastDelimiter = urn ? iri.lastIndexOf(':') : Math.max(iri.lastIndexOf('/'), iri.lastIndexOf('#'));
    // Without a path, all dots belong to the authority.
    if (lastDelimiter < 0 && !urn) return bound;
    from = start + scheme.length + lastDelimiter + 1;
    const dot = run.indexOf('.', from);
    return dot < 0 || dot > bound ? bound : dot;
  }
  const dot = run.indexOf('.', from);
  return dot < 0 ? run.length : dot;
}

/** Reads `a.b.c`, `a.b[x.y]` or the linked-entity forms `a{b}`, `a{Type:b}`, `a{Type}.b`. */
export function readPath(scanner: Scanner): QPath {
  const names = readDottedNames(scanner);
  if (scanner.peek() === '{') return { names, valuePath: [], link: readLink(scanner) };
  return { names, valuePath: readValuePath(scanner), link: null };
}

function readDottedNames(scanner: Scanner): readonly string[] {
  const start = scanner.position;
  const run = scanner.match(NAME_RUN);
  if (run === undefined) scanner.fail(A_NAME);
  return splitDottedNames(run) ?? scanner.fail('attribute names, each beginning with a letter', start);
}

function readValuePath(scanner: Scanner): readonly string[] {
  if (!scanner.take('[')) return [];
  const members: string[] = [];
  do {
    members.push(scanner.match(MEMBER_NAME) ?? scanner.fail('a member name'));
  } while (scanner.take('.'));
  if (!scanner.take(']')) scanner.fail('"]"');
  return members;
}

function readLink(scanner: Scanner): QLink {
  const start = scanner.position;
  let depth = 0;
  do {
    if (scanner.take('{')) {
      depth += 1;
      if (depth > MAX_BRACES_DEPTH) scanner.fail(`at most ${MAX_BRACES_DEPTH} nested braces`);
      if (scanner.match(BRACE_TEXT) === undefined)
        scanner.fail('a type or an attribute of the linked entity');
    } else if (scanner.take('}')) {
      depth -= 1;
    } else if (scanner.match(BRACE_TEXT) === undefined) {
      scanner.fail('"}"');
    }
  } while (depth > 0);
  const inner = scanner.text.slice(start + 1, scanner.position - 1);
  return { inner, rest: scanner.take('.') ? readDottedNames(scanner) : [] };
}
