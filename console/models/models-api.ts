import {
  allPages,
  api,
  apiUrl,
  ifMatch,
  pageParams,
  type Page,
  type Schemas,
  type WithETag,
} from '../api/client.js';
import { text } from '../strings.js';

export type Domain = Schemas['Domain'];
export type ModelSummary = Schemas['ModelSummary'];
export type Model = Schemas['Model'];
export type ModelDryRun = Schemas['ModelDryRun'];
export type UpdatedModel = Schemas['UpdatedModel'];
export type ChangeReport = Schemas['ChangeReport'];
export type Difference = Schemas['Difference'];
export type Verdict = Schemas['Verdict'];
export type StoredExample = Schemas['ModelExample'];
export type ImportReport = Schemas['ImportReport'];
export type ImportedFile = Schemas['ImportedFile'];
export type Compatibility = Domain['compatibility'];

/** Which changes a model accepts, each with what that means. */
export const COMPATIBILITY_CHOICES = (['none', 'backward', 'forward', 'full'] as const).map(
  (one) => [one, `${one}: ${text.models.compatibilities[one]}`] as const,
);

/** Names a model. */
export interface ModelKey {
  readonly domain: string;
  readonly name: string;
}

/** What the parts of a model's page get. */
export interface ModelPartProps {
  readonly read: WithETag<Model>;
  /** Called when the model has to be read again. */
  readonly onChanged: () => void;
}

/** The members of an update besides the schema; null removes a member. */
export type ModelSettings = Omit<Schemas['ModelChange'], 'schema'>;
export type NewDomain = Schemas['NewDomain'];
export type DomainChange = Schemas['DomainChange'];

/** Maximum number of items that a page of the API can have. */
const MOST = 1000;

const DOMAIN = '/domains/{domain}';
export const MODEL = '/domains/{domain}/models/{model}';

/** Returns the parts of a model's path. */
export function pathOf({ domain, name }: ModelKey) {
  return { domain, model: name };
}

/** Reads the names of all domains, page by page. */
export async function domainNames(signal: AbortSignal): Promise<readonly string[]> {
  const all = await allPages((query) => api.page('/domains', { query, signal }));
  return all.map(({ name }) => name);
}

export async function readDomain(domain: string, signal: AbortSignal): Promise<WithETag<Domain>> {
  return api.answer('get', DOMAIN, { path: { domain }, signal });
}

export async function createDomain(domain: NewDomain): Promise<Domain> {
  return api.json('post', '/domains', { body: domain });
}

export async function updateDomain(domain: string, change: DomainChange, etag: string): Promise<Domain> {
  return api.json('put', DOMAIN, { path: { domain }, body: change, headers: ifMatch(etag) });
}

/**
 * Deletes a domain if it is still as it was read; its ETag also changes with its models.
 *
 * @param cascade also deletes its models; otherwise a domain with models is refused
 */
export async function removeDomain(domain: string, cascade: boolean, etag: string): Promise<void> {
  const query = cascade ? { cascade } : {};
  await api.request('delete', DOMAIN, { path: { domain }, query, headers: ifMatch(etag) });
}

export async function listModels(
  domain: string,
  query: ReturnType<typeof pageParams>,
  signal: AbortSignal,
): Promise<Page<ModelSummary>> {
  return api.page(`${DOMAIN}/models`, { path: { domain }, query, signal });
}

/** Reads a model. @param version by default the current one; the ETag of an older version is not valid for a write */
export async function readModel(
  key: ModelKey,
  signal?: AbortSignal,
  version?: number,
): Promise<WithETag<Model>> {
  return api.answer('get', MODEL, { path: pathOf(key), query: { version }, signal });
}

export async function removeModel(key: ModelKey, etag: string): Promise<void> {
  await api.request('delete', MODEL, { path: pathOf(key), headers: ifMatch(etag) });
}

/** Reads a JSON file that the gateway generates from a model. */
export async function readFile(key: ModelKey, file: string, signal: AbortSignal): Promise<unknown> {
  return api.json('get', `${MODEL}/files/{file}`, { path: { ...pathOf(key), file }, signal });
}

const EXAMPLE = `${MODEL}/examples/{example}` as const;

/** Reads all examples that are kept with a model; there are at most a hundred. */
export async function listExamples(key: ModelKey, signal: AbortSignal): Promise<readonly StoredExample[]> {
  const { items } = await api.page(`${MODEL}/examples`, {
    path: pathOf(key),
    query: pageParams(1, MOST),
    signal,
  });
  return items;
}

export async function readExample(key: ModelKey, example: string, signal: AbortSignal): Promise<unknown> {
  return api.json('get', EXAMPLE, { path: { ...pathOf(key), example }, signal });
}

/** Keeps a new example with a model. @param text JSON, sent unchanged */
export async function addExample(key: ModelKey, example: string, text: string): Promise<void> {
  await api.json('put', EXAMPLE, {
    path: { ...pathOf(key), example },
    body: text,
    headers: ifMatch(undefined),
  });
}

export async function removeExample(key: ModelKey, { name, sha256 }: StoredExample): Promise<void> {
  await api.request('delete', EXAMPLE, {
    path: { ...pathOf(key), example: name },
    headers: ifMatch(`"${sha256}"`),
  });
}

/** Returns the URL of a resource of a model, for links. @param path below that of the model */
export function addressIn(
  { domain, name }: ModelKey,
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
): string {
  return apiUrl(['domains', domain, 'models', name, ...path], query);
}

/** Whether an example must follow NGSI-LD; names of NGSIv2 examples end with `.json`. */
export function isStrictExample(name: string): boolean {
  return name.endsWith('.jsonld');
}

/** Validates an entity against the current version of a model. @param text JSON, sent unchanged */
export async function validate(
  key: ModelKey,
  text: string,
  signal?: AbortSignal,
  isStrict = true,
): Promise<Verdict | readonly Verdict[]> {
  const query = isStrict ? {} : { strict: false };
  const sent = { path: pathOf(key), query, body: text, isReadOnly: true, signal };
  return api.json('post', '/validate/{domain}/{model}', sent);
}
