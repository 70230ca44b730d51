import { ENTITY_PARAMETERS, TEMPORAL_PARAMETERS } from '../../purge/query/parameters.js';
import { optionSchemas } from '../../shared/purge-options.js';
import { PURGE, UNIT } from './purge-schemas.js';
import { COUNT, STRINGS, TEXT, type JsonSchema } from './schema-types.js';

/** A part of an OpenAPI document. */
type Part = Readonly<Record<string, unknown>>;

/** What some parameters mean that select; the others are those of the broker's GET (clause 6.4.3.2). */
const MEANINGS: Readonly<Record<string, string>> = {
  drop: 'Attributes to remove from each match, instead of the entity.',
  keep: 'Attributes to keep of each match; all others are removed.',
};

const OPTIONS: Readonly<Record<string, JsonSchema | undefined>> = optionSchemas('query');

const PREVIEW = {
  title: 'PurgePreview',
  type: 'object',
  properties: {
    matched: COUNT,
    sample: { ...STRINGS, description: 'Ids of entities that match, at most 100.' },
    unit: {
      ...UNIT,
      description: 'What is counted; if not given: entities, or attributes with drop or keep.',
    },
    atLeast: { type: 'boolean', description: 'true: there are more than could be counted.' },
    items: {
      type: 'array',
      description: 'Some of the parts that match, at most 100.',
      items: {
        type: 'object',
        properties: { entityId: TEXT, attribute: TEXT, datasetId: TEXT, instanceId: TEXT },
        required: ['entityId'],
      },
    },
    hints: { ...STRINGS, description: 'Why nothing may match.' },
  },
  required: ['matched', 'sample'],
} as const;

const SUMMARY = {
  title: 'PurgeSummary',
  type: 'object',
  properties: {
    id: TEXT,
    ...{ matched: COUNT, deleted: COUNT, alreadyGone: COUNT, failed: COUNT, unknown: COUNT },
    ...{ durationMs: { type: 'number' }, requests: COUNT },
  },
  required: ['id', 'matched', 'deleted', 'alreadyGone', 'failed', 'unknown'],
} as const;

const RESULT = {
  title: 'BatchOperationResult',
  type: 'object',
  properties: {
    success: STRINGS,
    errors: {
      type: 'array',
      items: { type: 'object', properties: { entityId: TEXT, error: { type: 'object' } } },
    },
  },
  required: ['success', 'errors'],
} as const;

/**
 * The purge routes of NGSI-LD, which are beside this API, for its OpenAPI document.
 *
 * @param use replaces a schema by a reference to its component
 * @param problem the schema of problems
 * @param purgeId the header that names the record of a purge
 */
export function purgePaths(
  use: (schema: JsonSchema) => JsonSchema,
  problem: JsonSchema,
  purgeId: Part,
): Readonly<Record<string, Part>> {
  const headers = { 'Purge-Id': purgeId };
  const json = (schema: JsonSchema) => ({ 'application/json': { schema: use(schema) } });
  const path = (id: string, summary: string, names: ReadonlySet<string>): Part => ({
    delete: {
      operationId: id,
      tags: ['Purges'],
      summary,
      description: 'What the same GET would show is deleted. `Prefer: respond-async` makes it a job.',
      parameters: [...[...names].map(parameterOf), PREFER],
      responses: {
        200: {
          description: 'A dry run, or `Prefer: return=representation`.',
          headers,
          content: json({ oneOf: [PREVIEW, SUMMARY] }),
        },
        202: { description: 'With `Prefer: respond-async`: its record.', headers, content: json(PURGE) },
        204: { description: 'All matches are gone. The counts are in the headers Purge-*.', headers },
        207: {
          description: 'Some could not be deleted, or may be there still.',
          headers,
          content: json(RESULT),
        },
        default: {
          description: 'Refused, or ended early.',
          content: { 'application/problem+json': { schema: use(problem) } },
        },
      },
      security: [{ GatewayToken: [] }, {}],
    },
  });
  return {
    '/ngsi-ld/v1/entities': path(
      'purgeEntities',
      'Purge entities, or attributes of them',
      ENTITY_PARAMETERS.names,
    ),
    '/ngsi-ld/v1/temporal/entities': path(
      'purgeTemporalEntities',
      'Purge the history of entities, or parts of it',
      TEMPORAL_PARAMETERS.names,
    ),
  };
}

const PREFER = {
  name: 'Prefer',
  in: 'header',
  description: 'respond-async, or return=representation (RFC 7240).',
  schema: TEXT,
};

function parameterOf(name: string): Part {
  const option: JsonSchema = OPTIONS[name] ?? TEXT;
  const { description = MEANINGS[name] ?? 'As in the query of a broker.', ...schema } = option;
  return { name, in: 'query', description, schema };
}
