import { fileKey } from '../../shared/code-hosts.js';
import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { Linker, type LinkedSchema } from './linker.js';
import { ownMetaSchemaUri } from './vocabularies.js';

/** Finds a reference document by absolute URI without fragment; undefined when there is none. */
export type LoadDocument = (uri: string) => Promise<JsonValue | undefined>;

/**
 * Follows every reference of a schema, through the documents it refers to.
 *
 * The whole submitted schema counts; of another document only what references reach, so that a shared document may
 * hold broken parts that are never used. References within a document resolve against the URI by which it was asked
 * for, regardless of its own `$id`; the submitted schema's `$id`s come before documents of the same URI. Cycles are fine.
 *
 * @throws {SchemaRefusedError} naming every missing document, and every place that a document does not have
 * @throws {SchemaRefusedError}
 */
export async function resolveAll(schema: JsonObject, load: LoadDocument): Promise<LinkedSchema> {
  const metaSchemaOf = async (document: JsonValue | undefined) => {
    const uri = ownMetaSchemaUri(document);
    return uri === undefined ? undefined : load(uri);
  };
  const linker = new Linker(schema, await metaSchemaOf(schema));
  while (linker.needed.length > 0) {
    const found = await Promise.all(
      linker.needed.map(async (uri) => {
        const document = await load(uri);
        return { uri, document, metaSchema: await metaSchemaOf(document) };
      }),
    );
    for (const { uri, document, metaSchema } of found) linker.provide(uri, document, metaSchema);
  }
  return linker.finish();
}

/**
 * As {@link resolveAll}, for a schema whose documents are at hand; which refers to nothing else. A document that is not there
 * under its URI is the one that is there under another spelling of it (see `fileKey`): all of these have one content.
 *
 * @throws {SchemaRefusedError}
 */
export function resolveWith(
  schema: JsonObject,
  documents: ReadonlyMap<string, JsonValue> = new Map(),
): LinkedSchema {
  const files = new Map([...documents].map(([uri, document]) => [fileKey(uri), document]));
  const find = (uri: string) => {
    const key = documents.has(uri) ? undefined : fileKey(uri);
    return key === undefined ? documents.get(uri) : files.get(key);
  };
  const metaSchemaOf = (document: JsonValue | undefined) => find(ownMetaSchemaUri(document) ?? '');
  const linker = new Linker(schema, metaSchemaOf(schema));
  while (linker.needed.length > 0)
    for (const uri of linker.needed) {
      const document = find(uri);
      linker.provide(uri, document, metaSchemaOf(document));
    }
  return linker.finish();
}
