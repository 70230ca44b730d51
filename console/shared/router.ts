import { useEffect, useState } from 'preact/hooks';

/** The address within the console: `#/purge/ID?name=value`. */
export interface Route {
  /** Decoded segments; the first names the page. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

/** Parses a fragment. Segments that cannot be decoded are left unchanged. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return {
    path: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decoded),
    params: new URLSearchParams(query),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the fragment of an address. Parameters that are undefined or empty are omitted. */
export function routeTo(
  path: readonly string[],
  params: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const query = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
}

/** Returns the current address, and how often it has changed; updates on each change. */
export function useRoute(): Route & { readonly visit: number } {
  const [{ hash, visit }, setPlace] = useState({ hash: location.hash, visit: 0 });
  useEffect(() => {
    const update = () => setPlace((last) => ({ hash: location.hash, visit: last.visit + 1 }));
    addEventListener('hashchange', update);
    // The address may have changed before the listener was added.
    setPlace((last) => (last.hash === location.hash ? last : { hash: location.hash, visit: last.visit + 1 }));
    return () => removeEventListener('hashchange', update);
  }, []);
  return { ...parseRoute(hash), visit };
}

/** Writes the state of a page to its address, without navigating or adding an entry to the browser history. */
export function setAddress(hash: string): void {
  try {
    if (location.hash !== hash) history.replaceState(history.state, '', hash);
  } catch {
    // Some browsers allow only a hundred of these calls in half a minute; the next one catches up.
  }
}

/** Navigates to an address, replacing the current one in the browser history. */
export function replaceAddress(hash: string): void {
  location.replace(hash);
}
