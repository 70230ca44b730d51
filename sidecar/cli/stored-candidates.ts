import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { limitsOf } from '../schemas/repository/collector.js';
import { modelChangeOf } from '../schemas/repository/settings.js';
import { describeFiles, planOf, readSource, textOf } from '../schemas/repository/source.js';
import { prepareModel } from '../schemas/validation/model.js';
import { GatewayError } from '../shared/errors.js';
import type { JsonObject, JsonValue } from '../shared/json/json.js';
import { parseJson } from '../shared/json/lossless-json.js';
import type { CliContext, LocalModels } from './context.js';
import { failure } from './exit-codes.js';
import { printable } from './format.js';
import { undefinedIfNotFound } from './gateway-responses.js';
import { ON_THIS_THREAD } from './model-in-repository.js';
import type { Upload } from './repository-folder.js';

/** A model as it would be after a change. */
export interface Candidate {
  readonly domain: string;
  readonly model: string;
  /** The schema, with everything that it refers to. */
  readonly schema: JsonValue;
  /** The types of its entities, in the new and the current version. */
  readonly types: readonly string[];
  /** Whether the gateway already has the model. */
  readonly exists: boolean;
}

/** The name of a model, and its schema as written. */
export interface ModelDraft {
  readonly domain: string;
  readonly model: string;
  readonly schema: JsonValue;
}

/** Maximum size of an archive in bytes. The gateway has already accepted the archive. */
const MAX_ARCHIVE = 512 * 1024 * 1024;

const SCHEMA = '/domains/{domain}/models/{model}/schema';

/** Makes the candidate for a push of one model. Documents that its schema refers to are read from the gateway. */
export async function candidateOf(
  draft: ModelDraft,
  gateway: ApiClient,
  context: CliContext,
): Promise<Candidate> {
  const models = await context.openModels();
  try {
    return await completed(draft, models, gateway);
  } finally {
    await models.close();
  }
}

/**
 * Makes a candidate of each model that an import would change. Documents that schemas refer to come from the import, or
 * otherwise from the gateway.
 *
 * @param report of a dry run of the import
 * @throws CliError if a candidate cannot be made
 */
export async function candidatesOf(
  upload: Upload,
  report: Schemas['ImportReport'],
  { domain }: { readonly domain?: string },
  gateway: ApiClient,
  context: CliContext,
): Promise<readonly Candidate[]> {
  const models = await context.openModels();
  try {
    const drafts = await draftsOf(upload, report, domain, models);
    for (const { domain: of, model, status } of report.dependents) {
      if (status !== 'updated') continue;
      const path = { domain: of, model };
      drafts.push({ ...path, schema: jsonOf(await gateway.text('get', SCHEMA, { path })) });
    }
    const candidates: Candidate[] = [];
    for (const draft of drafts) candidates.push(await completed(draft, models, gateway));
    return candidates;
  } finally {
    await models.close();
  }
}

/** Returns the import's own models that would change. Stores the import's shared documents in the local service. */
async function draftsOf(
  { bytes, mediaType }: Upload,
  { files }: Schemas['ImportReport'],
  domain: string | undefined,
  { service }: LocalModels,
): Promise<ModelDraft[]> {
  const kind = mediaType === 'application/gzip' ? 'gzip' : 'zip';
  const reading = { limits: limitsOf(MAX_ARCHIVE), workers: ON_THIS_THREAD.workers, deadlineMs: Infinity };
  const repository = await readSource({ kind, bytes: Buffer.from(bytes.buffer) }, reading);
  const { described, refused } = await describeFiles(repository.files, reading);
  const unread = [...repository.refused, ...refused].filter(({ onlyIfUsed }) => onlyIfUsed);
  const plan = await planOf({ files: described, domain, unread }, reading);
  const contents = new Map(repository.files.map((file) => [file.path, file.bytes]));
  const textAt = (path: string) => textOf(contents.get(path) ?? new Uint8Array());
  const isRefused = (at: string) => files.some(({ url, status }) => url === at && status === 'refused');
  for (const { path, url } of plan.documents)
    // If the gateway refuses a document, it keeps the one that it has.
    if (!isRefused(url)) await service.references.put(url, jsonOf(textAt(path)));
  const changed = new Set(
    files.flatMap(({ model, status }) => (status === 'created' || status === 'updated' ? [model] : [])),
  );
  return plan.models
    .filter(({ domain: of, name }) => changed.has(`${of}/${name}`))
    .map(({ domain: of, name, path, id }) => {
      const { schema = null } = modelChangeOf({ schema: textAt(path), id }, true);
      return { domain: of, model: name, schema };
    });
}

async function completed(draft: ModelDraft, models: LocalModels, gateway: ApiClient): Promise<Candidate> {
  const { domain, model } = draft;
  const schema = jsonOf(await bundled(draft, models, gateway));
  const path = { domain, model };
  const there = await undefinedIfNotFound(gateway.text('get', SCHEMA, { path, query: { bundled: true } }));
  const typesOf = (one: JsonValue) => prepareModel(model, one as JsonObject).types;
  const types = [...typesOf(schema), ...(there === undefined ? [] : typesOf(jsonOf(there)))];
  return { domain, model, schema, types: [...new Set(types)], exists: there !== undefined };
}

/** Returns the text of a schema with everything that it refers to. Missing documents are read from the gateway. */
async function bundled(
  { domain, model, schema }: ModelDraft,
  { service }: LocalModels,
  gateway: ApiClient,
): Promise<string> {
  const asked = new Set<string>();
  for (;;) {
    try {
      return await (await service.schemas.ofNew({ domain, name: model }, schema)).text();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const missing = (error.members.missing ?? []).filter((uri) => !asked.has(uri));
      if (missing.length === 0)
        throw failure(
          printable(`${domain}/${model} cannot be checked against stored entities. ${error.message}`),
          { cause: error },
        );
      for (const uri of missing) {
        asked.add(uri);
        const text = await undefinedIfNotFound(gateway.text('get', '/references', { query: { uri } }));
        if (text !== undefined) await service.references.put(uri, jsonOf(text));
      }
    }
  }
}

function jsonOf(text: string): JsonValue {
  return parseJson(text) as JsonValue;
}
