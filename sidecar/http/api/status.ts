import { lessonsOf, type Learnt } from '../../purge/broker/index.js';
import { readHealth, type HealthOptions } from '../health.js';
import { current } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { TEXT, TIME, timeText } from './schema-types.js';

export interface StatusEndpointOptions extends HealthOptions {
  /** What counts now of what was learnt about the broker. */
  readonly learnt: () => Learnt;
}

/** The gateway, its broker and its database. As open as /health, and without an address, a tenant or a query. */
export function statusEndpoint(options: StatusEndpointOptions): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    isVolatile: true,
    isStatic: true,
    tag: 'This API',
    summary: 'Read whether broker and database answer, and what was learnt about the broker',
    description: 'The same as /health/ready, with status 200 in any case.',
    answers: { 200: { description: 'How it is now.', content: { 'application/json': STATUS } } },
    handle: async () => {
      const learnt = lessonsOf(options.learnt()).map(({ atMs, ...lesson }) => ({
        ...lesson,
        learntAt: timeText(atMs),
      }));
      return current({ ...(await readHealth(options)), learnt });
    },
  });
}

const PART = { type: 'string', enum: ['up', 'down', 'not asked'] } as const;

const STATUS = {
  title: 'Status',
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['up', 'down', 'shutting down'] },
    broker: PART,
    database: PART,
    learnt: {
      type: 'array',
      description: 'What purges have learnt about the broker; each counts for an hour.',
      items: {
        title: 'Lesson',
        type: 'object',
        properties: {
          collection: { type: 'string', enum: ['entities', 'temporal'] },
          name: TEXT,
          kind: {
            type: 'string',
            enum: ['proof', 'limit'],
            description: 'proof: it was seen to work; limit: purges are slower or more careful for it.',
          },
          detail: TEXT,
          learntAt: TIME,
        },
        required: ['collection', 'name', 'kind', 'detail', 'learntAt'],
      },
    },
  },
  required: ['status', 'broker', 'database', 'learnt'],
} as const;
