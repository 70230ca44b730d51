import type { Lifecycle, ModelKey } from './service.js';

/** What is said of entities of a deprecated model. */
export function deprecationOf(
  { name }: ModelKey,
  { deprecatedAt, sunsetAt }: Lifecycle,
): { readonly deprecation?: string } {
  if (deprecatedAt === undefined) return {};
  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const end = sunsetAt === undefined ? '' : `, and will be removed on ${dateOf(sunsetAt)}`;
  return {
    deprecation: `is of the model ${name}, which has been deprecated since ${dateOf(deprecatedAt)}${end}`,
  };
}
