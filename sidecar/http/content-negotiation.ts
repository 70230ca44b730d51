/**
 * Whether a client accepts something and does not prefer the alternative, according to a header such as `Accept` or
 * `Accept-Encoding`. Each item has a weight, which is 1 by default (RFC 9110 § 12.4.2).
 *
 * @param wanted in lower case, like `other`
 */
export function prefers(header: string | undefined, wanted: string, other: string): boolean {
  const weights = qualityValues(header ?? '');
  const weight = weights.get(wanted) ?? 0;
  return weight > 0 && weight >= (weights.get(other) ?? 0);
}

function qualityValues(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
}
