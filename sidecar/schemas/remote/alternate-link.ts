/** One link of a Link header (RFC 8288 § 3): its target and its parameters as written. */
const LINK = /<([^<>]*)>((?:[^,"]|"[^"]*")*)/g;

/** The target of `rel="alternate"; type="application/ld+json"` in a Link header; undefined when there is none. */
export function alternateOf(linkHeader: string | undefined): string | undefined {
  for (const [, target, parameters = ''] of (linkHeader ?? '').matchAll(LINK)) {
    if (
      parameter(parameters, 'rel') === 'alternate' &&
      parameter(parameters, 'type') === 'application/ld+json'
    ) {
      return target;
    }
  }
  return undefined;
}

function parameter(parameters: string, name: string): string | undefined {
  for (const part of parameters.split(';')) {
    const [key, value] = part.split(/=(.*)/s);
    if (key?.trim().toLowerCase() === name)
      return value
        ?.trim()
        .replace(/^"(.*)"$/, '$1')
        .toLowerCase();
  }
  return undefined;
}
