import { api, ifMatch, type WithETag } from '../api/client.js';
import {
  MODEL,
  pathOf,
  type ModelKey,
  type ModelSettings,
  type ModelDryRun,
  type UpdatedModel,
} from './models-api.js';

/** The requested change to a model. */
export interface ModelWrite {
  /** JSON, exactly as the user wrote it, so that positions in the gateway's errors match. It has to be one value. */
  readonly schemaText?: string | undefined;
  readonly settings?: ModelSettings | undefined;
}

/** `absent` if there must be no such model yet; otherwise the ETag of the version to replace. */
export type Expected = 'absent' | { readonly etag: string };

/** Number of lines of the body before that of the schema. */
export const LINES_BEFORE_SCHEMA = 1;

/** Returns the body of a write. The schema begins on its own line, so that line numbers in problems can be mapped to it. */
export function bodyOf({ schemaText, settings = {} }: ModelWrite): string {
  const members = Object.entries(settings).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`,
  );
  if (schemaText === undefined) return JSON.stringify(settings);
  return `{${members.join('')}"schema":\n${schemaText}\n}`;
}

function requestOf(key: ModelKey, write: ModelWrite, expected: Expected) {
  const headers = ifMatch(expected === 'absent' ? undefined : expected.etag);
  return { path: pathOf(key), body: bodyOf(write), headers };
}

/** Checks what a write would do, without doing it. @throws ApiError, as the write would */
export async function dryRunWrite(
  key: ModelKey,
  write: ModelWrite,
  expected: Expected,
  signal: AbortSignal,
): Promise<ModelDryRun> {
  const asked = { ...requestOf(key, write, expected), query: { dryRun: true }, signal };
  return (await api.json('put', MODEL, asked)) as ModelDryRun;
}

/** Writes a model. @throws ApiError: 409 for a change refused by its compatibility, 412 if it was changed in the meantime */
export async function writeModel(
  key: ModelKey,
  write: ModelWrite,
  expected: Expected,
): Promise<WithETag<UpdatedModel>> {
  const { value, etag } = await api.answer('put', MODEL, requestOf(key, write, expected));
  return { value: value as UpdatedModel, etag };
}
