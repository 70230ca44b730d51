import type { JsonValue } from '../shared/json/json.js';
import { isResourceName, RESOURCE_NAME_RULE } from '../shared/resource-name.js';
import { folderOf } from '../schemas/repository/file-paths.js';
import { contextIn } from '../schemas/repository/context-names.js';
import type { FoundModelTexts } from '../schemas/repository/settings.js';
import { usage } from './exit-codes.js';
import { requireRead, findModelInRepository } from './model-in-repository.js';

export interface PushOptions {
  readonly domain?: string;
  readonly model?: string;
}

/** One model of a folder, read as an import of its whole repository would read it. */
export interface PushPlan {
  readonly domain: string;
  readonly name: string;
  readonly texts: Omit<FoundModelTexts, 'context'>;
  /** The context of the model, and the name under which an import stores the context. */
  readonly context?: { readonly name: string | undefined; readonly value: JsonValue };
}

/**
 * Finds the model in a folder, or the model of one schema. The files around it determine its name and its context. Sends
 * nothing.
 *
 * @throws CliError if there is no such model
 */
export async function planPush(path: string, { domain, model }: PushOptions): Promise<PushPlan> {
  for (const name of [domain, model]) if (name !== undefined) requireName(name);
  const { target, plan, planned, textAt, unread } = await findModelInRepository(path, {
    domain,
    name: model,
  });
  for (let folder = folderOf(target); folder !== ''; folder = folderOf(folder.slice(0, -1)))
    for (const name of ['context.jsonld', 'meta.json']) requireRead(folder + name, folder + name, unread);

  const { context, settings, id } = planned;
  const stored = plan.contexts.find((one) => one.path === context);
  return {
    domain: planned.domain,
    name: planned.name,
    texts: {
      schema: textAt(target),
      id,
      settings: settings === undefined ? undefined : textAt(settings),
    },
    ...(context === undefined
      ? {}
      : {
          context: {
            name: stored?.name,
            value: contextIn(textAt(context), stored?.base),
          },
        }),
  };
}

/** Requires the name of a domain or a model. @throws CliError if the text is not a valid name */
export function requireName(name: string): void {
  if (isResourceName(name)) return;
  throw usage(`${JSON.stringify(name)} is not a name: ${RESOURCE_NAME_RULE}`);
}
