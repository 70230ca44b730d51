import type { Endpoint } from './endpoint.js';
import type { ProblemName } from './problem-kinds.js';

/** Every kind of problem that requests to an endpoint can be answered with: those that it names, and those that follow. */
export function problemsOf(endpoint: Endpoint): readonly ProblemName[] {
  const { method, path, body, problems = [], isConditional = false, isStatic = false } = endpoint;
  const hasBody = body !== undefined || endpoint.bodyText !== undefined;
  const names: readonly ProblemName[] = [
    // Unknown parameters, for one, are refused everywhere.
    'invalidRequest',
    ...(isWrite(method, endpoint) ? (['unauthorized'] as const) : []),
    ...(path.includes(':') && !isStatic ? (['notFound'] as const) : []),
    ...(isConditional ? (['preconditionFailed'] as const) : []),
    ...(hasBody ? (['bodyTooLarge', 'mediaTypeNotSupported', 'limitExceeded'] as const) : []),
    // A body that may be any JSON document cannot be wrong as such.
    ...(body !== undefined && 'type' in body ? (['bodyInvalid'] as const) : []),
    ...problems,
    ...(isStatic ? [] : (['internalError', 'storeUnavailable'] as const)),
  ];
  return [...new Set(names)];
}

/**
 * Whether a request may change something, and so needs the gateway token where there is one.
 *
 * @param endpoint left out where the request leads to none
 */
export function isWrite(method: string, endpoint?: Pick<Endpoint, 'isComputation'>): boolean {
  return endpoint?.isComputation !== true && !['GET', 'HEAD', 'OPTIONS'].includes(method);
}
