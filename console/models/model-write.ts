import { api, onlyIf, type WithETag } from '../api/client.js';
import {
  MODEL,
  pathOf,
  type ModelKey,
  type ModelSettings,
  type ModelTrial,
  type UpdatedModel,
} from './models-api.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';

/** What is to become of a model. */
export interface ModelWrite {
  /** JSON as it was written. It is sent as it is, so that the gateway sees what the reader sees; it has to be one value. */
  readonly schemaText?: string | undefined;
  readonly settings?: ModelSettings | undefined;
}

/** `absent`: there is none yet. Else the ETag of what is replaced. */
export type Expected = 'absent' | { readonly etag: string };

/** Lines of the body before that of the schema. */
export const LINES_BEFORE_SCHEMA = 1;

/** The body of a write: the schema begins on a line of its own, so that lines of problems can be found in it. */
export function bodyOf({ schemaText, settings = {} }: ModelWrite): string {
  const members = Object.entries(settings).map(
    ([name, value]) => `${JSON.stringify(name)}:${writeJson(value)},`,
  );
  if (schemaText === undefined) return writeJson(settings);
  return `{${members.join('')}"schema":\n${schemaText}\n}`;
}

function requestOf(key: ModelKey, write: ModelWrite, expected: Expected) {
  const headers = onlyIf(expected === 'absent' ? undefined : expected.etag);
  return { path: pathOf(key), body: bodyOf(write), headers };
}

/** What a write would do, without doing it. @throws ApiError as the write would */
export async function tryWrite(
  key: ModelKey,
  write: ModelWrite,
  expected: Expected,
  signal: AbortSignal,
): Promise<ModelTrial> {
  const asked = { ...requestOf(key, write, expected), query: { dryRun: true }, signal };
  return (await api.json('put', MODEL, asked)) as ModelTrial;
}

/** Writes a model. @throws ApiError: 409 for a change that its compatibility refuses, 412 where it was changed meanwhile */
export async function writeModel(
  key: ModelKey,
  write: ModelWrite,
  expected: Expected,
): Promise<WithETag<UpdatedModel>> {
  const { value, etag } = await api.answer('put', MODEL, requestOf(key, write, expected));
  return { value: value as UpdatedModel, etag };
}
