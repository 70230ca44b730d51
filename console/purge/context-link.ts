import { linkHeader } from '../../sidecar/client/purges.js';

/** The URL that a Link header names as @context; the header itself where it is none of the usual form. */
export function contextOf(link: string): string {
  return /^<([^>]*)>/.exec(link)?.[1] ?? link;
}

/** The Link header of a URL as it was typed. */
export function linkTo(context: string): string {
  const url = context.trim();
  return url === '' ? '' : linkHeader(url);
}
