/** Matches the link-values of a Link header (RFC 8288), with their targets and parameters. */
const LINK_VALUE = /<([^<>]*)>((?:\s*;\s*[^\s;=,]+\s*(?:=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The link relation of an @context (clause 6.3.5). */
export const CONTEXT_RELATION = 'http://www.w3.org/ns/json-ld#context';

/** The @context that the Link headers of a request specify for its body. */
export type ContextLink =
  | { readonly url: string }
  /** No @context, and no link that could be one. */
  | 'none'
  /** Servers may interpret the headers differently. */
  | 'unclear';

/** Returns the links in the value of a Link header, and whether each is an @context. */
export function linksIn(text: string): readonly { readonly url: string; readonly isContext: boolean }[] {
  return [...text.matchAll(LINK_VALUE)].map(([, url = '', parameters = '']) => {
    const [, quoted, bare = ''] = RELATION.exec(parameters) ?? [];
    const relations = (quoted ?? bare).toLowerCase().split(/\s+/);
    return { url, isContext: relations.includes(CONTEXT_RELATION) };
  });
}

/** Finds the @context in Link headers. @param links the values of all Link headers */
export function contextLink(links: readonly string[]): ContextLink {
  if (links.length === 0) return 'none';
  const text = links.join(', ');
  const found = linksIn(text);
  const isReadWhole = text.replaceAll(LINK_VALUE, '').replaceAll(/[\s,]/g, '') === '';
  const [context, another] = found.filter(({ isContext }) => isContext);
  if (!isReadWhole || another !== undefined) return 'unclear';
  // Some servers take any link as the @context.
  if (context === undefined) return found.length === 0 ? 'none' : 'unclear';
  return { url: context.url };
}
