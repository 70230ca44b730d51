/**
 * What a client names in a header such as `Accept` or `Accept-Encoding`, in small letters, each with its weight: 1 unless said
 * (RFC 9110 § 12.4.2).
 */
export function weightsOf(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
}
