import type { Lifecycle } from '../../schemas/models/index.js';
import type { Answer } from './answer.js';

/**
 * An answer about a model, with since when the model is deprecated (RFC 9745) and when it will be removed (RFC 8594). Of a draft, nothing
 * stays what it is.
 *
 * @param lifecycle as it was before the answer was made; undefined where it is about no model
 */
export function withLifecycle(answer: Answer, lifecycle: Lifecycle | undefined): Answer {
  if (lifecycle === undefined) return answer;
  const { status, deprecatedAt, sunsetAt } = lifecycle;
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(deprecatedAt === undefined ? {} : { deprecation: `@${Math.floor(deprecatedAt / 1000)}` }),
      ...(sunsetAt === undefined ? {} : { sunset: new Date(sunsetAt).toUTCString() }),
    },
    isImmutable: answer.isImmutable === true && status !== 'draft',
  };
}
