import { type InputIssue, isObject, type JsonObject, member, pointerTo } from '../../shared/json/json.js';
import { type ContextPart, hasScopedContext } from './context-form.js';

/** Limits on one context document. The time to process it grows with terms × contexts, and the memory with terms × IRIs. */
export const CONTEXT_LIMITS = {
  /** Characters of its JSON text. */
  characters: 1024 * 1024,
  /** Characters of one name or IRI. */
  textCharacters: 2048,
  /** Nesting depth of arrays and maps. */
  depth: 20,
  /** Terms in all its maps. */
  terms: 10_000,
  /** Maps and URLs, including scoped contexts. */
  contexts: 100,
  /** Length of the chain of terms that one definition depends on, by prefixes. */
  chain: 4,
} as const;

/**
 * Names that JSON-LD processors confuse with members of JavaScript objects: as a term, they get lost or make the
 * processing of the whole context fail.
 */
const UNSAFE_TERMS: ReadonlySet<string> = new Set(['__proto__', 'hasOwnProperty']);

/** Whether a context must not define a term with this name. */
export function isUnsafeTerm(name: string): boolean {
  return UNSAFE_TERMS.has(name);
}

/**
 * Why a context value is not safe to process: the limits it exceeds, or if there are none, the terms that no
 * processor can use.
 */
export function safetyFaults(context: unknown, pointer = ''): readonly InputIssue[] {
  const exceeded = limitFaults(context, pointer);
  return exceeded.length > 0 ? exceeded : termFaults(context, pointer);
}

/** Terms that processors cannot handle, or that are defined by themselves; for contexts within the limits. */
export function termFaults(context: unknown, pointer = ''): readonly InputIssue[] {
  return partsOf(context, pointer).flatMap(({ value, pointer: at }) =>
    isObject(value) ? [...unsafeTermFaults(value, at), ...chainFaults(value, at).circles] : [],
  );
}

/** The size of a context of bounded depth: the number of its maps and URLs, and of the members of the maps. */
export function countOf(context: unknown): { readonly parts: number; readonly terms: number } {
  const parts = partsOf(context, '');
  const terms = parts.reduce((sum, { value }) => sum + (isObject(value) ? Object.keys(value).length : 0), 0);
  return { parts: parts.length, terms };
}

/** The limits that a context exceeds. Stops at the first kind of limit, because later checks rely on the earlier ones. */
export function limitFaults(context: unknown, pointer = ''): readonly InputIssue[] {
  const nesting = nestingFault(context, pointer);
  if (nesting !== undefined) return [nesting];
  const { length } = JSON.stringify(context);
  if (length > CONTEXT_LIMITS.characters) {
    const detail = `A context may have at most ${CONTEXT_LIMITS.characters} characters; this one has ${length}.`;
    return [{ pointer, detail }];
  }
  const parts = partsOf(context, pointer);
  if (parts.length > CONTEXT_LIMITS.contexts) {
    const detail =
      `A context may consist of at most ${CONTEXT_LIMITS.contexts} maps and ` +
      `URLs, scoped ones included; this one has ${parts.length}.`;
    return [{ pointer, detail }];
  }
  const maps = parts.filter((part): part is ContextPart & { value: JsonObject } => isObject(part.value));
  const terms = maps.reduce((sum, { value }) => sum + Object.keys(value).length, 0);
  if (terms > CONTEXT_LIMITS.terms) {
    return [
      { pointer, detail: `A context may have at most ${CONTEXT_LIMITS.terms} terms; this one has ${terms}.` },
    ];
  }
  const tooLong = longText(context, pointer);
  if (tooLong !== undefined) {
    const detail = `Names and IRIs may have ${CONTEXT_LIMITS.textCharacters} characters; this one has more.`;
    return [{ pointer: tooLong, detail }];
  }
  return maps.flatMap(({ value, pointer: at }) => chainFaults(value, at).chains);
}

/** The elements of a context, including scoped contexts: maps, URLs, and invalid values. */
function partsOf(context: unknown, pointer: string): readonly ContextPart[] {
  if (Array.isArray(context)) {
    return context.flatMap((item, index) => partsOf(item, pointerTo(pointer, index)));
  }
  if (!isObject(context)) return [{ value: context, pointer }];
  const scoped = Object.entries(context).flatMap(([term, definition]) =>
    hasScopedContext(definition) ? partsOf(definition['@context'], pointerTo(pointer, term, '@context')) : [],
  );
  return [{ value: context, pointer }, ...scoped];
}

function unsafeTermFaults(map: JsonObject, pointer: string): readonly InputIssue[] {
  return Object.keys(map)
    .filter(isUnsafeTerm)
    .map((term) => ({
      pointer: pointerTo(pointer, term),
      detail: `"${term}" cannot be a term: JSON-LD processors cannot handle this name.`,
    }));
}

/**
 * The first definition that depends on too long a chain of others, or on itself. Long chains are limited, because
 * each step copies the IRI so far and uses stack. The length of each term's chain is raised step by step until no
 * length changes.
 */
