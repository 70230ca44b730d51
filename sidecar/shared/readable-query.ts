/** Characters that mean something else in a query, or cannot be seen. */
const STAYS_ENCODED = /[&%+#]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

/** A query as it is read: percent-encoded only where it would else be another one. It is not for sending. */
export function readableQuery(query: string): string {
  return query.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded).replace(STAYS_ENCODED, encodeURIComponent);
    } catch {
      return encoded;
    }
  });
}
