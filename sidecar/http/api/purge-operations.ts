import { Type, type TSchema } from 'typebox';
import { ENTITY_PARAMETERS, TEMPORAL_PARAMETERS } from '../../purge/index.js';
import { optionSchemas } from '../../shared/purge-options.js';
import { PURGE, UNIT } from './purge-schemas.js';
import type { Part } from './openapi-operation.js';
import { COUNT, STRINGS, TEXT } from './schemas.js';

/** Descriptions of some selecting parameters; the others are those of the broker's GET (clause 6.4.3.2). */
const MEANINGS: Readonly<Record<string, string>> = {
  drop: 'Attributes to remove from each match, instead of the entity.',
  keep: 'Attributes to keep of each match; all others are removed.',
};

const OPTIONS: Readonly<Record<string, Part | undefined>> = optionSchemas('query');

const PREVIEW = Type.Object(
  {
    matched: COUNT,
    sample: { ...STRINGS, description: 'Ids of entities that match, at most 100.' },
    unit: Type.Optional({
      ...UNIT,
      description: 'What is counted; if not given: entities, or attributes with drop or keep.',
    }),
    atLeast: Type.Optional(Type.Boolean({ description: 'true: there are more than could be counted.' })),
    items: Type.Optional(
      Type.Array(
        Type.Object({
          entityId: TEXT,
          attribute: Type.Optional(TEXT),
          datasetId: Type.Optional(TEXT),
          instanceId: Type.Optional(TEXT),
        }),
        { description: 'Some of the parts that match, at most 100.' },
      ),
    ),
    hints: Type.Optional({ ...STRINGS, description: 'Why nothing may match.' }),
  },
  { title: 'PurgePreview' },
);

const SUMMARY = Type.Object(
  {
    id: TEXT,
    matched: COUNT,
    deleted: COUNT,
    alreadyGone: COUNT,
    failed: COUNT,
    unknown: COUNT,
    durationMs: Type.Optional(Type.Number()),
    requests: Type.Optional(COUNT),
  },
  { title: 'PurgeSummary' },
);

const RESULT = Type.Object(
  {
    success: STRINGS,
    errors: Type.Array(Type.Object({ entityId: Type.Optional(TEXT), error: Type.Optional(Type.Object({})) })),
  },
  { title: 'BatchOperationResult' },
);

/** Describes the NGSI-LD purge routes for the OpenAPI document; they are outside this API. */
export function purgePaths(problem: TSchema, purgeId: Part): Readonly<Record<string, Part>> {
  const headers = { 'Purge-Id': purgeId };
  const json = (schema: TSchema) => ({ 'application/json': { schema } });
  const path = (id: string, summary: string, names: ReadonlySet<string>): Part => ({
    delete: {
      operationId: id,
      tags: ['Purges'],
      summary,
      description: 'Deletes what the same GET would show. `Prefer: respond-async` makes it a job.',
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
          description: 'Some could not be deleted, or may still exist.',
          headers,
          content: json(RESULT),
        },
        default: {
          description: 'Refused, or ended early.',
          content: { 'application/problem+json': { schema: problem } },
        },
      },
      security: [{ GatewayToken: [] }, { SignIn: [] }, {}],
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
  const { description, ...schema } = OPTIONS[name] ?? {
    ...TEXT,
    description: MEANINGS[name] ?? 'As in the query of a broker.',
  };
  return { name, in: 'query', description, schema };
}
