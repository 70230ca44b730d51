import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { ATTRIBUTE_KINDS } from '../../sidecar/ngsi-ld/members.js';
import { stringAt } from './json-positions.js';

/** Maximum time to parse a text before suggesting completions, in milliseconds. */
const PARSE_MS = 200;

/** Keywords of JSON Schema, each with the beginning of its value and an explanation. */
const KEYWORDS: readonly (readonly [string, string, string])[] = [
  ['$schema', '"https://json-schema.org/draft/2020-12/schema"', 'the draft of JSON Schema'],
  ['$id', '""', 'the URL of the schema'],
  ['$ref', '""', 'another schema that applies here'],
  ['$defs', '{}', 'schemas for use in $ref'],
  ['$comment', '""', 'a note for editors of the schema'],
  ['title', '""', 'a short name'],
  ['description', '""', 'begins with the kind of the attribute: Property. Relationship. …'],
  ['examples', '[]', 'examples of valid values'],
  ['default', '', 'the value if none is given'],
  ['deprecated', 'true', 'should no longer be used'],
  ['type', '""', 'the JSON type'],
  ['const', '', 'the only value'],
  ['enum', '[]', 'the allowed values'],
  ['format', '""', 'uri, date-time …'],
  ['pattern', '""', 'a regular expression for the text'],
  ['minLength', '1', 'minimum number of characters'],
  ['maxLength', '100', 'maximum number of characters'],
  ['minimum', '0', 'smallest allowed number'],
  ['maximum', '100', 'largest allowed number'],
  ['exclusiveMinimum', '0', 'numbers must be greater'],
  ['exclusiveMaximum', '100', 'numbers must be less'],
  ['multipleOf', '1', 'a divisor'],
  ['properties', '{}', 'attributes by name'],
  ['required', '[]', 'names of required attributes'],
  ['additionalProperties', 'false', 'all other attributes'],
  ['patternProperties', '{}', 'attributes by a pattern of their names'],
  ['propertyNames', '{}', 'a schema for the names'],
  ['minProperties', '1', 'minimum number of members'],
  ['maxProperties', '10', 'maximum number of members'],
  ['items', '{}', 'the elements of a list'],
  ['prefixItems', '[]', 'the first elements of a list'],
  ['contains', '{}', 'at least one element of a list'],
  ['minItems', '1', 'minimum number of elements'],
  ['maxItems', '10', 'maximum number of elements'],
  ['uniqueItems', 'true', 'no duplicate elements'],
  ['allOf', '[]', 'all of these apply'],
  ['anyOf', '[]', 'at least one of these applies'],
  ['oneOf', '[]', 'exactly one of these applies'],
  ['not', '{}', 'this must not apply'],
  ['if', '{}', 'if this applies'],
  ['then', '{}', 'then this must also apply'],
  ['else', '{}', 'otherwise this must apply'],
  ['dependentRequired', '{}', 'attributes that require others'],
  ['dependentSchemas', '{}', 'schemas that apply if an attribute is present'],
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
  const values = isKind
    ? ATTRIBUTE_KINDS
    : Object.hasOwn(VALUES, name ?? '')
      ? VALUES[name ?? '']
      : undefined;
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
