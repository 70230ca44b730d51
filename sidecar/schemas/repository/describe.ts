import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';
import { guessForm, type SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { featuresIn, isFeature } from '../../ngsi-ld/representation/geojson.js';
import { REFERENCE_KEYWORDS } from '../json-schema/linker.js';
import { ownMetaSchemaUri } from '../json-schema/keywords.js';
import { contextNamesIn } from './context-names.js';

/** What an import has to know of a document before it stores it. */
export interface DocumentFacts {
  /** What it can be by its members; models do not use an `other` document. */
  readonly kind: 'schema' | 'context' | 'urls' | 'other';
  readonly id?: string;
  readonly title?: string;
  /** Of `urls`, a table of URLs: the file of each. */
  readonly urls?: readonly (readonly [url: string, file: string])[];
  /** Whether it describes a `type`, as schemas of entities do. */
  readonly isEntity: boolean;
  /** The representation of the entity that it may be, or of all entities in it. */
  readonly form?: SubmittedForm;
  /** Documents that it names by `$schema`, `$ref` and the like, in the order in which they are met, none twice. */
  readonly references: readonly NamedDocument[];
  /** Contexts that its `@context` names, as it writes them; or those of its items, where it is an array. */
  readonly contexts: readonly string[];
  /** `$id`s within it, which are not documents of their own. */
  readonly innerIds: readonly NamedDocument[];
}

/** A URI reference without its fragment. */
interface NamedDocument {
  readonly target: string;
  /** The `$id`s around it, from the outermost, without that of the document. */
  readonly within: readonly string[];
}

export type Description =
  | { readonly facts: DocumentFacts }
  | { readonly unreadable: Unreadable; readonly hasComments: boolean };

/** More references to other documents than any schema has. */
const MAX_REFERENCES = 1000;

/** Keywords of which a schema has at least one. */
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

/** Reads a document strictly, and says what it is. @param text without a byte order mark */
export function describeDocument(text: string): Description {
  const read = readJson(text);
  if ('unreadable' in read) return { ...read, hasComments: isJsonWithComments(text) };
  const value = read.value as JsonValue;
  const facts = isArray(value)
    ? { ...NO_FACTS, contexts: contextsNamedBy(value) }
    : isObject(value)
      ? factsOf(value)
      : NO_FACTS;
  // A Feature has `properties`, as schemas do.
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

/** What is known of a document that could not be read, or is none of an import. */
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
    kind: isContext ? 'context' : isSchema ? 'schema' : 'other',
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    isEntity: isSchema && describesType(document),
    contexts: contextsNamedBy([document]),
    ...(isSchema ? namesIn(document) : NO_NAMES),
  };
}

/** The keyword by which schemas of its draft are called; that of most drafts, where its own is not known. */
function identifierIn(document: JsonObject): '$id' | 'id' {
  const dialect = member(document, '$schema');
  return typeof dialect === 'string' && /json-schema\.org\/draft-04\//.test(dialect) ? 'id' : '$id';
}

function contextsNamedBy(documents: readonly JsonValue[]): readonly string[] {
  const contexts = documents.flatMap((one) => (isObject(one) ? [member(one, '@context') ?? {}] : []));
  return contextNamesIn(contexts).slice(0, MAX_REFERENCES);
}

/** The members of a document of which each name is a URL, and each value a text. */
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

type Names = Pick<DocumentFacts, 'references' | 'innerIds'>;

const NO_NAMES: Names = { references: [], innerIds: [] };

/** The names of other documents, wherever they stand; the text is of bounded depth. */
function namesIn(document: JsonObject): Names {
  const references = new Map<string, NamedDocument>();
  const innerIds = new Map<string, NamedDocument>();
  const identifier = identifierIn(document);
  const note = (into: Map<string, NamedDocument>, reference: string, within: readonly string[]): void => {
    const target = reference.split('#', 1)[0] ?? '';
    if (target !== '' && into.size < MAX_REFERENCES)
      into.set(JSON.stringify([target, within]), { target, within });
  };
  // The document that `$schema` names comes before the schema, as those of `$ref`s do.
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

/**
 * Whether a text that is not JSON is JSON with comments, as the settings of many tools are; commas may stand before closing
 * brackets then, too. No tool for JSON Schema or JSON-LD reads such a file. Takes linear time but for the parsing.
 */
function isJsonWithComments(text: string): boolean {
  const bare = withoutComments(text);
  if (bare === undefined || bare.length === text.length) return false;
  try {
    JSON.parse(withoutTrailingCommas(bare));
    return true;
  } catch {
    return false;
  }
}

/** The text without its comments; undefined where one does not end. */
function withoutComments(text: string): string | undefined {
  let bare = '';
  let at = 0;
  while (at < text.length) {
    const end = startOf(text, at, '/');
    bare += text.slice(at, end);
    at = end;
    if (text[at + 1] === '/') {
      const line = text.indexOf('\n', at);
      at = line === -1 ? text.length : line;
    } else if (text[at + 1] === '*') {
      const close = text.indexOf('*/', at + 2);
      if (close === -1) return undefined;
      at = close + 2;
    } else if (at < text.length) {
      bare += text.charAt(at);
      at += 1;
    }
  }
  return bare;
}

function withoutTrailingCommas(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const end = startOf(text, at, ',');
    kept += text.slice(at, end);
    const next = end + 1 + (/^\s*/.exec(text.slice(end + 1, end + 1 + MAX_GAP))?.[0].length ?? 0);
    if (text[end] === ',' && text[next] !== '}' && text[next] !== ']') kept += ',';
    at = end + 1;
  }
  return kept;
}

/** Blanks between a comma and the bracket behind it. */
const MAX_GAP = 1000;

/** Where a character stands next outside of strings; the end of the text where it does not. */
function startOf(text: string, from: number, character: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === character) return at;
    if (text[at] !== '"') continue;
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  }
  return text.length;
}
