import { useEffect, useState } from 'preact/hooks';

/** Where the page is: `#/purge/ID?name=value`. */
export interface Route {
  /** Decoded segments; the first names the page. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

/** Reads a fragment. Segments that cannot be decoded stay as they are. */
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

/** The fragment that leads to a place. Parameters that are undefined or empty are left out. */
export function routeTo(
  path: readonly string[],
  params: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const query = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
}

/** Where the page is now, and how often it was led elsewhere; changes with it. */
export function useRoute(): Route & { readonly visit: number } {
  const [{ hash, visit }, setPlace] = useState({ hash: location.hash, visit: 0 });
  useEffect(() => {
    const update = () => setPlace((last) => ({ hash: location.hash, visit: last.visit + 1 }));
    addEventListener('hashchange', update);
    // It may have been led elsewhere before this listened.
    setPlace((last) => (last.hash === location.hash ? last : { hash: location.hash, visit: last.visit + 1 }));
    return () => removeEventListener('hashchange', update);
  }, []);
  return { ...parseRoute(hash), visit };
}

/** Keeps what a page shows in its address, without leading anywhere or a step in the history of the browser. */
export function keepInAddress(hash: string): void {
  try {
    if (location.hash !== hash) history.replaceState(history.state, '', hash);
  } catch {
    // Some browsers allow a hundred of these in half a minute; the next one catches up.
  }
}

/** Leads to a place that takes the one of this page in the history of the browser. */
export function replaceAddress(hash: string): void {
  location.replace(hash);
}
