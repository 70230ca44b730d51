import { isObject } from '../../shared/json/json.js';
import { isUnsafeTerm } from './context-safety.js';
import { type ContextDocument, coreContextUrl, coreIriOf } from './core-context.js';

/** What the context of a model is generated from. */
export interface ContextSource {
  /** The entity type. */
  readonly type: string;
  /** Names of its attributes. */
  readonly attributes: readonly string[];
  /** Names of members of their values, at any depth; {@link namesInSchema} finds them. */
  readonly nested?: readonly string[];
}

/** The terms generated for the context of a model. */
export interface GeneratedContext {
  /** A flat map from terms to IRIs, with terms sorted by code units. */
  readonly terms: Readonly<Record<string, string>>;
  readonly warnings: readonly TermWarning[];
}

/** A name that did not become a term in the usual way. */
export interface TermWarning {
  /**
   * `core-term`: the core context defines it; `encoded`: its IRI contains it in encoded form; `no-term`: it is left
   * out.
   */
  readonly code: 'core-term' | 'encoded' | 'no-term';
  readonly term: string;
  readonly detail: string;
}

/** Members of entities that are not attributes. */
const STRUCTURAL_NAMES: ReadonlySet<string> = new Set(['id', 'type', '@id', '@type', '@context']);
/** Members of geometries, for which the core context has exactly the right terms. */
const GEOJSON_NAMES: ReadonlySet<string> = new Set(['coordinates', 'bbox']);

/** Terms of the core context that have the meaning in models that everybody expects, so they need no warning. */
const ORDINARY_CORE_TERMS: ReadonlySet<string> = new Set([
  'location',
  'observationSpace',
  'operationSpace',
  'title',
  'description',
]);

/**
 * Generates the context of a model: its type, its attributes and the members of their values, each mapped to base +
 * name.
 *
 * The context is flat and has no coercions, because brokers refuse normalized attributes whose terms have one. It
 * includes the members of values, because JSON-LD expands them as well: without a term they would end up in the
 * default vocabulary, outside the model.
 *
 * @param base see {@link isContextBase}
 */
export function generateContext(source: ContextSource, base: string): GeneratedContext {
  const nested = (source.nested ?? []).filter((name) => !GEOJSON_NAMES.has(name));
  const names = [...source.attributes, ...nested].filter((name) => !STRUCTURAL_NAMES.has(name));
  const terms: [string, string][] = [];
  const warnings: TermWarning[] = [];
  for (const name of [...new Set([source.type, ...names])].sort()) {
    const reason = noTermReason(name);
    const coreIri = coreIriOf(name);
    if (reason !== undefined) {
      warnings.push({ code: 'no-term', term: name, detail: `"${name}" ${reason}; it is left out.` });
    } else if (ORDINARY_CORE_TERMS.has(name)) {
      continue;
    } else if (coreIri !== undefined) {
      const detail = `"${name}" is a term of the NGSI-LD core context, where it means ${coreIri}; that meaning applies.`;
      warnings.push({ code: 'core-term', term: name, detail });
    } else {
      const iri = base + encoded(name);
      terms.push([name, iri]);
      if (iri !== base + name) {
        warnings.push({ code: 'encoded', term: name, detail: `"${name}" has the IRI ${iri}.` });
      }
    }
  }
  return { terms: Object.fromEntries(terms), warnings };
}

/**
 * A context document with the terms, followed by the core context, as brokers require it (ETSI GS CIM 009 V1.9.1,
 * clause 4.4).
 */
export function contextDocument(terms: Readonly<Record<string, unknown>>): ContextDocument {
  return { '@context': [terms, coreContextUrl()] };
}

/**
 * Whether a text can be the beginning of IRIs that end in names: it is an http, https or urn IRI that ends with a
 * separator.
 */
export function isContextBase(text: string): boolean {
  return (
    text.length <= 1024 &&
    /^(?:https?:\/\/[^/]|urn:[^:])\S*[/#:=]$/i.test(text) &&
    !NOT_IN_IRIS.test(text) &&
    URL.parse(text) !== null
  );
}

/** Characters that are not allowed in IRIs (RFC 3987 § 2.2). */
const NOT_IN_IRIS = /[\s\p{Cc}\p{Cs}"<>\\^`{|}]/u;
/** Characters that are not allowed in IRIs, or would begin a query, a fragment or an escape, or are for hosts only. */
const NOT_IN_SEGMENTS = /[\s\p{Cc}"<>\\^`{|}#%?[\]]/gu;

function encoded(name: string): string {
  return name.replaceAll(NOT_IN_SEGMENTS, (character) => encodeURIComponent(character));
}

/** Why a name cannot be a term, completing "NAME …"; undefined if it can. */
function noTermReason(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > 512) return 'is too long';
  if (name.startsWith('@')) return 'has the form of a JSON-LD keyword';
  if (/[:/]/.test(name)) return 'has the form of an IRI, full or compact, and needs no term';
  if (!name.isWellFormed()) return 'is not valid Unicode text';
  if (isUnsafeTerm(name)) return 'is a name that JSON-LD processors stumble over';
  return undefined;
}

/** Keywords of JSON Schema whose values are data, not schemas. */
const LITERALS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Keywords of JSON Schema that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);

/**
 * The names that a JSON schema describes under `properties`, at any depth, each once: attributes and members of their
 * values alike. Definitions are included even if nothing refers to them, so references need not be resolved.
 *
 * @param schema self-contained; nested no deeper than the stack allows
 */
export function namesInSchema(schema: unknown): readonly string[] {
  const names = new Set<string>();
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) {
      for (const item of part) visit(item);
    } else if (isObject(part)) {
      for (const [keyword, value] of Object.entries(part)) {
        if (LITERALS.has(keyword) || keyword.startsWith('x-')) continue;
        if (!NAMED.has(keyword) || !isObject(value)) {
          visit(value);
          continue;
        }
        for (const [name, inner] of Object.entries(value)) {
          if (keyword === 'properties') names.add(name);
          visit(inner);
        }
      }
    }
  };
  visit(schema);
  return [...names];
}
