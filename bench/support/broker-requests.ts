import { request } from 'undici';

/**
 * The requests of the baselines of the gateway. They use undici's plain `request` and its shared pool, which are faster than `fetch`,
 * so that the baselines do not lose because of a slow client.
 */

/** Gets one page. @param parameters of the query, including `limit` and `offset` @throws Error unless the status is 200 */
export async function getPage(brokerUrl: string, parameters: string): Promise<readonly { id: string }[]> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entities?${parameters}`);
  const page = await body.json();
  if (statusCode !== 200) throw new Error(`GET ended with ${statusCode}.`);
  return page as { id: string }[];
}

/** Deletes one entity. @throws Error unless the status is 204 */
export async function deleteEntity(brokerUrl: string, id: string): Promise<void> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entities/${encodeURIComponent(id)}`, {
    method: 'DELETE',
  });
  await body.dump();
  if (statusCode !== 204) throw new Error(`DELETE ended with ${statusCode}.`);
}

/** Deletes entities in one batch. @throws Error unless the status is 204 */
export async function deleteBatch(brokerUrl: string, ids: readonly string[]): Promise<void> {
  const { statusCode, body } = await request(`${brokerUrl}/ngsi-ld/v1/entityOperations/delete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ids),
  });
  await body.dump();
  if (statusCode !== 204) throw new Error(`The batch delete ended with ${statusCode}.`);
}
