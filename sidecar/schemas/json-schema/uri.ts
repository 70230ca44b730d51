/** What a URI reference means: the document or resource, and the fragment, decoded. */
export interface ResolvedUri {
  readonly uri: string;
  readonly fragment: string;
}

/** Base of schemas that name none; nothing but the schema itself can be under it. */
const NO_BASE = 'schema:///';

/** The URI of a schema without `$id`. */
export const ANONYMOUS = `${NO_BASE}schema.json`;

/**
 * Resolves a URI reference (RFC 3986 section 5) to its normal form, so that equal URIs are equal strings.
 * Undefined when it is not a URI reference, or its fragment is not percent-encoded UTF-8.
 */
export function resolveUri(reference: string, base: string = ANONYMOUS): ResolvedUri | undefined {
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = '';
    return { uri: url.href, fragment };
  } catch {
    return undefined;
  }
}

/** Whether a resolved URI owes nothing to {@link ANONYMOUS}. */
export function isAbsolute(uri: string): boolean {
  return !uri.startsWith(NO_BASE);
}

/**
 * The form under which reference documents are stored and looked up: absolute, normalised, without fragment.
 * Undefined when the text is not an absolute URI.
 */
export function documentUri(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const uri = resolveUri(text)?.uri;
  return uri !== undefined && isAbsolute(uri) ? uri : undefined;
}
