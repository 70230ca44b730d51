import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { contextIn, contextNamesIn } from './context-names.js';
import type { ImportPlan, PlannedContext, PlannedModel } from './import-plan.js';
import { type NamedContext, namedContext } from '../models/content-store.js';
import { generatedContextName } from '../../store/index.js';

/** A context or a model to store, with the contexts that it is based on. */
export type ImportStep = (
  | { readonly kind: 'context'; readonly context: PlannedContext }
  | { readonly kind: 'model'; readonly model: PlannedModel }
) & {
  /** The contexts of this service that it names by version, directly or through documents. */
  readonly pins: readonly NamedContext[];
  /** The steps whose contexts it names in any way. */
  readonly needs: readonly ImportStep[];
};

/**
 * Orders the contexts and then the models of a plan. Those that others name come before them, so that each step finds
 * the final state of the contexts that it names.
 *
 * @param textOf returns the text of a file by its path
 */
export function importSteps(
  { contexts, contextVersions, models, documents }: ImportPlan,
  textOf: (path: string) => string,
): readonly ImportStep[] {
  const paths = new Map(documents.map(({ path, url }) => [url, path]));
  const documentNames = new Map<string, readonly string[]>();
  const steps = new Map<string, DraftStep>();
  const byFile = new Map<string, DraftStep>();
  for (const context of contexts) {
    const files = [context, ...(contextVersions.get(context.name) ?? [])];
    const names = files.flatMap(({ path }) => contextNamesIn(contextIn(textOf(path), context.base)));
    const step = { kind: 'context' as const, context, needs: [], ...reached(names) };
    steps.set(context.name, step);
    byFile.set(context.path, step);
  }
  for (const model of models)
    steps.set(generatedContextName(model), {
      kind: 'model' as const,
      model,
      needs: [],
      ...reached(contextNamesIn(settingOf(model.settings))),
    });
  for (const step of steps.values()) {
    const named = step.contexts.flatMap((name) => steps.get(name) ?? []);
    const own = step.kind === 'model' ? byFile.get(step.model.context ?? '') : undefined;
    step.needs.push(...(own === undefined ? [] : [own]), ...named.filter((one) => one !== step));
  }
  return ordered([...steps.values()]);

  function settingOf(path: string | undefined): JsonValue | undefined {
    const settings = path === undefined ? undefined : (parseWithDoubles(textOf(path)) as JsonValue);
    return isObject(settings) ? member(settings, 'context') : undefined;
  }

  /** Returns the contexts of this service to which names lead, including those through shared documents. */
  function reached(names: readonly string[]) {
    const contexts = new Set<string>();
    const pins: NamedContext[] = [];
    const seen = new Set(names);
    // Names added during the loop are visited as well.
    for (const name of seen) {
      const own = namedContext(name) ?? (URL.parse(name) === null ? { name, version: undefined } : undefined);
      if (own !== undefined) contexts.add(own.name);
      if (own?.version !== undefined) pins.push(own);
      for (const one of namesOfDocument(name)) seen.add(one);
    }
    return { contexts: [...contexts], pins };
  }

  function namesOfDocument(url: string): readonly string[] {
    const path = paths.get(url);
    if (path === undefined) return [];
    const known = documentNames.get(path);
    if (known !== undefined) return known;
    const names = contextNamesIn(contextOf(textOf(path))).flatMap((name) => URL.parse(name, url)?.href ?? []);
    documentNames.set(path, names);
    return names;
  }
}

type DraftStep = ImportStep & { readonly contexts: readonly string[]; readonly needs: ImportStep[] };

function contextOf(text: string): JsonValue | undefined {
  const document = parseWithDoubles(text) as JsonValue;
  return isObject(document) ? member(document, '@context') : undefined;
}

/** Sorts steps so that each comes after those that it needs; cycles are broken in the given order. */
function ordered(steps: readonly ImportStep[]): readonly ImportStep[] {
  const done = new Set<ImportStep>();
  const begun = new Set<ImportStep>();
  for (const first of steps) {
    const path = [first];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      begun.add(step);
      const next = step.needs.find((one) => !begun.has(one));
      if (next !== undefined) path.push(next);
      else {
        done.add(step);
        path.pop();
      }
    }
  }
  return [...done];
}
