/**
 * The address of a path of the gateway, which is reached where this page came from, a path of a gateway in front included.
 *
 * @param path without a leading slash
 */
export function addressOf(path: string): string {
  return new URL(path, new URL('../', document.baseURI)).href;
}