function chainFaults(map: JsonObject, pointer: string): Record<'chains' | 'circles', readonly InputIssue[]> {
  const dependencies = new Map([...termDependencies(map)].filter(([, names]) => names.length > 0));
  const ranks = new Map<string, number>();
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (const [term, names] of dependencies) {
      const rank = 1 + Math.max(...names.map((name) => ranks.get(name) ?? 0));
      if (rank === ranks.get(term)) continue;
      if (rank > CONTEXT_LIMITS.chain) {
        const at = pointerTo(pointer, term);
        if (leadsToCircle(term, dependencies))
          return {
            chains: [],
            circles: [
              {
                pointer: at,
                detail: 'The definition leads back to itself. (JSON-LD 1.1: cyclic IRI mapping)',
              },
            ],
          };
        const detail = `The definition leads through more than ${CONTEXT_LIMITS.chain} other terms.`;
        return { chains: [{ pointer: at, detail }], circles: [] };
      }
      ranks.set(term, rank);
      hasMoved = true;
    }
  }
  return { chains: [], circles: [] };
}

/** Whether a term leads to itself, or to terms that form a cycle. Not recursive, because chains may be long. */
function leadsToCircle(start: string, dependencies: ReadonlyMap<string, readonly string[]>): boolean {
  const done = new Set<string>();
  const trail = new Map([[start, [...(dependencies.get(start) ?? [])]]]);
  const path = [start];
  for (let term = path.at(-1); term !== undefined; term = path.at(-1)) {
    const next = trail.get(term)?.pop();
    if (next === undefined) {
      done.add(term);
      trail.delete(term);
      path.pop();
    } else if (trail.has(next)) return true;
    else if (!done.has(next)) {
      trail.set(next, [...(dependencies.get(next) ?? [])]);
      path.push(next);
    }
  }
  return false;
}

/**
 * The pointer to a name or string that is too long. For a name, it is the pointer to the containing value, to stay
 * readable.
 */
function longText(value: unknown, pointer: string): string | undefined {
  const isLong = (text: unknown) => typeof text === 'string' && text.length > CONTEXT_LIMITS.textCharacters;
  if (isLong(value)) return pointer;
  if (!isNested(value)) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (isLong(name)) return pointer;
    const found = longText(item, pointerTo(pointer, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds nesting that is too deep, or too much of it. Not recursive, because the depth is not known yet. */
function nestingFault(context: unknown, pointer: string): InputIssue | undefined {
  const { depth, terms } = CONTEXT_LIMITS;
  let level: readonly ContextPart[] = isNested(context) ? [{ value: context, pointer }] : [];
  for (let at = 0; level[0] !== undefined; at += 1) {
    if (at >= depth) {
      const detail = `Contexts may be nested ${depth} deep; this one is deeper.`;
      return { pointer: level[0].pointer, detail };
    }
    // A definition is a map, and may contain one array.
    if (level.length > 2 * terms) return { pointer, detail: `A context may have at most ${terms} terms.` };
    level = level.flatMap((part) =>
      Object.entries(part.value as object).flatMap(([key, item]: [string, unknown]) =>
        isNested(item) ? [{ value: item, pointer: pointerTo(part.pointer, key) }] : [],
      ),
    );
  }
  return undefined;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * For each term of a map, the other terms of the map that its definition depends on: a term that it is mapped to, or
 * the prefixes of compact IRIs (JSON-LD 1.1 API § 4.2).
 */
function termDependencies(map: JsonObject): ReadonlyMap<string, readonly string[]> {
  const terms = Object.keys(map).filter((name) => !name.startsWith('@'));
  return new Map(
    terms.map((term) => {
      const mentioned = [...iriTexts(term, member(map, term)), term].flatMap((text) =>
        text === term ? [prefixOf(text)] : [text, prefixOf(text)],
      );
      const names = mentioned.filter((name) => name !== undefined && Object.hasOwn(map, name)) as string[];
      return [term, [...new Set(names)]] as const;
    }),
  );
}

/** The terms of a map, each after those it depends on. Only for maps without long chains of dependencies. */
export function dependenciesFirst(map: JsonObject): readonly string[] {
  const dependencies = termDependencies(map);
  const ordered = new Set<string>();
  const visit = (term: string, trail: readonly string[]): void => {
    if (ordered.has(term) || trail.includes(term)) return;
    for (const name of dependencies.get(term) ?? []) visit(name, [...trail, term]);
    ordered.add(term);
  };
  for (const term of dependencies.keys()) visit(term, []);
  return [...ordered];
}

/** The strings of a definition that are expanded as IRIs when the term is defined. */
function iriTexts(term: string, definition: unknown): readonly string[] {
  const texts = isObject(definition)
    ? ['@id', '@type', '@reverse'].map((name) => member(definition, name))
    : [definition];
  return texts.filter((text): text is string => typeof text === 'string' && text !== term);
}

/** The text before the first colon of a compact IRI; undefined for IRIs with an authority, which have no prefix. */
export function prefixOf(text: string): string | undefined {
  const colon = text.indexOf(':');
  return colon <= 0 || text.startsWith('//', colon + 1) ? undefined : text.slice(0, colon);
}
