import { blameSubmitted, UnsupportedDialectError, type Blame } from './errors.js';
import { member, type JsonObject } from '../../shared/json/json.js';

/** The URIs of the supported drafts, as `$schema` names them. */
export const DIALECT_URIS = {
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
} as const;

/** A supported draft of JSON Schema. */
export type Dialect = keyof typeof DIALECT_URIS;

const NEWEST: Dialect = '2020-12';

/** `http://json-schema.org/schema` names no draft but the newest. */
const BY_URI: ReadonlyMap<string, Dialect> = new Map([
  ...Object.entries(DIALECT_URIS).map(([dialect, uri]) => [plain(uri), dialect as Dialect] as const),
  ['json-schema.org/schema', NEWEST],
]);

/**
 * The draft that a schema is written in, by its `$schema`, with or without an empty fragment, http or https.
 *
 * @param absent the draft of a schema without `$schema`
 * @throws {UnsupportedDialectError} for any other `$schema`
 */
export function dialectOf(
  schema: JsonObject,
  absent: Dialect = NEWEST,
  blame: Blame = blameSubmitted,
): Dialect {
  const uri = member(schema, '$schema');
  if (uri === undefined) return absent;
  const dialect = typeof uri === 'string' ? BY_URI.get(plain(uri)) : undefined;
  if (dialect !== undefined) return dialect;
  const shown = typeof uri === 'string' ? uri.slice(0, 200) : 'no string';
  const detail = `$schema is ${shown}; supported are ${Object.values(DIALECT_URIS).join(', ')}`;
  throw new UnsupportedDialectError(detail, [blame(['$schema'], detail)]);
}

function plain(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '');
}
