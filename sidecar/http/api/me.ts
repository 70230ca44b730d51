import { Type } from 'typebox';
import { ROLES } from '../../shared/roles.js';
import { okWithoutETag } from './answer.js';
import { json, STRINGS, TEXT } from './schemas.js';
import type { Api } from './routes.js';

/** The route that shows the caller and its rights. The console uses it, and it is a way to test an access token. */
export function meRoute(api: Api): void {
  api.get('/me', {
    schema: {
      tags: ['This API'],
      operationId: 'getMe',
      summary: 'Read who you are to the gateway, and which roles and tenants you have',
      description: 'If sign-in is off, you have all of them.',
      response: { 200: json('You.', ME) },
    },
    config: { isVolatile: true },
    handler: async ({ caller: { name, roles, tenants } }) => {
      const own = ROLES.filter((role) => roles.has(role));
      return okWithoutETag({ caller: name, roles: own, tenants: tenants && [...tenants] });
    },
  });
}

const ME = Type.Object(
  {
    caller: { ...TEXT, description: 'Your name in records.' },
    roles: Type.Array(Type.Enum([...ROLES], { type: 'string' }), {
      description: 'Each role with those that it includes.',
    }),
    tenants: Type.Optional({
      ...STRINGS,
      description: 'The tenants that you may work on, `""` for the default one; all when not given.',
    }),
  },
  { title: 'Me' },
);
