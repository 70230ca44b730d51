/** The URL that a Link header names as @context; the header itself where it is none of the usual form. */
export function contextOf(link: string): string {
  return /^<([^>]*)>/.exec(link)?.[1] ?? link;
}

/** The Link header that names an @context (NGSI-LD 6.3.5). */
export function linkTo(context: string): string {
  const url = context.trim();
  return url === '' ? '' : `<${url}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
}
