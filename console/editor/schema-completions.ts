import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { stringAt } from './json-places.js';

/** Maximum time to parse a text before suggesting completions, in milliseconds. */
const PARSE_MS = 200;

/** Keywords of JSON Schema, each with the beginning of its value and an explanation. */
const KEYWORDS: readonly (readonly [string, string, string])[] = [
  ['$schema', '"https://json-schema.org/draft/2020-12/schema"', 'the draft that is used'],
  ['$id', '""', 'the URL of the schema'],
  ['$ref', '""', 'another schema that holds here'],
  ['$defs', '{}', 'schemas to be referred to'],
  ['$comment', '""', 'a note for those who edit it'],
  ['title', '""', 'a short name'],
  ['description', '""', 'begins with the kind of the attribute: Property. Relationship. …'],
  ['examples', '[]', 'values that are valid'],
  ['default', '', 'a value for when there is none'],
  ['deprecated', 'true', 'not to be used any more'],
  ['type', '""', 'the JSON type'],
  ['const', '', 'the only value'],
  ['enum', '[]', 'the values that are allowed'],
  ['format', '""', 'uri, date-time …'],
  ['pattern', '""', 'a regular expression of the text'],
  ['minLength', '1', 'least characters'],
  ['maxLength', '100', 'most characters'],
  ['minimum', '0', 'least number'],
  ['maximum', '100', 'largest number'],
  ['exclusiveMinimum', '0', 'numbers are larger'],
  ['exclusiveMaximum', '100', 'numbers are smaller'],
  ['multipleOf', '1', 'a divisor'],
  ['properties', '{}', 'attributes by name'],
  ['required', '[]', 'names of attributes that have to be there'],
  ['additionalProperties', 'false', 'attributes that are not described'],
  ['patternProperties', '{}', 'attributes by a pattern of their names'],
  ['propertyNames', '{}', 'how names have to be'],
  ['minProperties', '1', 'least members'],
  ['maxProperties', '10', 'most members'],
  ['items', '{}', 'the elements of a list'],
  ['prefixItems', '[]', 'the first elements of a list'],
  ['contains', '{}', 'some element of a list'],
  ['minItems', '1', 'least elements'],
  ['maxItems', '10', 'most elements'],
  ['uniqueItems', 'true', 'no element twice'],
  ['allOf', '[]', 'all of these hold'],
  ['anyOf', '[]', 'one of these holds, or more'],
  ['oneOf', '[]', 'exactly one of these holds'],
  ['not', '{}', 'this does not hold'],
  ['if', '{}', 'where this holds'],
  ['then', '{}', 'that holds as well'],
  ['else', '{}', 'otherwise this holds'],
  ['dependentRequired', '{}', 'attributes that need others'],
  ['dependentSchemas', '{}', 'schemas that hold with an attribute'],
  ['x-ngsi', '{"type": "Property"}', 'the kind of the attribute, and its unit'],
];

/** Keywords that nearly every schema has; they are suggested first. */
const OFTEN: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'description',
  'items',
  'enum',
]);

/** Keywords whose member names are chosen by the author of the schema. */
const MAPS: ReadonlySet<string> = new Set(
  ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependentRequired'].concat(
    ['examples', 'default', 'const', 'enum'],
  ),
);

const VALUES: Readonly<Record<string, readonly string[]>> = {
  type: ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'],
  format: [
    'uri',
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'uuid',
    'iri',
    'hostname',
    'ipv4',
    'ipv6',
    'uri-reference',
    'json-pointer',
    'regex',
  ],
  $schema: [
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-07/schema#',
  ],
};

const KINDS = [
  'Property',
  'Relationship',
  'GeoProperty',
  'LanguageProperty',
  'VocabProperty',
  'JsonProperty',
  'ListProperty',
  'ListRelationship',
];

/** Suggests keywords of JSON Schema where a name may stand, and the values of a keyword. */
export function schemaCompletions(context: CompletionContext): CompletionResult | null {
  const { state, pos } = context;
  // The syntax tree of recently changed text may not reach this position yet.
  const tree = ensureSyntaxTree(state, pos, PARSE_MS) ?? syntaxTree(state);
  const node = tree.resolveInner(pos, -1);
  const word = context.matchBefore(/"?[$\w-]*/);
  const quoted = node.name === 'PropertyName' || node.name === 'String';
  const from = quoted ? node.from : (word?.from ?? pos);
  const to = quoted ? node.to : pos;
  if (!quoted && word?.text === '' && !context.explicit) return null;
  const property = around(node, 'Property');
  const isValue = property !== undefined && node.name !== 'PropertyName' && afterColon(state, property, from);
  if (isValue) return valuesFor(state, property, from, to);
  const object = around(node, 'Object');
  if (object === undefined || isMap(state, object)) return null;
  const hasValue = quoted && /^\s*:/.test(state.sliceDoc(to, to + 20));
  return { from, to, options: keywords(hasValue), validFor: /^"?[$\w-]*"?$/ };
}

function keywords(hasValue: boolean): readonly Completion[] {
  return KEYWORDS.map(([name, value, info]) => ({
    // The quotation mark is part of the typed text, with which the label is compared.
    label: `"${name}"`,
    displayLabel: name,
    detail: info,
    type: 'keyword',
    boost: OFTEN.has(name) ? 1 : 0,
    apply: hasValue ? `"${name}"` : `"${name}": ${value}`,
  }));
}

function valuesFor(
  state: EditorState,
  property: SyntaxNode,
  from: number,
  to: number,
): CompletionResult | null {
  const name = nameOf(state, property);
  const isKind = name === 'type' && nameOf(state, around(property.parent, 'Property')) === 'x-ngsi';
  const values = isKind ? KINDS : Object.hasOwn(VALUES, name ?? '') ? VALUES[name ?? ''] : undefined;
  if (values === undefined) return null;
  const options = values.map((value) => ({ label: `"${value}"`, displayLabel: value, type: 'enum' }));
  return { from, to, options, validFor: /^"?[^"]*"?$/ };
}

/** Whether the members of an object have arbitrary names: attributes, definitions, examples. */
function isMap(state: EditorState, object: SyntaxNode): boolean {
  const property = object.parent?.name === 'Property' ? object.parent : around(object.parent, 'Property');
  const name = nameOf(state, property);
  if (name === 'x-ngsi') return true;
  if (name === undefined || !MAPS.has(name)) return false;
  // An attribute may have the name of a keyword. The object around its description is then a map, but the description is not.
  const outer = property?.parent;
  return outer === null || outer === undefined || !isMap(state, outer);
}

function around(node: SyntaxNode | null, name: string): SyntaxNode | undefined {
  for (let one = node; one !== null; one = one.parent) if (one.name === name) return one;
  return undefined;
}

function nameOf(state: EditorState, property: SyntaxNode | undefined): string | undefined {
  const name = property?.firstChild;
  return name?.name === 'PropertyName' ? stringAt(state.doc.toString(), name) : undefined;
}

function afterColon(state: EditorState, property: SyntaxNode, position: number): boolean {
  const name = property.firstChild;
  return name !== null && position >= name.to && state.sliceDoc(name.to, position).includes(':');
}
