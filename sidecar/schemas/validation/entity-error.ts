/** Something that is wrong with an entity. */
export interface EntityError {
  /** Reference tokens (RFC 6901) of a place in the entity as submitted. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that asks, or could ask, for what is not so. */
  readonly keyword: string;
  /** Predicate of a sentence about that place; made when it is asked for. */
  readonly say: () => string;
}
