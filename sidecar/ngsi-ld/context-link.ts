/** The link-values of a Link header (RFC 8288), with their targets and parameters. */
const LINK_VALUE = /<([^<>]*)>((?:\s*;\s*[^\s;=,]+\s*(?:=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The relation of an @context (clause 6.3.5). */
const CONTEXT_RELATION = 'http://www.w3.org/ns/json-ld#context';

/** What the Link headers of a request name as the @context of its body. */
export type ContextLink =
  | { readonly url: string }
  /** No @context, and nothing that could be one. */
  | 'none'
  /** Servers may read different contexts in it. */
  | 'unclear';

/** @param links the values of all Link headers */
export function contextLink(links: readonly string[]): ContextLink {
  if (links.length === 0) return 'none';
  const text = links.join(', ');
  const found = [...text.matchAll(LINK_VALUE)];
  const isReadWhole = text.replaceAll(LINK_VALUE, '').replaceAll(/[\s,]/g, '') === '';
  const contexts = found.filter(([, , parameters = '']) => {
    const [, quoted, bare] = RELATION.exec(parameters) ?? [];
    return (quoted ?? bare ?? '').toLowerCase().split(/\s+/).includes(CONTEXT_RELATION);
  });
  if (!isReadWhole || contexts.length > 1) return 'unclear';
  const [, url] = contexts[0] ?? [];
  // Some servers take any link for the @context.
  if (url === undefined) return found.length === 0 ? 'none' : 'unclear';
  return { url };
}
