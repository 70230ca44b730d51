import Fastify, { type InjectOptions } from 'fastify';
import { registerApi, type ApiOptions } from '../../../sidecar/http/api/register-api.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { Access, setRule } from '../../../sidecar/http/access.js';
import { PurgeFailedError } from '../../../sidecar/jobs/errors.js';

/** The results of a service, by the names of its methods; the others do nothing. An error is thrown. */
export type Doing = Readonly<Record<string, unknown>>;

/** Of an import, in bytes. */
export const IMPORT_LIMIT = 2000;

/** The API over a service that notes its calls; creating the API takes longer than any request. */
function makeApi(bodyLimit: number) {
  const state: { doing: Doing; calls: unknown[][]; thrown: unknown } = {
    doing: {},
    calls: [],
    thrown: undefined,
  };
  const room = new Proxy(
    {},
    {
      get: (_target, name: string) => {
        const answer = state.doing[name];
        // Not a promise.
        if (name === 'watch') return answer;
        return async (...given: readonly unknown[]) => {
          state.calls.push([name, ...given]);
          if (answer instanceof Error) throw answer;
          return typeof answer === 'function'
            ? (answer as (...all: readonly unknown[]) => unknown)(...given)
            : answer;
        };
      },
    },
  );
  const kept = { domains: room, models: room, contexts: room, references: room };
  const schemas = {
    ...kept,
    store: kept,
    documents: room,
    files: room,
    cachedModels: room,
    comparison: room,
    domainContexts: room,
  };
  const options: object = {
    schemas,
    workbench: room,
    transfer: room,
    purges: room,
    retention: room,
    baseUrlOf: () => 'http://gw',
    access: new Access({ tokens: ['secret'] }),
    bodyLimit,
    importLimit: IMPORT_LIMIT,
  };
  const app = Fastify({ routerOptions: { maxParamLength: 1000 } }).addHook('onRoute', setRule);
  app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    state.thrown = error;
    const cause = error instanceof PurgeFailedError ? error.cause : error;
    const status = cause instanceof RequestRefusedError ? cause.problem.status : (error.statusCode ?? 500);
    return reply.code(status).send({ detail: error.message });
  });
  registerApi(app, options as ApiOptions);
  return { app, state };
}

const apis = new Map<number, ReturnType<typeof makeApi>>();

/** Sends a request with the token to the API, with a path below /api/v2. */
export async function send(
  method: NonNullable<InjectOptions['method']>,
  path: string,
  sent: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  doing: Doing = {},
  bodyLimit = 1000,
) {
  const { app, state } = apis.get(bodyLimit) ?? makeApi(bodyLimit);
  apis.set(bodyLimit, { app, state });
  Object.assign(state, { doing, calls: [], thrown: undefined });
  const { body } = sent;
  const answer = await app.inject({
    method,
    url: `/api/v2${path}`,
    headers: {
      'x-gateway-token': 'secret',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...sent.headers,
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { calls, thrown } = state;
  return {
    status: answer.statusCode,
    text: answer.body,
    headers: answer.headers,
    calls,
    thrown,
    json: () => answer.json<unknown>(),
  };
}
