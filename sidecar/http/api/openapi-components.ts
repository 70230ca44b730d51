import type { JsonSchema } from './schema-type.js';

/** Collects schemas that have a title as components of an OpenAPI document. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>();

  /** What stands in the place of a schema: a reference to its component, if it has a title. */
  use(schema: JsonSchema): JsonSchema {
    const { title } = schema;
    const inner = Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#keyword(keyword, value)]),
    );
    if (typeof title !== 'string') return inner;
    this.#schemas.set(title, inner);
    return { $ref: `#/components/schemas/${title}` };
  }

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#schemas);
  }

  #keyword(keyword: string, value: unknown): unknown {
    switch (keyword) {
      case 'items':
        return this.use(value as JsonSchema);
      case 'oneOf':
        return (value as readonly JsonSchema[]).map((schema) => this.use(schema));
      case 'properties':
        return Object.fromEntries(
          Object.entries(value as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => [
            name,
            this.use(schema),
          ]),
        );
      default:
        return value;
    }
  }
}
