/**
 * Returns the URL of a path of the gateway, relative to where this page was loaded from, including the path of a gateway in
 * front.
 *
 * @param path without a leading slash
 */
export function urlOf(path: string): string {
  return new URL(path, new URL('../', document.baseURI)).href;
}
