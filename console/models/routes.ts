import { routeTo } from '../shared/router.js';
import type { ModelKey } from './models-api.js';

/** Names of domains begin with a letter or digit, so none of these can be a domain. */
export const NEW_MODEL = '~new';
export const IMPORT = '~import';
export const CONTEXTS = '~contexts';
export const REFERENCES = '~references';

/** The parts of a model, in the order in which they are shown. The first one is shown by default. */
export const MODEL_PARTS = [
  'schema',
  'attributes',
  'versions',
  'examples',
  'openapi',
  'context',
  'settings',
] as const;
export type ModelPart = (typeof MODEL_PARTS)[number];

export function toModels(params: Readonly<Record<string, string | undefined>> = {}): string {
  return routeTo(['models'], params);
}

export function toDomain(domain: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  return routeTo(['models', domain], params);
}

export function toModel(
  { domain, name }: ModelKey,
  part: ModelPart = 'schema',
  params: Readonly<Record<string, string | undefined>> = {},
): string {
  return routeTo(['models', domain, name, ...(part === 'schema' ? [] : [part])], params);
}

export function toNewModel(domain?: string): string {
  return routeTo(['models', NEW_MODEL], { domain });
}

export function toImport(domain?: string): string {
  return routeTo(['models', IMPORT], { domain });
}

export function toContexts(params: Readonly<Record<string, string | undefined>> = {}): string {
  return routeTo(['models', CONTEXTS], params);
}

export function toContext(name: string, step?: 'edit'): string {
  return routeTo(['models', CONTEXTS, name, ...(step === undefined ? [] : [step])]);
}

export function toReferences(params: Readonly<Record<string, string | undefined>> = {}): string {
  return routeTo(['models', REFERENCES], params);
}

/** @param uri of a reference document */
export function toReference(uri: string): string {
  return routeTo(['models', REFERENCES, uri]);
}

/** The name in the address of the form for a new context; no context can have it. */
export const NEW_CONTEXT = '~new';
