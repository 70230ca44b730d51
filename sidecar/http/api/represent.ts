import { contextUrl } from '../../schemas/service/context-urls.js';
import type {
  ContextSummary,
  Domain,
  Model,
  ModelDetails,
  ModelFile,
  ModelUpdate,
  Reference,
  VersionSummary,
  WrittenContext,
} from '../../schemas/service/service.js';
import type {
  MODEL,
  MODEL_DRY_RUN,
  MODEL_FILE,
  MODEL_SUMMARY,
  MODEL_VERSION,
  UPDATED_MODEL,
} from './model-resources.js';
import type { CONTEXT, DOMAIN, REFERENCE, WRITTEN_CONTEXT } from './resources.js';
import type { TypeOf } from './schema-type.js';

/** What the application has, as what the API answers. */

export function domainJson({ name, description, createdAt, modifiedAt }: Domain): TypeOf<typeof DOMAIN> {
  return { name, description, createdAt: time(createdAt), modifiedAt: time(modifiedAt) };
}

export function modelSummaryJson(model: Model): TypeOf<typeof MODEL_SUMMARY> {
  const { domain, name, description, contextBase, compatibility, contextName } = model;
  return {
    domain,
    name,
    description,
    contextBase,
    compatibility,
    version: model.currentVersion,
    contextName,
    createdAt: time(model.createdAt),
    modifiedAt: time(model.modifiedAt),
  };
}

export function modelJson(model: ModelDetails): TypeOf<typeof MODEL> {
  const { version, schema, warnings } = model;
  const { dialect, references } = version;
  return { ...modelSummaryJson(model), dialect, schema, references, warnings };
}

export function updatedModelJson(update: ModelUpdate): TypeOf<typeof UPDATED_MODEL> {
  const { model, outcome, change } = update;
  return { ...modelJson(model), outcome, change };
}

export function modelDryRunJson(update: ModelUpdate): TypeOf<typeof MODEL_DRY_RUN> {
  const { outcome, number, change, warnings } = update;
  return { dryRun: true, outcome, version: number, change, warnings };
}

export function versionJson(version: VersionSummary): TypeOf<typeof MODEL_VERSION> {
  const { number, createdAt, ...others } = version;
  return { version: number, createdAt: time(createdAt), ...others };
}

/** @param filesUrl absolute, of the list of files */
export function fileJson(file: ModelFile, filesUrl: string, version?: number): TypeOf<typeof MODEL_FILE> {
  const query = version === undefined ? '' : `?version=${version}`;
  return { ...file, url: `${filesUrl}/${encodeURIComponent(file.name)}${query}` };
}

export function contextJson(context: ContextSummary, baseUrl: string): TypeOf<typeof CONTEXT> {
  const { name, kind, currentVersion } = context;
  const common = { name, kind, version: currentVersion, url: contextUrl(baseUrl, name) };
  return kind === 'core'
    ? { ...common, canonicalUrl: context.canonicalUrl }
    : { ...common, createdAt: time(context.createdAt), modifiedAt: time(context.modifiedAt) };
}

export function writtenContextJson(
  { context, warnings }: WrittenContext,
  baseUrl: string,
): TypeOf<typeof WRITTEN_CONTEXT> {
  return { ...contextJson(context, baseUrl), warnings };
}

export function referenceJson(reference: Reference): TypeOf<typeof REFERENCE> {
  const { uri, source, content, createdAt, modifiedAt } = reference;
  const { size, sha256 } = content;
  return { uri, source, size, sha256, createdAt: time(createdAt), modifiedAt: time(modifiedAt) };
}

/** RFC 3339, in UTC. */
function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
