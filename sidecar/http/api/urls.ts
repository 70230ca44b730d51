/** Where the API is, below the base URL of this service. */
export const API_PATH = '/api/v2';

/** The absolute URL of a resource of the API. @param segments not encoded */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): string {
  return [`${baseUrl}${API_PATH}`, ...segments.map(encodeURIComponent)].join('/');
}

/** The URL of a reference document. @param uri by which schemas name it */
export function referenceUrl(baseUrl: string, uri: string): string {
  return `${apiUrl(baseUrl, 'references')}?uri=${encodeURIComponent(uri)}`;
}
