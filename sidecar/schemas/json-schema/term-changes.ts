import { type JsonValue, member } from '../../shared/json/json.js';
import { truncate } from '../../shared/format-value.js';

/** What a term of a context means: its IRI, and the rest of its definition (JSON-LD 1.1, section 9.15). */
interface TermMeaning {
  readonly iri: string;
  /** Type coercion, container and the like, as a text that is equal for equal definitions. */
  readonly coercion?: string;
  /** Set if the term can be the prefix of compact IRIs. */
  readonly isPrefix?: true;
}

/**
 * The meanings of the terms of a model's context. Terms of the core context are not included, because they never
 * change.
 */
export type TermMeanings = Readonly<Record<string, TermMeaning>>;

/**
 * Finds the names that mean something else by the new terms: the terms that both versions have, and those of the names
 * that are compact IRIs.
 *
 * @param names that both versions use
 */
export function* changesOfTerms(
  old: TermMeanings,
  fresh: TermMeanings,
  names: Iterable<string>,
): Iterable<{ readonly name: string; readonly detail: string }> {
  const compact = [...names].filter(
    (name) => name.includes(':') && !(Object.hasOwn(old, name) && Object.hasOwn(fresh, name)),
  );
  for (const name of Object.keys(fresh)
    .filter((term) => Object.hasOwn(old, term))
    .concat(compact)) {
    const detail = changeOfTerm(name, meaningIn(old, name), meaningIn(fresh, name));
    if (detail !== undefined) yield { name, detail };
  }
}

/** What a term or a compact IRI means; without a term for its prefix, a compact IRI stands for itself. */
function meaningIn(terms: TermMeanings, name: string): TermMeaning {
  const known = member(terms, name);
  if (known !== undefined) return known;
  const colon = name.indexOf(':');
  const prefix = member(terms, name.slice(0, colon));
  const isCompact = prefix?.isPrefix === true && !name.startsWith('//', colon + 1);
  return { iri: isCompact ? prefix.iri + name.slice(colon + 1) : name };
}

function changeOfTerm(term: string, was: TermMeaning, is: TermMeaning): string | undefined {
  if (was.iri !== is.iri)
    return `${shown(term)} means ${truncate(is.iri, 300)}, meant ${truncate(was.iri, 300)}`;
  if (was.coercion === is.coercion) return undefined;
  const [now, before] = [is.coercion ?? 'a plain value', was.coercion ?? 'a plain value'];
  return `${shown(term)} is read as ${truncate(now, 200)}, was read as ${truncate(before, 200)}`;
}

/** A name as it is shown in a detail. */
export function shown(value: JsonValue): string {
  return truncate(JSON.stringify(value), 200);
}
