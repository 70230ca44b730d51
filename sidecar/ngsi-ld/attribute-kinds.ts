/** The types of attributes (ETSI GS CIM 009, clause 4.5). */
export const ATTRIBUTE_KINDS = [
  ...['Property', 'Relationship', 'GeoProperty', 'LanguageProperty', 'VocabProperty'],
  ...['ListProperty', 'ListRelationship', 'JsonProperty'],
] as const;

export type AttributeKind = (typeof ATTRIBUTE_KINDS)[number];
