import { request } from 'undici';

/**
 * The requests that the rivals of the gateway send, with undici's plain `request` and its shared pool: faster than
 * `fetch`, so that they are not beaten by being slow themselves.
 */

/** GET one page. @param parameters of the query, `limit` and `offset` included @throws Error unless it is 200 */
export async function getPage(brokerUrl: string, parameters: string): Promise<readonly { id: string }[]> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entities?${parameters}`);
  const page = await body.json();
  if (statusCode !== 200) throw new Error(`GET ended with ${statusCode}.`);
  return page as { id: string }[];
}

/** DELETE one entity. @throws Error unless it is 204 */
export async function deleteEntity(brokerUrl: string, id: string): Promise<void> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entities/${encodeURIComponent(id)}`, {
    method: 'DELETE',
  });
  await body.dump();
  if (statusCode !== 204) throw new Error(`DELETE ended with ${statusCode}.`);
}

/** Batch-deletes entities. @throws Error unless it is 204 */
export async function deleteBatch(brokerUrl: string, ids: readonly string[]): Promise<void> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entityOperations/delete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ids),
  });
  await body.dump();
  if (statusCode !== 204) throw new Error(`The batch delete ended with ${statusCode}.`);
}
