/**
 * Whether a client takes something, and would not rather have something else: by what it names in a header such as `Accept` or
 * `Accept-Encoding`, each with its weight, 1 unless said (RFC 9110 § 12.4.2).
 *
 * @param wanted in small letters, as is `other`
 */
export function prefers(header: string | undefined, wanted: string, other: string): boolean {
  const weights = weightsOf(header ?? '');
  const weight = weights.get(wanted) ?? 0;
  return weight > 0 && weight >= (weights.get(other) ?? 0);
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
}
