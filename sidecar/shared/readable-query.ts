/** Characters that have a special meaning in a query, or are invisible. */
const STAYS_ENCODED = /[&%+#]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

/** Makes a query readable: percent-encoded only where decoding would change its meaning. Not suitable for sending. */
export function readableQuery(query: string): string {
  return query.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded).replace(STAYS_ENCODED, encodeURIComponent);
    } catch {
      return encoded;
    }
  });
}
