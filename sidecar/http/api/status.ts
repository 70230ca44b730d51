import { Type } from 'typebox';
import type { PurgeService } from '../../jobs/purge-service.js';
import { describeFacts, type FactsByCollection } from '../../purge/broker/index.js';
import { VERSION } from '../../shared/version.js';
import { readHealth, type HealthOptions } from '../health.js';
import { okWithoutETag, formatTime } from './answer.js';
import { json, TEXT, TIME } from './schemas.js';
import type { Api } from './routes.js';

export interface StatusResourceOptions extends HealthOptions {
  /** Returns what is currently known about the broker. */
  readonly learnt: () => FactsByCollection;
  /** The setting ENVIRONMENT_NAME. */
  readonly environment: string | undefined;
  readonly purges: PurgeService;
  /** How the console signs people in; undefined if sign-in is off. */
  readonly consoleSignIn?: ConsoleSignIn | undefined;
}

export interface ConsoleSignIn {
  readonly issuer: string;
  /** Undefined if the console cannot sign people in. */
  readonly clientId?: string | undefined;
  readonly audience: string;
}

/**
 * The route with the status of the gateway, its broker and its database. It is as public as /health, and reveals no
 * address, tenant or query.
 */
export function statusRoute(api: Api, options: StatusResourceOptions): void {
  api.get('/status', {
    schema: {
      tags: ['This API'],
      operationId: 'getStatus',
      summary: 'Read whether broker and database answer, and what was learnt about the broker',
      description: 'The same as /health/ready, with status 200 in any case.',
      response: { 200: json('The current status.', STATUS) },
    },
    config: { isVolatile: true },
    handler: async () => {
      const learnt = describeFacts(options.learnt()).map(({ atMs, ...fact }) => ({
        ...fact,
        learntAt: formatTime(atMs),
      }));
      const { environment, consoleSignIn: signIn } = options;
      const archives = options.purges.archives.isOn || undefined;
      return okWithoutETag({
        version: VERSION,
        environment,
        archives,
        signIn,
        ...(await readHealth(options)),
        learnt,
      });
    },
  });
}

const PART = Type.Enum(['up', 'down', 'not asked'], { type: 'string' });

const STATUS = Type.Object(
  {
    version: { ...TEXT, description: 'Of this gateway.' },
    environment: Type.Optional({ ...TEXT, description: 'What the operator calls it: ENVIRONMENT_NAME.' }),
    archives: Type.Optional(Type.Boolean({ description: 'true: purges can archive what they delete.' })),
    signIn: Type.Optional(
      Type.Object(
        {
          issuer: { ...TEXT, description: 'The OpenID provider.' },
          clientId: Type.Optional({
            ...TEXT,
            description: 'The client id with which the console signs people in.',
          }),
          audience: { ...TEXT, description: 'The audience that access tokens must have.' },
        },
        { description: 'Where people sign in; not given if sign-in is off.' },
      ),
    ),
    status: Type.Enum(['up', 'down', 'shutting down'], { type: 'string' }),
    broker: PART,
    database: PART,
    learnt: Type.Array(
      Type.Object(
        {
          collection: Type.Enum(['entities', 'temporal'], { type: 'string' }),
          name: TEXT,
          kind: Type.Enum(['proof', 'limit'], {
            type: 'string',
            description: 'proof: it was seen to work; limit: it makes purges slower or more careful.',
          }),
          detail: TEXT,
          learntAt: TIME,
        },
        { title: 'Lesson' },
      ),
      { description: 'What purges have learnt about the broker; each counts for an hour.' },
    ),
  },
  { title: 'Status' },
);
