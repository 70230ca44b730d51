import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';
import { guessForm, type SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { featuresIn, isFeature } from '../../ngsi-ld/representation/geojson.js';
import { REFERENCE_KEYWORDS } from '../json-schema/linker.js';
import { ownMetaSchemaUri } from '../json-schema/keywords.js';
import { contextNamesIn } from './context-names.js';

/** What an import needs to know about a document before it stores it. */
export interface DocumentFacts {
  /** What the document can be, judging by its members. Models do not use an `other` document. */
  readonly kind: 'schema' | 'context' | 'urls' | 'other';
  readonly id?: string;
  readonly title?: string;
  /** For `urls`, a table of URLs: the file of each URL. */
  readonly urls?: readonly (readonly [url: string, file: string])[];
  /** Whether it describes a `type`, as schemas of entities do. */
  readonly isEntity: boolean;
  /** The representation of the entity that the document may be, or of all entities in it. */
  readonly form?: SubmittedForm;
  /** Documents that it names by `$schema`, `$ref` and the like, in order of first appearance, without duplicates. */
  readonly references: readonly NamedDocument[];
  /** Contexts named in its `@context`, as written; for an array, those of its items. */
  readonly contexts: readonly string[];
  /** `$id`s within it, which do not identify separate documents. */
  readonly innerIds: readonly NamedDocument[];
}

/** A URI reference without its fragment. */
interface NamedDocument {
  readonly target: string;
  /** The `$id`s that enclose it, outermost first, without that of the document. */
  readonly within: readonly string[];
}

type Description = { readonly facts: DocumentFacts } | { readonly unreadable: Unreadable };

/** Maximum number of references to other documents; more than any schema has. */
const MAX_REFERENCES = 1000;

/** Keywords of schemas; every schema has at least one of them. */
const SCHEMA_KEYWORDS = [
  '$schema',
  '$defs',
  'definitions',
  'properties',
  'allOf',
  'anyOf',
  'oneOf',
  '$ref',
  '$anchor',
];

/** Parses a document strictly and classifies it. @param text without a byte order mark */
export function describeDocument(text: string): Description {
  const read = readJson(text);
  if ('unreadable' in read) return read;
  const value = read.value as JsonValue;
  const facts = isArray(value)
    ? { ...NO_FACTS, contexts: contextsNamedBy(value) }
    : isObject(value)
      ? factsOf(value)
      : NO_FACTS;
  // A GeoJSON Feature has `properties`, like a schema.
  const isEntity = facts.kind === 'other' || (isObject(value) && isFeature(value));
  const form = isEntity ? formOf(value) : undefined;
  return { facts: form === undefined ? facts : { ...facts, form } };
}

function formOf(value: JsonValue): SubmittedForm | undefined {
  const items = featuresIn(value) ?? [value].flat();
  const forms = items.map((item) => {
    if (!isObject(item) || !Object.hasOwn(item, 'type')) return undefined;
    return isFeature(item) ? 'geojson' : guessForm(Object.entries(item));
  });
  return new Set(forms).size === 1 ? forms[0] : undefined;
}

/** The facts about a document that could not be read or is not part of an import. */
export const NO_FACTS: DocumentFacts = {
  kind: 'other',
  isEntity: false,
  references: [],
  contexts: [],
  innerIds: [],
};

function factsOf(document: JsonObject): DocumentFacts {
  const [id, title] = [member(document, identifierIn(document)), member(document, 'title')];
  const urls = urlsIn(document);
  if (urls !== undefined) return { ...NO_FACTS, kind: 'urls', urls };
  const isContext = Object.hasOwn(document, '@context') && Object.keys(document).length === 1;
  const isSchema = !isContext && isSchemaLike(document);
  return {
    ...NO_FACTS,
    kind: isContext ? 'context' : isSchema ? 'schema' : 'other',
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    isEntity: isSchema && describesType(document),
    contexts: contextsNamedBy([document]),
    ...(isSchema ? namesIn(document) : {}),
  };
}

/** Returns the keyword that identifies schemas in the document's draft; `$id` if the draft is unknown. */
function identifierIn(document: JsonObject): '$id' | 'id' {
  const dialect = member(document, '$schema');
  return typeof dialect === 'string' && /json-schema\.org\/draft-04\//.test(dialect) ? 'id' : '$id';
}

function contextsNamedBy(documents: readonly JsonValue[]): readonly string[] {
  const contexts = documents.flatMap((one) => (isObject(one) ? [member(one, '@context') ?? {}] : []));
  return contextNamesIn(contexts).slice(0, MAX_REFERENCES);
}

/** Returns the members of a document in which every name is a URL and every value a string. */
function urlsIn(document: JsonObject): DocumentFacts['urls'] {
  const entries = Object.entries(document);
  const urls = entries.flatMap(([url, file]) =>
    typeof file === 'string' && /^(?:https?|urn):./.test(url) ? [[url, file] as const] : [],
  );
  return urls.length > 0 && urls.length === entries.length ? urls : undefined;
}

function isSchemaLike(document: JsonObject): boolean {
  const type = member(document, 'type');
  return (
    !Object.hasOwn(document, '@context') &&
    (SCHEMA_KEYWORDS.some((keyword) => Object.hasOwn(document, keyword)) ||
      (type === 'object' && Object.hasOwn(document, 'required')))
  );
}

function describesType(schema: JsonObject): boolean {
  const parts = member(schema, 'allOf');
  const all = [schema, ...(isArray(parts) ? parts.filter(isObject) : [])];
  return all.some((part) => {
    const properties = member(part, 'properties');
    return isObject(properties) && Object.hasOwn(properties, 'type');
  });
}

/** Returns the names of other documents, at any depth; the text is of bounded depth. */
function namesIn(document: JsonObject): Pick<DocumentFacts, 'references' | 'innerIds'> {
  const references = new Map<string, NamedDocument>();
  const innerIds = new Map<string, NamedDocument>();
  const identifier = identifierIn(document);
  const note = (into: Map<string, NamedDocument>, reference: string, within: readonly string[]): void => {
    const target = reference.split('#', 1)[0] ?? '';
    if (target !== '' && into.size < MAX_REFERENCES)
      into.set(JSON.stringify([target, within]), { target, within });
  };
  // The document named by `$schema` must be stored before the schema, as those named by `$ref` must be.
  note(references, ownMetaSchemaUri(document) ?? '', []);
  const visit = (value: JsonValue, within: readonly string[]): void => {
    if (isArray(value)) for (const item of value) visit(item, within);
    if (!isObject(value)) return;
    const id = value === document ? undefined : member(value, identifier);
    let inner = within;
    if (typeof id === 'string' && !id.startsWith('#')) {
      note(innerIds, id, within);
      inner = [...within, id];
    }
    for (const keyword of REFERENCE_KEYWORDS) {
      const reference = member(value, keyword);
      if (typeof reference === 'string') note(references, reference, inner);
    }
    for (const item of Object.values(value)) visit(item, inner);
  };
  visit(document, []);
  return { references: [...references.values()], innerIds: [...innerIds.values()] };
}
