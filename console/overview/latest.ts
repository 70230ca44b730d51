import { callPage, type Purge } from '../api/client.js';

/** The latest purges in some states, the newest first, dry runs left out. @param most how many */
export async function latestPurges(
  states: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<readonly Purge[]> {
  const list = (state: string) => `api/v2/purges?state=${state}&dryRun=false&limit=${most}`;
  const pages = await Promise.all(states.map((state) => callPage<Purge>(list(state), signal)));
  const purges = pages.flatMap(({ items }) => items).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  return purges.slice(0, most);
}
