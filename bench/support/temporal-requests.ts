import { request } from 'undici';

const ROOT = '/ngsi-ld/v1/temporal/entities';

/** Creates one temporal entity. @throws Error unless it was created */
export async function postEvolution(brokerUrl: string, evolution: object): Promise<void> {
  const { statusCode, body } = await request(brokerUrl + ROOT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(evolution),
  });
  await body.dump();
  if (statusCode !== 201) throw new Error(`POST ended with ${statusCode}.`);
}

/** Deletes one whole temporal entity, if it exists. @throws Error unless it is gone */
export async function deleteEvolution(brokerUrl: string, id: string): Promise<void> {
  const { statusCode, body } = await request(`${brokerUrl}${ROOT}/${encodeURIComponent(id)}`, {
    method: 'DELETE',
  });
  await body.dump();
  if (statusCode !== 204 && statusCode !== 404) throw new Error(`DELETE ended with ${statusCode}.`);
}

/**
 * Gets one page of temporal entities.
 *
 * @param parameters of the query, including `limit`
 * @returns the paths of all instances in the page
 * @throws Error unless the status is 200, which means that the page is complete
 */
export async function listInstances(brokerUrl: string, parameters: string): Promise<readonly string[]> {
  const { statusCode, body } = await request(`${brokerUrl}${ROOT}?${parameters}`);
  const page = (await body.json()) as readonly Readonly<Record<string, unknown>>[];
  if (statusCode !== 200) throw new Error(`GET ended with ${statusCode}.`);
  return page.flatMap(({ id, ...members }) =>
    Object.entries(members).flatMap(([name, shown]) => {
      if (name === 'type') return [];
      const instances = [shown].flat() as { readonly instanceId: string }[];
      const path = `${ROOT}/${encodeURIComponent(String(id))}/attrs/${encodeURIComponent(name)}`;
      return instances.map(({ instanceId }) => `${path}/${encodeURIComponent(instanceId)}`);
    }),
  );
}

/** Deletes one instance. @throws Error unless the status is 204 */
export async function deleteInstance(brokerUrl: string, path: string): Promise<void> {
  const { statusCode, body } = await request(brokerUrl + path, { method: 'DELETE' });
  await body.dump();
  if (statusCode !== 204) throw new Error(`DELETE ended with ${statusCode}.`);
}

/**
 * Purges instances through a gateway, as a client does.
 *
 * @throws Error unless the answer says that exactly `amount` instances were deleted
 */
export async function purgeInstances(gatewayUrl: string, query: string, amount: number): Promise<void> {
  const { statusCode, headers, body } = await request(`${gatewayUrl}${ROOT}?${query}`, {
    method: 'DELETE',
    headersTimeout: 0,
  });
  const text = await body.text();
  const deleted = String(headers['purge-deleted']);
  if (statusCode !== 204 || deleted !== String(amount)) {
    throw new Error(`A purge of ${amount} ended with ${statusCode}, deleted ${deleted}: ${text}`);
  }
}
